"""Asking the model: the one protocol every black box is seen through, and its adapters."""

from .base import Predictor
from .functions import SubgraphFunction, WholeGraphFunction, as_predictor
from .outcomes import GraphOutcome, NodeOutcomes, Outcomes, PairOutcomes

__all__ = [
    "GraphOutcome",
    "NodeOutcomes",
    "Outcomes",
    "PairOutcomes",
    "Predictor",
    "SubgraphFunction",
    "WholeGraphFunction",
    "as_predictor",
]
