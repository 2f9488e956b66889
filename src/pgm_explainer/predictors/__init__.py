"""Asking the model: the one protocol every black box is seen through, and its adapters."""

from .base import Predictor
from .functions import SubgraphFunction, WholeGraphFunction, as_predictor
from .local_model import LocalModel
from .scores import SCORE_KINDS

__all__ = [
    "SCORE_KINDS",
    "LocalModel",
    "Predictor",
    "SubgraphFunction",
    "WholeGraphFunction",
    "as_predictor",
]
