"""Asking the model: the one protocol every black box is seen through, and its adapters."""

from .base import Predictor
from .functions import SubgraphFunction, WholeGraphFunction, as_predictor
from .local_model import LocalModel, answers_on, differing, scores_on, settle_kind
from .outcomes import GraphOutcome, NodeOutcomes, Outcomes, PairOutcomes
from .scores import SCORE_KINDS

__all__ = [
    "SCORE_KINDS",
    "GraphOutcome",
    "LocalModel",
    "NodeOutcomes",
    "Outcomes",
    "PairOutcomes",
    "Predictor",
    "SubgraphFunction",
    "WholeGraphFunction",
    "answers_on",
    "as_predictor",
    "differing",
    "scores_on",
    "settle_kind",
]
