"""The nodes of a graph with several node types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import IntArray, check_node
from ..errors import InputError
from ..variables import VariableId

__all__ = ["TypedNodes"]


@dataclass(frozen=True)
class TypedNodes(Sequence[VariableId]):
    """Names made of node type and index within the type, such as ``("author", 5)``.

    Attributes:
        kinds: the node types, in the order of their nodes.
        sizes: the number of nodes of each type.
        default: the type of a node given by its index alone.
        widths: the number of features of each type.
    """

    kinds: tuple[str, ...]
    sizes: tuple[int, ...]
    default: str
    widths: tuple[int, ...]

    def __len__(self) -> int:
        return sum(self.sizes)

    def __getitem__(self, number: int) -> VariableId:  # type: ignore[override]
        for kind, size in zip(self.kinds, self.sizes, strict=True):
            if number < size:
                return (kind, number)
            number -= size
        raise IndexError(number)

    def widths_of(self, nodes: IntArray) -> IntArray:
        """Return the number of features of nodes, given by their indices among all nodes."""
        kinds = np.searchsorted(np.cumsum(self.sizes), nodes, side="right")
        return np.array(self.widths)[kinds]

    def number(self, name: Any) -> int:
        """Return a node's index among all nodes, from ``(type, index)`` or an index alone."""
        kind, within = name if isinstance(name, tuple) and len(name) == 2 else (self.default, name)
        if not isinstance(kind, str) or kind not in self.kinds:
            raise InputError(f"unknown node type {kind!r}; choose one of: {', '.join(self.kinds)}")
        if kind != self.default:
            raise InputError(
                f"{name!r} has no prediction to explain, as the model predicts nodes of type "
                f"{self.default!r} (target_type)"
            )
        at = self.kinds.index(kind)
        return sum(self.sizes[:at]) + check_node(within, self.sizes[at], f"{kind} node")

    @property
    def predicted(self) -> range:
        """The indices of the nodes of the default type."""
        at = self.kinds.index(self.default)
        first = sum(self.sizes[:at])
        return range(first, first + self.sizes[at])
