"""A graph for node classification, with the true explanations that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pgm_explainer import InputError

from .arrays import IntArray

__all__ = ["NodeDataset"]


@dataclass(frozen=True)
class NodeDataset:
    """A graph for node classification, with the true explanations.

    Attributes:
        x: features ``[N, F]``.
        edge_index: both directions of every edge, ``[2, E]``.
        y: classes.
        train: mask of the nodes to train on; the others are for testing.
        truth: for each node with a true explanation, the nodes of the explanation and itself.
    """

    name: str
    x: NDArray[np.float32]
    edge_index: IntArray
    y: IntArray
    train: NDArray[np.bool_]
    truth: Mapping[int, frozenset[int]] = field(repr=False)

    @property
    def num_classes(self) -> int:
        return int(self.y.max()) + 1

    @property
    def targets(self) -> IntArray:
        """The nodes with a true explanation, in ascending order."""
        return np.array(sorted(self.truth))

    def explanation(self, node: int) -> IntArray:
        """Return the true explanation of a node, itself included."""
        if node not in self.truth:
            raise InputError(f"node {node} has no true explanation in {self.name}")
        return np.array(sorted(self.truth[node]))
