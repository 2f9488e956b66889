"""Minimal sets: the fewest parts that change a prediction, or that are enough to keep it."""

from .find import find_minimal_set, search_order
from .options import SearchOptions, search_options

__all__ = ["SearchOptions", "find_minimal_set", "search_options", "search_order"]
