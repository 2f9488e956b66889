"""Check ``max_memory`` under load: the peak memory of each case in a separate process.

``pgm-explainer bench load`` measures all cases, and
``python -m pgm_explainer_lab.benchmarks.load hub 0.1 32`` measures one of them in this process, at
a tenth of its size and with 32 MB for ``max_memory``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pgm_explainer import PGMExplainer, explain_graphs

from .growth import circulant, three_layers
from .measure import Row

MEGABYTE = 2**20
_SLACK = 200 * MEGABYTE
"""Allowance beyond the bound for constant memory: code, caches, the model's arrays."""

Run = Callable[[], Any]


def rows() -> Iterator[Row]:
    for name, (_, bound) in CASES.items():
        command = [sys.executable, "-W", "ignore", "-m", "pgm_explainer_lab.benchmarks.load", name]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        grown, seconds = map(float, run.stdout.split()[-2:])
        yield Row(
            f"load, {name}: memory added, max_memory={bound // MEGABYTE} MB",
            f"{grown / MEGABYTE:.0f} MB ({seconds:.0f} s of CPU)",
        )


def allowed(bound: int) -> int:
    """Return how much memory a process may use beyond its initial memory."""
    return bound + bound // 2 + _SLACK


def _hub(
    size: float, bound: int, samples: int, layers: int = 1, torch_model: bool = False
) -> Iterator[Run]:
    """A star: one node connected to 50,000 others in both directions."""
    leaves = int(50_000 * size)
    edges = _star(leaves)
    x = np.random.default_rng(0).random((leaves + 1, 4), dtype=np.float32)
    model = _gcn(4, layers) if torch_model else _mean_model(4, 3, layers)
    explainer = PGMExplainer(
        model, x, edges, num_layers=layers, num_samples=samples, max_memory=bound
    )
    yield partial(explainer.explain, 0)


def _beside_hub(size: float, bound: int, samples: int = 100) -> Iterator[Run]:
    """Targets with an edge from a hub of 50,000 nodes."""
    edges = _star(50_000)
    x = np.random.default_rng(0).random((50_001, 4), dtype=np.float32)
    explainer = PGMExplainer(
        _mean_model(4, 3, 2), x, edges, num_layers=2, num_samples=samples, max_memory=bound
    )
    yield partial(explainer.explain_many, range(1, 1 + int(300 * size)))


def _classes(size: float, bound: int, most: int = 5000, torch_model: bool = False) -> Iterator[Run]:
    """A thousand classes of 5,000 nodes."""
    nodes = int(most * size)
    edges = np.stack((np.arange(1, nodes), np.zeros(nodes - 1, dtype=np.int64)))
    x = np.random.default_rng(0).random((nodes, 4), dtype=np.float32)
    model = _gcn(4, 1, 1000) if torch_model else _mean_model(4, 1000, 1)
    explainer = PGMExplainer(model, x, edges, num_layers=1, num_samples=50, max_memory=bound)
    yield partial(explainer.explain, 0)


def _features(size: float, bound: int, perturbation: str = "auto", p: float = 0.1) -> Iterator[Run]:
    """Ten thousand features of a thousand nodes."""
    _, edges = circulant(1000)
    x = np.random.default_rng(0).random((1000, int(10_000 * size)), dtype=np.float32)
    explainer = PGMExplainer(
        _mean_model(x.shape[1], 3, 2),
        x,
        edges,
        num_layers=2,
        num_samples=200,
        perturbation=perturbation,
        perturb_probability=p,
        max_memory=bound,
    )
    yield partial(explainer.explain_many, range(0, 1000, 10))


def _which_features(size: float, bound: int) -> Iterator[Run]:
    """Select features among ten thousand, for a few nodes."""
    _, edges = circulant(200)
    x = np.random.default_rng(0).random((200, int(10_000 * size)), dtype=np.float32)
    explainer = PGMExplainer(
        _mean_model(x.shape[1], 3, 1), x, edges, num_layers=1, num_samples=1000, max_memory=bound
    )
    explanation = explainer.explain(5)
    yield partial(explainer.explain_features, explanation)


