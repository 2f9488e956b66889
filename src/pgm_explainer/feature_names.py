"""The names of feature columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .arrays import plain_list
from .errors import InputError
from .limits import brief

__all__ = [
    "FeatureNames",
    "check_feature_names",
    "feature_name",
    "feature_title",
    "feature_titles",
]

FeatureNames = tuple[str, ...] | Mapping[str, tuple[str, ...]]
"""A name for each feature column; with several node types, a mapping from each type to its names.
Empty if columns have no names."""


def check_feature_names(given: Any, width: int, of: str = "") -> tuple[str, ...]:
    """Return the names of ``width`` feature columns; none if None is given.

    Args:
        of: what the columns belong to, for errors, such as ``" of type 'paper'"``.

    Raises:
        InputError: there is not one for each column, or they are not unique strings.
    """
    if given is None:
        return ()
    listed = plain_list(given)
    if isinstance(given, (str, Mapping)) or listed is None:
        raise InputError(f"feature_names must be a list of strings, not {brief(given)}")
    wrong = [name for name in listed if not isinstance(name, str) or not name]
    if wrong:
        raise InputError(f"the name of a feature{of} must be a string, not {brief(wrong[0])}")
    if len(listed) != width:
        raise InputError(f"feature_names has {len(listed)} names, but x{of} has {width} features")
    if len(set(listed)) < len(listed):
        twice = next(name for at, name in enumerate(listed) if name in listed[:at])
        raise InputError(f"several features{of} have the name {brief(twice)}; names must be unique")
    return tuple(map(str, listed))


def feature_title(names: FeatureNames, column: int, node_type: str | None = None) -> str:
    """Return the title of a feature column: its name or, without one, ``feature 3``.

    Examples:
        >>> feature_title(("age", "income"), 1), feature_title((), 1)
        ('income', 'feature 1')
        >>> feature_title({"paper": ("year",)}, 0, "paper")
        'year'
    """
    name = feature_name(names, column, node_type)
    return name if isinstance(name, str) else f"feature {name}"


def feature_name(names: FeatureNames, column: int, node_type: str | None = None) -> str | int:
    """Return the name of a feature column, or its index if it has none."""
    known = names.get(node_type or "", ()) if isinstance(names, Mapping) else names
    return known[column] if column < len(known) else column


def feature_titles(names: FeatureNames) -> frozenset[str]:
    """Return the names of all columns, as they appear in the parts of an explanation.

    Examples:
        >>> sorted(feature_titles({"paper": ("year",), "author": ("age",)}))
        ['author age', 'paper year']
    """
    if not isinstance(names, Mapping):
        return frozenset(names)
    return frozenset(f"{kind} {name}" for kind, its in names.items() for name in its)
