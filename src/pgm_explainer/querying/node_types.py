"""The nodes of a graph with several node types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays import as_list, check_name, check_node
from ..errors import InputError
from ..node_names import NodeNames
from ..variables import VariableId

__all__ = ["TypedNodes"]


@dataclass(frozen=True)
class TypedNodes(Sequence[VariableId]):
    """Names made of node type and name within the type, such as ``("author", 5)``.

    Attributes:
        kinds: the node types, in the order of their nodes.
        sizes: the number of nodes of each type.
        default: the type of a node given by its index alone; for pairs, both types; None if the
            graph is predicted.
        widths: the number of features of each type.
        labels: the names of the nodes of each type, if they have names other than their indices.
    """

    kinds: tuple[str, ...]
    sizes: tuple[int, ...]
    default: str | tuple[str, str] | None
    widths: tuple[int, ...]
    labels: tuple[NodeNames, ...] = ()

    def __len__(self) -> int:
        return sum(self.sizes)

    def __getitem__(self, number: int) -> VariableId:  # type: ignore[override]
        for at, (kind, size) in enumerate(zip(self.kinds, self.sizes, strict=True)):
            if number < size:
                return (kind, self.labels[at][number] if self.labels else number)
            number -= size
        raise IndexError(number)

    @property
    def widths_by_kind(self) -> tuple[tuple[str, int], ...]:
        """Each type with its number of features."""
        return tuple(zip(self.kinds, self.widths, strict=True))

    def number(self, name: Any) -> Any:
        """Return a target by the indices of its nodes among all nodes.

        A node is given by ``(type, index)`` or ``(type, name)``, or without its type. A graph has
        no name, and is returned as it is.
        """
        if self.default is None:
            return name
        if isinstance(self.default, str):
            return self._node(name, self.default)
        ends = as_list(name) or []
        if len(ends) != len(self.default):
            raise InputError(
                f"the target of an edge task must be a pair of nodes (u, v), not {name!r}"
            )
        return tuple(map(self._node, ends, self.default))

    def _node(self, name: Any, default: str) -> int:
        kind, within = name if isinstance(name, tuple) and len(name) == 2 else (default, name)
        number = self.node(kind, within)
        if kind != default:
            raise InputError(
                f"{name!r} has no prediction to explain, as the model predicts nodes of type "
                f"{default!r} (target_type)"
            )
        return number

    def node(self, kind: Any, within: Any) -> int:
        """Return the index among all nodes of a node, given by its type and its name or index."""
        check_name(kind, "node type", self.kinds)
        if self.labels:
            try:
                within = self.labels[self.kinds.index(kind)].number(within)
            except InputError as error:
                raise InputError(f"{error} (type {kind!r})") from None
        members = self._members(kind)
        return members.start + check_node(within, len(members), f"{kind} node")

    def _members(self, kind: str) -> range:
        at = self.kinds.index(kind)
        first = sum(self.sizes[:at])
        return range(first, first + self.sizes[at])

    @property
    def predicted(self) -> range:
        """The indices of the nodes of the predicted type; of a pair, the type of its second."""
        if self.default is None:
            return range(len(self))
        return self._members(self.default if isinstance(self.default, str) else self.default[1])

    @property
    def sources(self) -> range:
        """The indices of the nodes that may be the first of a pair."""
        return self._members(self.default[0]) if isinstance(self.default, tuple) else range(0)
