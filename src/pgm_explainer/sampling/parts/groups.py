"""Named groups of nodes, edges or features as parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import IntArray, as_list
from ...choices import UserDefined
from ...errors import InputError
from ...graph import Graph
from ..population import Population
from .base import Parts
from .cells import CellParts
from .edges import EdgeParts

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["Groups"]

_OF = ("nodes", "edges", "features")


@dataclass(frozen=True)
class Groups(UserDefined):
    """Each group is a part; what is in no group is never perturbed.

    The settings of an explanation record what the groups are of, but not their members.

    Args:
        groups: a mapping from the name of a group to its members, or a list with the name of the
            group of every node (or edge, or feature), None for those in no group.
        of: what the members are: ``nodes`` (indices), ``edges`` (pairs, in both directions if the
            graph is undirected) or ``features`` (columns). In a list, edges have the order of
            ``edge_index``.

    Examples:
        >>> Groups({"ring": [0, 1, 2], "tail": [3]}).members
        (('ring', (0, 1, 2)), ('tail', (3,)))
        >>> Groups(["a", "b", "a", None]).members
        (('a', (0, 2)), ('b', (1,)))
    """

    members: tuple[tuple[str, tuple[Any, ...]], ...]
    of: str = "nodes"
    name: str = "groups"

    def __init__(self, groups: Any, of: str = "nodes") -> None:
        if not isinstance(of, str) or of not in _OF:
            raise InputError(f"groups are of {', '.join(_OF)}, not of {of!r}")
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "name", f"groups of {of}")
        object.__setattr__(self, "members", _read(groups, of))

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> Parts:
        names = [name for name, _ in self.members]
        sizes = {
            "nodes": graph.num_nodes,
            "edges": graph.edge_index.shape[1],
            "features": population.x.shape[1],
        }
        part_of = np.full(sizes[self.of], -1, dtype=np.int64)
        for number, (name, members) in enumerate(self.members):
            at = self._positions(members, name, graph, len(part_of))
            if (part_of[at] >= 0).any():
                other = names[int(part_of[at].max())]
                raise InputError(
                    f"the groups {other!r} and {name!r} overlap; a member is in one group only"
                )
            part_of[at] = number
        if self.of == "edges":
            edge_parts = EdgeParts(graph, config, first, part_of, names, "remove")
            pairs = list(map(tuple, graph.edge_index.T.tolist()))
            edge_parts.members = _by_group(part_of, pairs, first)
            return edge_parts
        one = np.zeros(1, dtype=np.int64)
        rows = part_of if self.of == "nodes" else np.repeat(one, graph.num_nodes)
        columns = part_of if self.of == "features" else np.repeat(one, sizes["features"])
        if self.of == "nodes":
            columns = np.full(len(columns), -1, dtype=np.int64)
            columns[config.columns(len(columns))] = 0
        parts = CellParts(population, config, first, rows, columns, names)
        if self.of == "nodes":
            parts.members = _by_group(part_of, range(graph.num_nodes), first)
        return parts

    def _positions(self, members: tuple[Any, ...], name: str, graph: Graph, size: int) -> IntArray:
        """Return where the members of a group are: nodes, feature columns or edge columns."""
        if self.of == "edges" and isinstance(members[0], tuple):
            return _edge_columns(members, name, graph)
        at = np.array(members, dtype=np.int64)
        if at.max() >= size:
            raise InputError(
                f"the group {name!r} has the member {at.max()}, but there are {size} {self.of}, "
                f"numbered from 0"
            )
        return at


def _by_group(part_of: IntArray, members: Sequence[Any], first: int) -> dict[int, tuple[Any, ...]]:
    """Return the members of each group, by the number of its part."""
    found: dict[int, list[Any]] = {}
    for at in np.flatnonzero(part_of >= 0).tolist():
        found.setdefault(first + int(part_of[at]), []).append(members[at])
    return {part: tuple(each) for part, each in found.items()}


def _edge_columns(pairs: tuple[tuple[int, int], ...], name: str, graph: Graph) -> IntArray:
    ends = np.array(pairs, dtype=np.int64)
    if graph.is_undirected:
        ends = np.concatenate((ends, ends[:, ::-1]))
    source, target = graph.edge_index
    known, wanted = source * graph.num_nodes + target, ends[:, 0] * graph.num_nodes + ends[:, 1]
    inside = (ends < graph.num_nodes).all(axis=1) & np.isin(wanted, known)
    if not inside.all():
        missing = tuple(ends[~inside][0].tolist())
        raise InputError(f"the group {name!r} has the edge {missing}, which is not in the graph")
    return np.flatnonzero(np.isin(known, wanted))


def _read(groups: Any, of: str) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    if isinstance(groups, Mapping):
        given = {name: as_list(members) for name, members in groups.items()}
    else:
        given = _by_label(groups)
    if not given:
        raise InputError("there are no groups; pass a mapping from names to members")
    return tuple((_checked(name), _members(name, each, of)) for name, each in given.items())


def _by_label(labels: Any) -> dict[str, list[int] | None]:
    listed = as_list(labels)
    if listed is None or isinstance(labels, str):
        raise InputError(
            f"groups must be a mapping from names to members, or a list of names, not {labels!r}"
        )
    found: dict[str, list[int] | None] = {}
    for at, label in enumerate(listed):
        if label is not None:
            members = found.setdefault(str(label), [])
            if members is not None:
                members.append(at)
    return found


def _checked(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a group must be a string, not {name!r}")
    return name


def _members(name: str, members: list[Any] | None, of: str) -> tuple[Any, ...]:
    if not members:
        raise InputError(f"the group {name!r} has no members; leave it out")
    if of == "edges" and not isinstance(members[0], (int, np.integer)):
        pairs = [tuple(as_list(member) or ()) for member in members]
        if any(len(pair) != 2 or not all(map(_is_index, pair)) for pair in pairs):
            raise InputError(f"the edges of the group {name!r} must be pairs of nodes (u, v)")
        return tuple((int(u), int(v)) for u, v in pairs)
    if not all(map(_is_index, members)):
        raise InputError(
            f"the members of the group {name!r} must be {of}, given by whole numbers of at least "
            f"0, not {members!r:.60}"
        )
    return tuple(sorted({int(member) for member in members}))


def _is_index(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 0
