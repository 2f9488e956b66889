"""The names of nodes, for everything that a user reads; inside, nodes are integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .errors import InputError
from .variables import VariableId, checked_name

__all__ = ["NodeNames"]


@dataclass(frozen=True)
class NodeNames:
    """Names of nodes by index, and back; without names, a node is called by its index.

    Attributes:
        labels: a name for every node of the graph or, in a mapping, for some of them; None if they
            have no names. The collection is shared by all explanations of a graph.
        nodes: the nodes that are looked up by name.

    Examples:
        >>> names = NodeNames.read(["Ada", "Bob"], nodes=[0, 1])
        >>> names[1], names.index("Ada"), NodeNames()[7]
        ('Bob', 0, 7)
    """

    labels: Sequence[VariableId] | Mapping[int, VariableId] | None = None
    nodes: Sequence[int] = ()

    @classmethod
    def read(cls, labels: Any, nodes: Sequence[int]) -> NodeNames:
        """Return the names of these nodes.

        Raises:
            InputError: a name is missing, has a wrong type or is not unique.
        """
        if isinstance(labels, np.ndarray):
            labels = labels.tolist()  # numbers of NumPy do not compare with pairs
        names = cls(labels, nodes)
        try:
            counted = Counter(map(checked_name, names.of(nodes)))
        except Exception as error:  # a collection of the caller may raise anything
            raise InputError(
                f"names must be a list with a name for each node of the graph, or a mapping from "
                f"node indices to names; a name is a string, an integer or a tuple ({error})"
            ) from None
        if len(counted) < len(nodes):
            raise InputError(
                f"more than one node is called {counted.most_common(1)[0][0]!r}; names must be "
                f"unique"
            )
        return names

    def with_parts(self, parts: Mapping[int, VariableId], target: VariableId) -> NodeNames:
        """Return these names and those of other parts.

        Args:
            parts: what parts are called, by number; in a tuple, integers are nodes.
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
        return NodeNames.read(labels, sorted(labels))

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
            raise InputError(f"no node is called {name!r}") from None

    @cached_property
    def _indices(self) -> dict[VariableId, int]:
        return dict(zip(self.of(self.nodes), self.nodes, strict=True))
