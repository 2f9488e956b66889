"""All nodes' features, and what a perturbation may know of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray

__all__ = ["Population"]

_RELATIVE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Population:
    """Features of all nodes; what is usual is computed once, for each kind of node by itself.

    Attributes:
        x: features ``[N, F]``.
        kinds: the number of each node's kind, in a graph with several kinds of nodes; None if all
            are alike.
    """

    x: FloatArray
    kinds: IntArray | None = None

    def mean(self, nodes: IntArray) -> FloatArray:
        """Return the mean features among the nodes of each one's kind."""
        return self._mean[self._kind_of(nodes)]

    def low(self, nodes: IntArray) -> FloatArray:
        """Return the smallest features among the nodes of each one's kind."""
        return self._low[self._kind_of(nodes)]

    def high(self, nodes: IntArray) -> FloatArray:
        """Return the largest features among the nodes of each one's kind."""
        return self._high[self._kind_of(nodes)]

    def varies(self, nodes: IntArray, columns: IntArray) -> NDArray[np.bool_]:
        """Say for each node whether the nodes of its kind differ in any of the columns."""
        low, high = self._low[:, columns], self._high[:, columns]
        slack = _RELATIVE_TOLERANCE * np.maximum(1.0, np.maximum(abs(low), abs(high)))
        return np.any(high - low > slack, axis=1)[self._kind_of(nodes)]

    def another(self, nodes: IntArray, uniforms: NDArray[np.float64]) -> IntArray:
        """Return for each uniform ``[..., nodes]`` another node of the same kind, all as likely."""
        order, first, count, rank = self._places
        kind = self._kind_of(nodes)
        steps = 1 + (uniforms * (count[kind] - 1)).astype(np.int64)
        return order[first[kind] + (rank[nodes] + steps) % count[kind]]

    def _kind_of(self, nodes: IntArray) -> IntArray:
        return np.zeros(len(nodes), dtype=np.int64) if self.kinds is None else self.kinds[nodes]

    @cached_property
    def _members(self) -> list[IntArray]:
        if self.kinds is None:
            return [np.arange(len(self.x))]
        return [np.flatnonzero(self.kinds == kind) for kind in range(int(self.kinds.max()) + 1)]

    @cached_property
    def _places(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Nodes by kind; where each kind begins; how many it has; each node's place within it."""
        order = np.concatenate(self._members)
        count = np.array([len(members) for members in self._members])
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.concatenate([np.arange(size) for size in count])
        return order, np.cumsum(count) - count, count, rank

    @cached_property
    def _mean(self) -> FloatArray:
        # Within the range, whatever rounding does: the mean of equal numbers is that number.
        means = [self._of(members).mean(axis=0, dtype=np.float64) for members in self._members]
        return np.clip(np.stack(means).astype(self.x.dtype), self._low, self._high)

    @cached_property
    def _low(self) -> FloatArray:
        return np.stack([self._of(members).min(axis=0) for members in self._members])

    @cached_property
    def _high(self) -> FloatArray:
        return np.stack([self._of(members).max(axis=0) for members in self._members])

    def _of(self, members: IntArray) -> FloatArray:
        return self.x if self.kinds is None else self.x[members]
