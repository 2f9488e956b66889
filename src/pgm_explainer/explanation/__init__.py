"""The result: an explanation, and the JSON files it is saved in."""

from .explanation import Explanation
from .feature_effects import FEATURE_COLUMNS, FeatureEffect, FeatureEffects
from .minimal_set import MinimalSet
from .one_graph import of_one_graph, shifted

__all__ = [
    "FEATURE_COLUMNS",
    "Explanation",
    "FeatureEffect",
    "FeatureEffects",
    "MinimalSet",
    "of_one_graph",
    "shifted",
]
