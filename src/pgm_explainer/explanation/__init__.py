"""The result: an explanation, and the JSON files it is saved in."""

from .explanation import Explanation, shifted
from .feature_effects import FEATURE_COLUMNS, FeatureEffect, FeatureEffects
from .minimal_set import MinimalSet

__all__ = [
    "FEATURE_COLUMNS",
    "Explanation",
    "FeatureEffect",
    "FeatureEffects",
    "MinimalSet",
    "shifted",
]
