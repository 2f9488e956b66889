"""The bootstrap: how often an edge is found in resampled data, and networks of such edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .dag import DAG
from .equivalence import cpdag

__all__ = ["averaged_dag", "edge_weights", "resampled_rows"]


def resampled_rows(num_samples: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each resample, drawn with replacement.

    A resample depends only on the seed and its own number.
    """
    for at in range(resamples):
        yield np.random.default_rng([seed, at]).integers(0, num_samples, num_samples)


def edge_weights(dags: Sequence[DAG], leaf: bool = False) -> NDArray[np.float64]:
    """Return the share of networks with each edge, as ``[parent, child]``.

    An edge that is undirected in the equivalence class of a network counts half for each direction.
    So the share of networks with an edge of either direction is the sum of both entries.

    Args:
        dags: networks of the same variables.
        leaf: whether the last variable is a leaf by construction, so that the directions of its
            edges say nothing about those of other edges.

    Examples:
        >>> edge_weights([DAG(3, [(0, 2), (1, 2)]), DAG(3, [(0, 2)])]).tolist()
        [[0.0, 0.0, 0.75], [0.0, 0.0, 0.5], [0.25, 0.0, 0.0]]
    """
    size = dags[0].num_variables
    return np.asarray(sum(_weights(dag, leaf) for dag in dags) / len(dags)).reshape(size, size)


@lru_cache(maxsize=1024)
def _weights(dag: DAG, leaf: bool) -> NDArray[np.float64]:
    """Return the weights of one network; cached, because small networks recur."""
    size = dag.num_variables
    weights = np.zeros((size, size))
    inner = size - leaf
    found = cpdag(DAG(inner, [edge for edge in dag.edges if max(edge) < inner]))
    for parent, child in (*found.directed, *(edge for edge in dag.edges if max(edge) >= inner)):
        weights[parent, child] = 1.0
    for one, other in found.undirected:
        weights[one, other] = weights[other, one] = 0.5
    return weights


def averaged_dag(
    weights: NDArray[np.float64], threshold: float, max_parents: int | None = None
) -> DAG:
    """Return the network of the edges that are more frequent than the threshold.

    The most frequent edge comes first, in its more frequent direction, or towards the larger
    variable in ties. An edge that would close a cycle is reversed, and left out if that does not
    help or would exceed ``max_parents``.

    Examples:
        >>> import numpy as np
        >>> averaged_dag(np.array([[0, 0.3, 0.1], [0.6, 0, 0], [0.1, 0, 0]]), threshold=0.5).edges
        ((1, 0),)
    """
    size = len(weights)
    most = size if max_parents is None else max_parents
    share = np.round(weights + weights.T, 9)
    pairs = [(u, v) for u in range(size) for v in range(u + 1, size) if share[u, v] > threshold]
    pairs.sort(key=lambda pair: (-share[pair], pair))
    reaches = np.eye(size, dtype=bool)
    parents = np.zeros(size, dtype=np.int64)
    edges = []
    for u, v in pairs:
        backwards = weights[v, u] > weights[u, v] + 1e-9
        for parent, child in ((v, u), (u, v)) if backwards else ((u, v), (v, u)):
            if not reaches[child, parent] and parents[child] < most:
                edges.append((parent, child))
                parents[child] += 1
                reaches |= reaches[:, [parent]] & reaches[[child]]
                break
    return DAG(size, edges)
