"""Names of the nodes of a graph with several kinds of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import IntArray, check_node
from ..errors import InputError
from ..variables import VariableId

__all__ = ["NodeNames"]


@dataclass(frozen=True)
class NodeNames(Sequence[VariableId]):
    """Nodes called by kind and number, such as ``("author", 5)``.

    Attributes:
        kinds: the names of the kinds, in the order in which their nodes are numbered.
        sizes: how many nodes each kind has.
        default: the kind meant by a number alone.
        widths: how many features each kind has.
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
        """Return how many features nodes have, by their numbers among all nodes."""
        kinds = np.searchsorted(np.cumsum(self.sizes), nodes, side="right")
        return np.array(self.widths)[kinds]

    def number(self, name: Any) -> int:
        """Return a node's number among all nodes, from ``(kind, number)`` or a number alone."""
        kind, within = name if isinstance(name, tuple) and len(name) == 2 else (self.default, name)
        if not isinstance(kind, str) or kind not in self.kinds:
            raise InputError(f"there are no nodes of kind {kind!r}, only {', '.join(self.kinds)}")
        if kind != self.default:
            raise InputError(
                f"the model predicts nodes of kind {self.default!r} (target_type), so there is no "
                f"prediction of {name!r} to explain"
            )
        at = self.kinds.index(kind)
        return sum(self.sizes[:at]) + check_node(within, self.sizes[at], f"{kind} node")

    @property
    def predicted(self) -> range:
        """The numbers of the nodes of the default kind."""
        at = self.kinds.index(self.default)
        first = sum(self.sizes[:at])
        return range(first, first + self.sizes[at])
