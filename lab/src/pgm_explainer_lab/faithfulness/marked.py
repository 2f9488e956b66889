"""A hand-made model with a known rule: it predicts the distance of the nearest marked node."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor, nn
from torch_geometric.nn import SimpleConv

from ..arrays import FloatArray, IntArray
from ..rivals.case import Case
from .subjects import Subject

__all__ = ["MarkDistance", "distances_from", "marked_subject", "random_digraph"]

NODES, EDGE_PROBABILITY, MARKS, DEPTH = 1000, 0.004, 50, 4
_SHARPNESS = 10.0


class MarkDistance(nn.Module):
    """The class of a node is the distance from the nearest marked node, along the edges.

    Class ``depth + 1`` means further away. The first feature is 1 for a mark and 0 otherwise; the
    others are ignored. Takes ``x [N, F]`` or stacks ``[B, N, F]``; returns logits.
    """

    def __init__(self, depth: int = DEPTH) -> None:
        super().__init__()
        self.layers: Any = nn.ModuleList(
            SimpleConv("sum", combine_root="sum") for _ in range(depth)
        )

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        near = [x[..., :1].clamp(0, 1)]
        for layer in self.layers:
            near.append(layer(near[-1], edge_index).clamp(max=1))
        first = [after - before for before, after in pairwise(near)]
        return _SHARPNESS * torch.cat([near[0], *first, 1 - near[-1]], dim=-1)


def random_digraph(nodes: int, probability: float, rng: np.random.Generator) -> IntArray:
    """Return the edges ``[2, E]`` of a directed Erdős–Rényi graph."""
    chosen = rng.random((nodes, nodes)) < probability
    np.fill_diagonal(chosen, False)
    return np.stack(np.nonzero(chosen)).astype(np.int64)


def distances_from(sources: IntArray, edge_index: IntArray, nodes: int) -> FloatArray:
    """Return the distance of each node from each source, ``[sources, nodes]``; may be infinite.

    Examples:
        >>> distances_from(np.array([0]), np.array([[0, 1], [1, 2]]), 4).tolist()
        [[0.0, 1.0, 2.0, inf]]
    """
    ones = np.ones(edge_index.shape[1])
    ends = edge_index.astype(np.int32)  # needed by dijkstra in earlier versions of SciPy
    graph = csr_array((ones, (ends[0], ends[1])), shape=(nodes, nodes))
    return np.asarray(dijkstra(graph, indices=sources, unweighted=True))


def marked_subject(seed: int, each: int, shared: int | None = None, nodes: int = NODES) -> Subject:
    """Return a random graph with marks, and up to ``each`` targets of every distance.

    The targets are nodes with exactly one nearest mark, 1 to 4 hops away. The density of marks and
    the mean number of neighbours do not depend on the number of nodes.
    """
    rng = np.random.default_rng(seed)
    edge_index = random_digraph(nodes, EDGE_PROBABILITY * NODES / nodes, rng)
    marks = rng.choice(nodes, MARKS * nodes // NODES, replace=False)
    x = np.zeros((nodes, 2), dtype=np.float32)
    x[:, 1] = 1
    x[marks] = (1, 0)
    away = distances_from(marks, edge_index, nodes)
    nearest = away.min(axis=0)
    only = (away == nearest).sum(axis=0) == 1
    targets: list[int] = []
    kinds: list[str] = []
    for distance in range(1, DEPTH + 1):
        found = rng.permutation(np.flatnonzero(only & (nearest == distance)))[:each]
        targets += found.tolist()
        kinds += [str(distance)] * len(found)
    causes = {target: int(marks[away[:, target].argmin()]) for target in targets}
    case = Case(MarkDistance(), x, edge_index)
    return Subject(f"marked-{nodes}-{seed}", case, targets, kinds, causes, shared=shared)
