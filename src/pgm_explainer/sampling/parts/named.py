"""Kinds of parts by name, and custom kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...arrays import as_list
from ...choices import Recorded
from ...errors import InputError
from .base import PartKind
from .edges import Edges
from .features import Features
from .groups import Groups
from .mixed import Mixed
from .nodes import Nodes
from .time import Time

__all__ = ["PART_KINDS", "as_parts"]

PART_KINDS: dict[str, PartKind] = {
    kind.name: kind for kind in (Nodes(), Edges(), Features(), Time())
}
"""The kinds that need no arguments, by name."""


def as_parts(choice: Any) -> PartKind:
    """Return the kind of parts for a name, an instance, a mapping of groups, or several kinds.

    Examples:
        >>> as_parts("edges").name, as_parts(["nodes", "edges"]).name
        ('edges', 'nodes and edges')
    """
    if isinstance(choice, str):
        if choice not in PART_KINDS:
            known = ", ".join(PART_KINDS)
            raise InputError(
                f"unknown parts {choice!r}; choose one of: {known}; or pass Groups, Edges, "
                f"Features or Time with arguments, or a list of kinds"
            )
        return PART_KINDS[choice]
    if isinstance(choice, Mapping):
        return Groups(choice)
    if isinstance(choice, Recorded) or (hasattr(choice, "bind") and not isinstance(choice, type)):
        if not isinstance(getattr(choice, "name", None), str):
            raise InputError(f"a kind of parts needs a name, which {choice!r} does not have")
        return cast(PartKind, choice)
    several = as_list(choice)
    if not several:
        raise InputError(
            f"parts must be a name ({', '.join(PART_KINDS)}), a kind such as Edges(), a mapping "
            f"of groups, or a list of kinds, not {choice!r}"
        )
    return Mixed(tuple(as_parts(each) for each in several))
