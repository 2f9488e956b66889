"""The result: an explanation, and the JSON files it is saved in."""

from .explanation import Explanation, check_explanation
from .minimal_set import MinimalSet
from .one_graph import of_one_graph, shifted

__all__ = ["Explanation", "MinimalSet", "check_explanation", "of_one_graph", "shifted"]
