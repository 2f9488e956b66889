"""Predictors: adapters that give all supported kinds of models the same interface."""

from .base import Predictor, SharedRows, is_torch_module
from .functions import SubgraphFunction, WholeGraphFunction, as_predictor
from .wrapped import IntegerPredictor, SequencePredictor

__all__ = [
    "IntegerPredictor",
    "Predictor",
    "SequencePredictor",
    "SharedRows",
    "SubgraphFunction",
    "WholeGraphFunction",
    "as_predictor",
    "is_torch_module",
]
