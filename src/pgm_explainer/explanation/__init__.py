"""The result: an explanation, and the JSON files it is saved in."""

from .explanation import Explanation, check_explanation

__all__ = ["Explanation", "check_explanation"]
