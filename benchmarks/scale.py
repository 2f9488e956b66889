"""A graph of a million nodes: one explanation should cost by its neighbourhood."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pgm_explainer import PGMExplainer

from .measure import Row, seconds

_STRIDES = (1, 13, 101)
_SMALL, _LARGE = 10_000, 1_000_000


def rows() -> Iterator[Row]:
    times, peaks = {}, {}
    for size in (_SMALL, _LARGE):
        explainer = PGMExplainer(three_layers, *circulant(size), num_layers=3)
        explainer.explain(0)  # indexes the edges, once
        times[size] = seconds(partial(explainer.explain, size // 2), repeats=3)
        tracemalloc.start()
        near = len(explainer.explain(size // 2).ranking)
        peaks[size] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    ratio = times[_LARGE] / times[_SMALL]
    yield Row(
        f"one node ({near} within 3 hops), time in 10⁶ nodes / in 10⁴",
        f"{ratio:.2f} ({times[_LARGE]:.2f} s)",
        "flat",
        ratio < 1.5,
    )
    yield Row(
        "the same, peak memory in 10⁶ nodes beside 10⁴",
        f"{peaks[_LARGE]:.0f} MB, {peaks[_SMALL]:.0f} MB",
        "flat",
        peaks[_LARGE] < 1.5 * peaks[_SMALL],
    )


def circulant(size: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """A graph that looks the same from every node, whatever its size."""
    nodes = np.arange(size)
    sources = np.concatenate([nodes] * 2 * len(_STRIDES))
    steps = np.repeat([*_STRIDES, *(-stride for stride in _STRIDES)], size)
    x = np.random.default_rng(0).random((size, 4), dtype=np.float32)
    return x, np.stack((sources, (sources + steps) % size))


def three_layers(x: NDArray[Any], edge_index: NDArray[np.int64]) -> NDArray[Any]:
    """A graph network of three mean-aggregating layers with fixed random weights."""
    batch, nodes, _ = x.shape
    rng = np.random.default_rng(1)
    ones = np.ones(edge_index.shape[1], dtype=x.dtype)
    adjacency = sp.csr_matrix((ones, (edge_index[1], edge_index[0])), shape=(nodes, nodes))
    degree = np.maximum(np.bincount(edge_index[1], minlength=nodes), 1).astype(x.dtype)
    h = x.transpose(1, 0, 2)
    for out in (8, 8, 3):
        weights = rng.normal(size=(h.shape[2], out)).astype(x.dtype) * 2
        h = (adjacency @ h.reshape(nodes, -1)).reshape(nodes, batch, -1) / degree[:, None, None]
        h = np.tanh(h @ weights)
    return (4 * h).transpose(1, 0, 2)
