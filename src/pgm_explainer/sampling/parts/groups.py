"""Named groups of nodes, edges or features as parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import IntArray, as_label, as_list, items_of
from ...choices import UserDefined
from ...errors import InputError
from ...graph import Graph
from ...limits import brief
from ..population import Population
from .base import Parts
from .cells import CellParts
from .edges import EdgeParts

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["Groups"]

_OF = ("nodes", "edges", "features")


Members = tuple[tuple[str, tuple[Any, ...]], ...]
"""The names of groups, and the members of each."""


@dataclass(frozen=True)
class Groups(UserDefined):
    """Each group is a part. Nodes, edges or features in no group are never perturbed.

    The settings of an explanation store the option ``of``, but not the members of the groups.

    Args:
        groups: a mapping from the name of each group to its members. Or a list that has, for every
            node (or edge, or feature), the name of its group, or None if it is in no group. For
            many graphs, a list with one such mapping or list for each graph, or None for a graph
            without groups.
        of: what the members are: ``nodes`` (indices or names), ``edges`` (pairs of nodes; in an
            undirected graph, a pair stands for both directions) or ``features`` (columns or their
            names). If ``groups`` is a list, edges have the order of ``edge_index``.

    Examples:
        >>> Groups({"ring": [0, 1, 2], "tail": [3]}).members
        (('ring', (0, 1, 2)), ('tail', (3,)))
        >>> Groups(["a", "b", "a", None]).members
        (('a', (0, 2)), ('b', (1,)))
        >>> [len(each) for each in Groups([{"ring": [0, 1, 2]}, None, ["a", "b"]]).graphs]
        [1, 0, 2]
    """

    members: Members
    of: str = "nodes"
    graphs: tuple[Members, ...] = ()
    lengths: tuple[int | None, ...] = ()
    name: str = "groups"

    def __init__(self, groups: Any, of: str = "nodes") -> None:
        if not isinstance(of, str) or of not in _OF:
            raise InputError(f"groups are of {', '.join(_OF)}, not of {brief(of)}")
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "name", f"groups of {of}")
        each = _each_graph(groups, of)
        if each is not None and of == "features":
            raise InputError("groups of features are the same in all graphs; pass one mapping")
        object.__setattr__(self, "graphs", () if each is None else each)
        object.__setattr__(self, "members", _read(groups, of) if each is None else ())
        # The lengths of lists of names, to check later that there is a name for every node.
        lists = [groups] if each is None else as_list(groups) or []
        object.__setattr__(self, "lengths", tuple(map(_length, lists)))

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> Parts:
        offsets = {
            "nodes": graph.offsets,
            "edges": graph.edge_offsets,
            "features": np.array([0, population.width]),
        }[self.of]
        part_of = np.full(offsets[-1], -1, dtype=np.int64)
        names: list[str] = []
        for at, groups in enumerate(self._of_each_graph(graph)):
            length, size = self.lengths[at], int(offsets[at + 1] - offsets[at])
            if length not in (None, size):
                raise InputError(
                    f"a list of groups needs a name or None for each of {size} {self.of}"
                    f"{_in_graph(at, graph)}, but it has {length} items"
                )
            for name, members in groups:
                numbers = self._numbers(members, name, population)
                found = self._positions(numbers, name, graph, offsets, at)
                if (part_of[found] >= 0).any():
                    other = names[int(part_of[found].max())]
                    raise InputError(
                        f"the groups {brief(other)} and {brief(name)} overlap; a member is in one "
                        f"group only"
                    )
                part_of[found] = len(names)
                names.append(name)
        if self.of == "edges":
            edge_parts = EdgeParts(graph, config, first, part_of, names, "remove")
            pairs = list(map(tuple, graph.edge_index.T.tolist()))
            edge_parts.members = _by_group(part_of, pairs, first)
            return edge_parts
        if self.of == "features":
            rows = np.zeros(graph.num_nodes, dtype=np.int64)
            columns = np.tile(part_of, population.steps or 1)
        else:
            rows, columns = part_of, np.full(population.x.shape[1], -1, dtype=np.int64)
            columns[config.columns(population)] = 0
        parts = CellParts(population, config, first, rows, columns, names)
        if self.of == "nodes":
            parts.members = _by_group(part_of, range(graph.num_nodes), first)
        return parts

    def _of_each_graph(self, graph: Graph) -> Sequence[Members]:
        if not self.graphs and (self.of == "features" or graph.num_graphs == 1):
            return (self.members,)
        if len(self.graphs) != graph.num_graphs:
            given = f"there are groups for {len(self.graphs)}"
            if not self.graphs:
                given = "the groups are those of one graph"
            raise InputError(
                f"there are {graph.num_graphs} graphs, but {given}; pass a list with a mapping of "
                f"groups for each graph, Groups([{{...}}, {{...}}])"
            )
        return self.graphs

    def _numbers(
        self, members: tuple[Any, ...], name: str, population: Population
    ) -> tuple[Any, ...]:
        """Return the members of a group with names replaced by numbers."""
        try:
            if self.of == "features":
                return tuple(population.feature_numbers(members))
            if isinstance(members[0], tuple) and self.of == "edges":
                return tuple(tuple(map(population.node_number, pair)) for pair in members)
            if all(isinstance(member, int) for member in members):
                return members
            return tuple(map(population.node_number, members))
        except InputError as error:
            raise InputError(f"the group {brief(name)}: {error}") from None

    def _positions(
        self, members: tuple[Any, ...], name: str, graph: Graph, offsets: IntArray, at: int
    ) -> IntArray:
        """Return the positions of the members of a group: nodes, feature columns or edge columns.

        Args:
            offsets: the first node, column or edge of each graph.
            at: the position of the graph of the group.
        """
        if self.of == "edges" and isinstance(members[0], tuple):
            return _edge_columns(members, name, graph, at)
        largest, size = max(members), int(offsets[at + 1] - offsets[at])
        if largest >= size:
            raise InputError(
                f"the group {brief(name)} has the member {brief(largest)}, but there are {size} "
                f"{self.of}{_in_graph(at, graph)}, numbered from 0"
            )
        return offsets[at] + np.array(members, dtype=np.int64)


def _by_group(part_of: IntArray, members: Sequence[Any], first: int) -> dict[int, tuple[Any, ...]]:
    """Return the members of each group, by the number of its part."""
    found: dict[int, list[Any]] = {}
    for at in np.flatnonzero(part_of >= 0).tolist():
        found.setdefault(first + int(part_of[at]), []).append(members[at])
    return {part: tuple(each) for part, each in found.items()}


def _edge_columns(pairs: tuple[tuple[int, int], ...], name: str, graph: Graph, at: int) -> IntArray:
    first, stop = graph.offsets[at : at + 2].tolist()
    missing = [pair for pair in pairs if max(pair) >= stop - first]
    found = [pair for pair in pairs if max(pair) < stop - first]
    ends = first + np.array(found, dtype=np.int64).reshape(-1, 2)
    if graph.is_undirected:
        ends = np.concatenate((ends, ends[:, ::-1]))
    source, target = graph.edge_index
    known, wanted = source * graph.num_nodes + target, ends[:, 0] * graph.num_nodes + ends[:, 1]
    missing += map(tuple, (ends[~np.isin(wanted, known)] - first).tolist())
    if missing:
        where = f"graph {at}" if graph.num_graphs > 1 else "the graph"
        raise InputError(
            f"the group {brief(name)} has the edge {brief(missing[0])}, which is not in {where}"
        )
    return np.flatnonzero(np.isin(known, wanted))


def _each_graph(groups: Any, of: str) -> tuple[Members, ...] | None:
    """Return the groups of each of many graphs; None if these are the groups of one graph."""
    if isinstance(groups, (str, Mapping)):
        return None
    listed = as_list(groups)
    if not listed or all(isinstance(each, str) or not _is_many(each) for each in listed):
        return None
    return tuple(_of_graph(at, each, of) for at, each in enumerate(listed))


def _of_graph(at: int, groups: Any, of: str) -> Members:
    if groups is None or (isinstance(groups, Mapping) and not items_of(groups, "groups")):
        return ()
    try:
        return _read(groups, of)
    except InputError as error:
        raise InputError(f"graph {at}: {error}") from None


def _length(groups: Any) -> int | None:
    """Return the length of a list of names; None for a mapping."""
    return None if groups is None or isinstance(groups, Mapping) else len(as_list(groups) or [])


def _in_graph(at: int, graph: Graph) -> str:
    return f" in graph {at}" if graph.num_graphs > 1 else ""


def _is_many(value: Any) -> bool:
    return isinstance(value, Mapping) or as_list(value) is not None


def _read(groups: Any, of: str) -> Members:
    if isinstance(groups, Mapping):
        given = {_checked(name): as_list(each) for name, each in items_of(groups, "groups")}
    else:
        given = _by_label(groups)
    if not given:
        raise InputError("there are no groups; pass a mapping from names to members")
    return tuple((_checked(name), _members(name, each, of)) for name, each in given.items())


def _by_label(labels: Any) -> dict[str, list[int] | None]:
    listed = as_list(labels)
    if listed is None or isinstance(labels, str):
        raise InputError(
            f"groups must be a mapping from names to members, or a list of names, not "
            f"{brief(labels)}"
        )
    found: dict[str, list[int] | None] = {}
    for at, label in enumerate(listed):
        if label is not None:
            members = found.setdefault(as_label(label), [])
            if members is not None:
                members.append(at)
    return found


def _checked(name: Any) -> str:
    if not isinstance(name, str) or not str.__str__(name):
        raise InputError(f"the name of a group must be a string, not {brief(name)}")
    return as_label(name)


def _members(name: str, members: list[Any] | None, of: str) -> tuple[Any, ...]:
    if not members:
        raise InputError(f"the group {brief(name)} has no members; leave it out")
    if of == "edges" and not isinstance(members[0], (int, np.integer)):
        pairs = [() if isinstance(each, str) else tuple(as_list(each) or ()) for each in members]
        if any(len(pair) != 2 or not all(map(_is_given, pair)) for pair in pairs):
            raise InputError(f"the edges of the group {brief(name)} must be pairs of nodes (u, v)")
        return tuple((_plain(u), _plain(v)) for u, v in pairs)
    if not all(
        _is_given(member) and (of == "nodes" or not _is_typed(member)) for member in members
    ):
        raise InputError(
            f"the members of the group {brief(name)} must be {of}, given by whole numbers of at "
            f"least 0 or by names, not {brief(members)}"
        )
    distinct = list(dict.fromkeys(map(_plain, members)))
    return tuple(sorted(distinct) if all(map(_is_index, distinct)) else distinct)


def _is_given(value: Any) -> bool:
    """Return whether a member is given by its number or name."""
    return isinstance(value, str) or _is_typed(value) or _is_index(value)


def _is_typed(value: Any) -> bool:
    """Return whether this is the name of a node that has a type, such as ``("author", 5)``."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)


def _plain(member: Any) -> Any:
    if isinstance(member, str):  # of the caller's own type, it may raise anything when hashed
        return str.__str__(member)
    return int(member) if _is_index(member) else member


def _is_index(value: Any) -> bool:
    is_whole = isinstance(value, (int, np.integer))
    return is_whole and not isinstance(value, (bool, np.timedelta64)) and int(value) >= 0
