"""Look up a kind of parts by its name, and wrap custom kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ...arrays import as_list, call_own, check_name
from ...choices import Recorded, UserDefined
from ...errors import InputError
from ...graph import Graph
from ...limits import brief
from ..population import Population
from .base import PartKind, Parts
from .edges import Edges
from .features import Features
from .groups import Groups
from .mixed import Mixed
from .nodes import Nodes
from .time import Time

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["PART_KINDS", "CustomParts", "as_parts"]

PART_KINDS: dict[str, PartKind] = {
    kind.name: kind for kind in (Nodes(), Edges(), Features(), Time())
}
"""The kinds that need no arguments, by name."""


_BUILT_IN = tuple(type(kind) for kind in PART_KINDS.values())


@dataclass(frozen=True)
class CustomParts(UserDefined):
    """A custom object with a ``name`` and the method ``bind`` of a :class:`PartKind`."""

    kind: Any

    @property
    def name(self) -> str:
        return str(self.kind.name)

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> Parts:
        parts = call_own(
            self.kind.bind,
            graph,
            population,
            config,
            first,
            what=f"the kind of parts {self.name!r}",
            usage="bind(graph, population, config, first) -> Parts",
        )
        if not isinstance(parts, Parts):
            raise InputError(
                f"the kind of parts {brief(self.name)} returned a {type(parts).__name__}; bind "
                f"must return an instance of Parts"
            )
        return parts


def as_parts(choice: Any) -> PartKind:
    """Return the kind of parts for a name, an instance, a mapping of groups, or several kinds.

    Examples:
        >>> as_parts("edges").name, as_parts(["nodes", "edges"]).name
        ('edges', 'nodes and edges')
    """
    if isinstance(choice, str):
        try:
            return PART_KINDS[check_name(choice, "parts", PART_KINDS)]
        except InputError as error:
            raise InputError(
                f"{error}; or pass Groups, Edges, Features or Time with arguments, or a list of "
                f"kinds"
            ) from None
    if isinstance(choice, Mapping):
        return Groups(choice)
    if isinstance(choice, (Recorded, CustomParts, Groups, Mixed, *_BUILT_IN)):
        return cast(PartKind, choice)
    if hasattr(choice, "bind") and not isinstance(choice, type):
        if not isinstance(getattr(choice, "name", None), str):
            raise InputError(f"a kind of parts needs a name, which {brief(choice)} does not have")
        return CustomParts(choice)
    several = as_list(choice)
    if several and all(isinstance(each, Mapping) for each in several):
        raise InputError(
            f"a list of {len(several)} mappings is not a kind of parts; for groups in each of many "
            f"graphs, pass Groups([...])"
        )
    nested = any(isinstance(each, (list, tuple, type(choice))) for each in several or ())
    if not several or nested:
        raise InputError(
            f"parts must be a name ({', '.join(PART_KINDS)}), a kind such as Edges(), a mapping "
            f"of groups, or a list of kinds, not {brief(choice)}"
        )
    return Mixed(tuple(as_parts(each) for each in several))
