"""The result: an explanation, and the JSON files it is saved in."""

from .conversions import of_node, of_one_graph, renamed, shifted
from .edge_confidence import ConfidentEdge, EdgeConfidence
from .explanation import Explanation
from .feature_effects import FEATURE_COLUMNS, FeatureEffect, FeatureEffects
from .minimal_set import MinimalSet, NoSetError

__all__ = [
    "FEATURE_COLUMNS",
    "ConfidentEdge",
    "EdgeConfidence",
    "Explanation",
    "FeatureEffect",
    "FeatureEffects",
    "MinimalSet",
    "NoSetError",
    "of_node",
    "of_one_graph",
    "renamed",
    "shifted",
]
