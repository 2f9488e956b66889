"""The names of nodes, for everything that a user reads; internally, nodes are integers."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from .arrays import plain_list
from .errors import InputError
from .limits import brief
from .variables import VariableId, checked_name

__all__ = ["NodeNames"]

_SEARCHED = 100_000
"""The maximum number of names that are searched for similar ones, which takes time."""


@dataclass(frozen=True)
class NodeNames:
    """Maps indices of nodes to names, and back; without names, the index is the name.

    Attributes:
        labels: a name for every node of the graph or, in a mapping, for some of them; None if they
            have no names. The collection is shared by all explanations of a graph.
        nodes: the nodes that are looked up by name.
        typed: whether each name is a pair of a node type and a name within the type, such as
            ``("author", 5)``, as in a graph with several node types.

    Examples:
        >>> names = NodeNames.read(["Ada", "Bob"], nodes=[0, 1])
        >>> names[1], names.index("Ada"), NodeNames()[7]
        ('Bob', 0, 7)
    """

    labels: Sequence[VariableId] | Mapping[int, VariableId] | None = None
    nodes: Sequence[int] = ()
    typed: bool = False

    @classmethod
    def read(cls, labels: Any, nodes: Sequence[int], typed: bool = False) -> NodeNames:
        """Return the names of these nodes.

        Raises:
            InputError: a name is missing, has a wrong type or is not unique.
        """
        if isinstance(labels, np.ndarray):
            labels = plain_list(labels)  # NumPy numbers cannot be compared with tuples
        names = cls(labels, nodes, typed)
        short = isinstance(labels, (list, tuple)) and len(labels) <= max(nodes, default=-1)
        if short:
            raise InputError(
                f"names has {len(labels)} names, but the graph has more nodes, such as "
                f"{max(nodes)}; pass a name for each node, or a mapping from nodes to names"
            )
        try:
            counted = Counter(map(checked_name, names.of(nodes)))
        except Exception as error:  # a collection of the caller may raise anything
            raise InputError(
                f"names must be a list with a name for each node of the graph, or a mapping from "
                f"node indices to names; a name is a string, an integer or a tuple ({error})"
            ) from None
        if len(counted) < len(nodes):
            raise InputError(
                f"more than one node is called {brief(counted.most_common(1)[0][0])}; names must "
                f"be unique"
            )
        return names

    def relabelled(self, given: Any, nodes: Sequence[int]) -> Any:
        """Return the names that a user gives to some nodes, by index; node types are kept.

        Args:
            given: a list with a name for every node of the graph; a mapping from indices or current
                names to new names; or, with node types, a mapping from each type to a list of names
                or to a mapping from indices within the type to names.

        Raises:
            InputError: no key of a mapping is a node, or a type would be lost.
        """
        if not isinstance(given, Mapping):
            if not self.typed:
                return given
            NodeNames.read(given, nodes)
            return {at: self._kept_type(at, given[at]) for at in nodes}
        present = {self[node]: node for node in nodes}
        found: dict[int, Any] = {}
        for key, value in given.items():
            at = key if isinstance(key, int) else present.get(key)
            if at is not None:
                found[at] = self._kept_type(at, value) if at in nodes else value
            elif self.typed and isinstance(key, str):
                found.update(self._of_type(key, value, present))
        if given and not found:
            key = next(iter(given))
            raise InputError(
                f"names has {brief(key)}, which is not a node of the explanation; pass a "
                f"mapping from nodes to names"
            )
        unchanged = {node: self[node] for node in nodes} if self.typed else {}
        return {**unchanged, **found}

    def _of_type(self, kind: str, given: Any, present: Mapping[Any, int]) -> dict[int, Any]:
        """Return the new names of the nodes of one type, by index."""
        mine = {name[1]: at for name, at in present.items() if name[0] == kind}
        items = given if isinstance(given, Mapping) else dict(enumerate(given))
        return {mine[key]: (kind, name) for key, name in items.items() if key in mine}

    def _kept_type(self, node: int, name: Any) -> Any:
        """Return a new name with the type of the node, if there are types."""
        present = self[node]
        if not self.typed or not isinstance(present, tuple):
            return name
        if not isinstance(name, tuple):
            return (present[0], name)
        if len(name) != 2 or name[0] != present[0]:
            raise InputError(
                f"{brief(present)} cannot be called {brief(name)}, which has another type; pass "
                f"the name alone"
            )
        return name

    def with_parts(self, parts: Mapping[int, VariableId], target: VariableId) -> NodeNames:
        """Return these names and those of other parts.

        Args:
            parts: the labels of parts, by number; in a tuple, integers are nodes.
            target: the name of the target. An edge with the same name is called
                ``("edge", u, v)``, another part ``("part", name)``.
        """
        labels = {node: self[node] for node in self.nodes}
        for part, label in parts.items():
            if isinstance(label, tuple):
                label = tuple(self[each] if isinstance(each, int) else each for each in label)
            if label == target:
                label = ("edge", *label) if isinstance(label, tuple) else ("part", label)
            labels[part] = label
        return NodeNames.read(labels, sorted(labels), self.typed)

    def __bool__(self) -> bool:
        return self.labels is not None

    def __getitem__(self, node: int) -> VariableId:
        if isinstance(self.labels, Mapping):
            return self.labels.get(node, node)
        return node if self.labels is None else self.labels[node]

    def of(self, nodes: Iterable[int]) -> list[VariableId]:
        """Return the names of some nodes."""
        return [self[node] for node in nodes]

    def index(self, name: VariableId) -> int:
        """Return the node with this name.

        Raises:
            InputError: no node has it.
        """
        if not self and isinstance(name, int):
            return name
        try:
            return self._indices[name]
        except (KeyError, TypeError):  # unknown, or not hashable
            raise InputError(f"no node is called {brief(name)}{self._similar(name)}") from None

    def number(self, node: Any) -> Any:
        """Return the index of a node that a user gives by name or by index.

        An integer is an index, unless names are integers too: then it is a name. Without names, the
        value is returned unchanged.

        Raises:
            InputError: no node has this name.

        Examples:
            >>> NodeNames.read(["Ada", "Bob"], [0, 1]).number("Bob")
            1
            >>> NodeNames.read([70, 80], [0, 1]).number(80)
            1
        """
        if not self:
            return node
        with suppress(Exception):  # a TypeError, or any error of an object's own conversion
            node = node if isinstance(node, bool) else operator.index(node)
        is_index = type(node) is int and not self._has_integers
        return node if is_index else self.index(node)

    def _similar(self, name: Any) -> str:
        if not isinstance(name, str) or len(self.nodes) > _SEARCHED:
            return ""
        known = [each for each in self._indices if isinstance(each, str)]
        close = get_close_matches(name, known, n=3)
        return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""

    @cached_property
    def _has_integers(self) -> bool:
        return any(isinstance(name, (int, np.integer)) for name in self._indices)

    @cached_property
    def _indices(self) -> dict[VariableId, int]:
        return dict(zip(self.of(self.nodes), self.nodes, strict=True))