def _targets(size: float, bound: int) -> Iterator[Run]:
    """Twenty thousand targets in one call."""
    count = int(20_000 * size)
    x, edges = circulant(count)
    explainer = PGMExplainer(
        three_layers, x, edges, num_layers=3, hops=1, num_samples=400, max_memory=bound
    )
    yield partial(explainer.explain_many, range(count))


def _samples(size: float, bound: int) -> Iterator[Run]:
    """A million samples of one target."""
    x, edges = circulant(2000)
    explainer = PGMExplainer(
        _mean_model(4, 3, 1),
        x,
        edges,
        num_layers=1,
        num_samples=int(1_000_000 * size),
        max_memory=bound,
    )
    yield partial(explainer.explain, 1000)


def _samples_of_hub(size: float, bound: int, p: float = 0.1) -> Iterator[Run]:
    """A million samples of a node with a hundred neighbours, all of which matter."""
    edges = _star(100)
    x = np.random.default_rng(0).random((101, 4), dtype=np.float32)
    explainer = PGMExplainer(
        _mean_model(4, 3, 1),
        x,
        edges,
        num_layers=1,
        num_samples=int(1_000_000 * size),
        perturb_probability=p,
        max_memory=bound,
    )
    yield partial(explainer.explain, 0)


def _samples_of_targets(size: float, bound: int) -> Iterator[Run]:
    """A quarter of a million samples of forty targets."""
    x, edges = circulant(500)
    explainer = PGMExplainer(
        _mean_model(4, 3, 1),
        x,
        edges,
        num_layers=1,
        num_samples=int(250_000 * size),
        max_memory=bound,
    )
    yield partial(explainer.explain_many, range(40))


def _graph(size: float, bound: int) -> Iterator[Run]:
    """A whole graph of 200,000 nodes."""
    nodes = int(200_000 * size)
    x, edges = circulant(nodes)
    one = _mean_model(4, 3, 1)

    def model(x: NDArray[Any], edge_index: NDArray[np.int64]) -> NDArray[Any]:
        return one(x, edge_index).mean(axis=1)

    explainer = PGMExplainer(model, x, edges, task="graph", num_samples=1000, max_memory=bound)
    yield explainer.explain


def _edges(size: float, bound: int, parts: Any = "edges") -> Iterator[Run]:
    """The edges of a hub of 20,000 nodes as parts."""
    leaves = int(20_000 * size)
    x = np.random.default_rng(0).random((leaves + 1, 4), dtype=np.float32)
    explainer = PGMExplainer(
        _mean_model(4, 3, 1),
        x,
        _star(leaves),
        num_layers=1,
        num_samples=300,
        parts=parts,
        max_memory=bound,
    )
    yield partial(explainer.explain, 0)


def _many_graphs(size: float, bound: int) -> Iterator[Run]:
    """Two thousand graphs of thirty nodes."""
    x, edges = circulant(30)
    graphs = [(x + at % 7, edges) for at in range(int(2000 * size))]
    one = _mean_model(x.shape[1], 3, 1)

    def model(x: NDArray[Any], edge_index: NDArray[np.int64]) -> NDArray[Any]:
        return one(x, edge_index).mean(axis=1)

    yield partial(explain_graphs, model, graphs, num_samples=100, max_memory=bound)


def _star(leaves: int) -> NDArray[np.int64]:
    others, centre = np.arange(1, leaves + 1), np.zeros(leaves, dtype=np.int64)
    return np.concatenate((np.stack((others, centre)), np.stack((centre, others))), axis=1)


