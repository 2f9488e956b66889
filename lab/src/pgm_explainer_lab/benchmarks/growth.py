"""Growth of time and memory with the neighbourhood, the samples, the targets and the graph."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pgm_explainer import PGMExplainer

from .measure import Row, seconds

_STRIDES = (1, 13, 101)
_PICTURE = Path("out") / "growth.png"
_MAX_MEMORY = 256 * 2**20

Arrays = tuple[NDArray[np.float32], NDArray[np.int64]]


def rows() -> Iterator[Row]:
    curves = {
        "neighbourhood": _curve((10, 100, 1000, 10_000, 100_000), _by_neighbourhood),
        "samples": _curve((100, 1000, 10_000, 100_000), _by_samples),
        "features": _curve((10, 100, 1000, 10_000), _by_features),
        "targets": _curve((1, 10, 100, 500, 2000), _by_targets),
        "edges of the graph": _curve((10_000, 100_000, 1_000_000, 10_000_000), _by_graph),
    }
    for what, (sizes, times, peaks) in curves.items():
        for size, took, peak in zip(sizes, times, peaks, strict=True):
            yield Row(f"{what}: {size:,}", f"{took:.2f} s, {peak / 2**20:.0f} MB")
        last = _exponent(sizes[-2:], times[-2:])
        yield Row(
            f"growth of time with {what}, {sizes[0]:,} to {sizes[-1]:,}",
            f"exponent {_exponent(sizes, times):.2f}, between the last two {last:.2f}",
        )
    _draw(curves)
    print(f"(plot: {_PICTURE})")


def _curve(
    sizes: Sequence[int], task: Callable[[int], Callable[[], Any]]
) -> tuple[Sequence[int], list[float], list[int]]:
    times, peaks = [], []
    for size in sizes:
        run = task(size)
        run()  # index the edges once
        times.append(seconds(run, repeats=3 if size < 5000 else 1))
        tracemalloc.start()
        run()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return sizes, times, peaks


def _by_neighbourhood(size: int) -> Callable[[], Any]:
    """A star of stars, in which the target has a given number of nodes in its receptive field."""
    edges = np.stack((np.arange(1, size + 1), np.zeros(size, dtype=np.int64)))
    x = np.random.default_rng(0).random((size + 1, 4), dtype=np.float32)
    return partial(_explainer((x, edges), num_layers=1).explain, 0)


def _by_samples(size: int) -> Callable[[], Any]:
    return partial(_explainer(circulant(10_000), num_samples=size).explain, 5000)


def _by_features(size: int) -> Callable[[], Any]:
    _, edges = circulant(2000)
    x = np.random.default_rng(0).random((2000, size), dtype=np.float32)
    return partial(_explainer((x, edges)).explain, 1000)


def _by_targets(size: int) -> Callable[[], Any]:
    return partial(_explainer(circulant(20_000), num_samples=400).explain_many, range(size))


def _by_graph(size: int) -> Callable[[], Any]:
    nodes = size // (2 * len(_STRIDES))
    return partial(_explainer(circulant(nodes)).explain, nodes // 2)


def _explainer(arrays: Arrays, **options: Any) -> PGMExplainer:
    options = {"num_layers": 3, "max_memory": _MAX_MEMORY, **options}
    return PGMExplainer(three_layers, *arrays, **options)


def _exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The slope of a line fitted to the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _draw(curves: dict[str, tuple[Sequence[int], list[float], list[int]]]) -> None:
    import matplotlib.pyplot as plt  # slow to import, and other modules use the graphs only

    figure, panels = plt.subplots(
        1, len(curves), figsize=(3.5 * len(curves), 3.4), layout="constrained"
    )
    for axes, (what, (sizes, times, _)) in zip(panels, curves.items(), strict=True):
        axes.loglog(sizes, times, "o-", color="#0072B2")
        axes.set_title(f"{what}: exponent {_exponent(sizes, times):.2f}", size=10)
        axes.set_xlabel(what)
        axes.set_ylabel("seconds")
        axes.grid(alpha=0.3)
        # A flat curve should look flat.
        axes.set_ylim(min(times) / 2, max(max(times), 10 * min(times)) * 2)
    _PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(_PICTURE, dpi=100)
    plt.close(figure)


def circulant(size: int) -> Arrays:
    """A circulant graph: it looks the same from every node, for any size."""
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
