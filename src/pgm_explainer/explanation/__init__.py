"""The result: an explanation, and the JSON files it is saved in."""

from .explanation import Explanation, check_explanation, shifted
from .minimal_set import MinimalSet

__all__ = ["Explanation", "MinimalSet", "check_explanation", "shifted"]