def _mean_model(features: int, classes: int, layers: int) -> Callable[..., NDArray[Any]]:
    """A graph network of mean-aggregating layers in NumPy, called on one sample at a time."""
    rng = np.random.default_rng(1)
    widths = [features, *[8] * (layers - 1), classes]
    weights = [
        rng.normal(size=shape, scale=3 / shape[0] ** 0.5).astype(np.float32)
        for shape in pairwise(widths)
    ]

    def model(x: NDArray[Any], edge_index: NDArray[np.int64]) -> NDArray[Any]:
        nodes = x.shape[1]
        ones = np.ones(edge_index.shape[1], dtype=x.dtype)
        adjacency = sp.csr_matrix((ones, (edge_index[1], edge_index[0])), shape=(nodes, nodes))
        degree = np.maximum(np.bincount(edge_index[1], minlength=nodes), 1).astype(x.dtype)
        scores = np.empty((len(x), nodes, classes), dtype=x.dtype)
        for at, h in enumerate(x):
            for weight in weights:
                h = (adjacency @ (h @ weight)) / degree[:, None] + h @ weight
                h = np.tanh(h)
            scores[at] = 4 * h
        return scores

    return model


def _gcn(features: int, layers: int, classes: int = 3) -> Any:
    import torch
    from torch_geometric.nn import GCN

    torch.manual_seed(0)
    torch.set_num_threads(1)
    return GCN(features, 16, num_layers=layers, out_channels=classes)


Case = Callable[[float, int], Iterator[Run]]
CASES: dict[str, tuple[Case, int]] = {
    "hub": (partial(_hub, samples=3000), 100 * MEGABYTE),
    "hub, more samples": (partial(_hub, samples=10_000), 100 * MEGABYTE),
    "hub, 3 layers": (partial(_hub, samples=1000, layers=3), 100 * MEGABYTE),
    "hub, GCN": (partial(_hub, samples=1000, torch_model=True), 100 * MEGABYTE),
    "hub, GCN, 3 layers": (
        partial(_hub, samples=1000, layers=3, torch_model=True),
        100 * MEGABYTE,
    ),
    "beside a hub": (_beside_hub, 100 * MEGABYTE),
    "classes": (_classes, 64 * MEGABYTE),
    "classes, GCN": (partial(_classes, most=2000, torch_model=True), 64 * MEGABYTE),
    "features": (_features, 64 * MEGABYTE),
    "features, noise": (partial(_features, perturbation="uniform", p=0.9), 64 * MEGABYTE),
    "which features": (_which_features, 64 * MEGABYTE),
    "targets": (_targets, 100 * MEGABYTE),
    "samples": (_samples, 64 * MEGABYTE),
    "samples of a hub": (_samples_of_hub, 64 * MEGABYTE),
    "samples of a hub, half perturbed": (partial(_samples_of_hub, p=0.5), 64 * MEGABYTE),
    "samples of many targets": (_samples_of_targets, 64 * MEGABYTE),
    "graph": (_graph, 64 * MEGABYTE),
    "edges of a hub": (_edges, 64 * MEGABYTE),
    "nodes and edges of a hub": (partial(_edges, parts=["nodes", "edges"]), 64 * MEGABYTE),
    "graphs": (_many_graphs, 64 * MEGABYTE),
}


def grown(run: Run) -> int:
    """Return the peak memory of a run in bytes, minus the memory used before.

    Linux only. ``ru_maxrss`` is not usable: a new process inherits it from its parent.
    """
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = _resident("VmRSS")
    held = run()
    after = _resident("VmHWM")
    del held
    return after - before


def _resident(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    line = next(each for each in status.splitlines() if each.startswith(field))
    return int(line.split()[1]) * 1024


def main(name: str, size: str = "1", megabytes: str = "") -> None:
    case, bound = CASES[name]
    run = next(case(float(size), int(megabytes) * MEGABYTE if megabytes else bound))
    # A small run first, to exclude the one-time memory of libraries.
    x, edges = circulant(50)
    PGMExplainer(three_layers, x, edges, num_layers=1, num_samples=50).explain(7)
    started = time.process_time()
    print(grown(run), time.process_time() - started)


if __name__ == "__main__":
    main(*sys.argv[1:])
