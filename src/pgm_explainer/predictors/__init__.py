"""The models that can be explained: one base class, and an adapter for each kind."""

from .base import Predictor
from .functions import SubgraphFunction, WholeGraphFunction, as_predictor

__all__ = [
    "Predictor",
    "SubgraphFunction",
    "WholeGraphFunction",
    "as_predictor",
]
