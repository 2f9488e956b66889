"""Memory for 1,000 targets in a graph of two million nodes and twenty million edges.

``python -m pgm_explainer_lab.benchmarks.million [--nodes 2000000] [--targets 1000]``. All runs in
one process, and all of its memory counts: Python, the libraries and the graph.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgm_explainer import PGMExplainer, explain_dataset

from .measure import Row

_DEGREE, _FEATURES, _NEAR = 10, 16, 40
_FAR = 1e-3
_WEIGHTS = np.random.default_rng(2).normal(size=(2, _FEATURES, _FEATURES)).astype(np.float32)


def make_graph(nodes: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return a small-world graph: edges to nearby nodes, and one in a thousand to a random node."""
    rng = np.random.default_rng(0)
    edges = np.empty((2, nodes * _DEGREE), dtype=np.int64)
    block = 1 << 20
    for start in range(0, edges.shape[1], block):
        stop = min(start + block, edges.shape[1])
        target = np.arange(start, stop) // _DEGREE
        steps = rng.integers(-_NEAR, _NEAR + 1, size=stop - start)
        far = rng.random(stop - start) < _FAR
        steps[far] = rng.integers(0, nodes, size=far.sum())
        edges[0, start:stop] = (target + steps) % nodes
        edges[1, start:stop] = target
    return rng.random((nodes, _FEATURES), dtype=np.float32), edges


def model(x: NDArray[Any], edge_index: NDArray[np.int64]) -> NDArray[Any]:
    """Two layers of mean aggregation."""
    import scipy.sparse as sp

    nodes = x.shape[1]
    degree = np.maximum(np.bincount(edge_index[1], minlength=nodes), 1)
    weights = (1 / degree)[edge_index[1]].astype(np.float32)
    mean = sp.csr_array((weights, (edge_index[1], edge_index[0])), shape=(nodes, nodes))
    h = x.transpose(1, 0, 2)
    for each in _WEIGHTS:
        h = np.tanh((mean @ h.reshape(nodes, -1)).reshape(h.shape) @ each)
    return h.transpose(1, 0, 2)[..., :3] * 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--targets", type=int, default=1000)
    options = parser.parse_args()
    x, edges = make_graph(options.nodes)
    own = (x.nbytes + edges.nbytes) / 2**20
    print(
        f"graph: {len(x):,} nodes, {edges.shape[1]:,} edges, {own:.0f} MB, made with {_peak():.0f}"
    )
    targets = np.random.default_rng(1).choice(options.nodes, options.targets, replace=False)
    folder = tempfile.mkdtemp()
    started = time.perf_counter()
    try:
        explainer = PGMExplainer(model, x, edges, num_layers=2, max_memory="128MB")
        data = explain_dataset(explainer, targets, folder, shard_size=50)
        failed = len(data.failures())
    finally:
        shutil.rmtree(folder)
    rate = options.targets / (time.perf_counter() - started)
    row = Row(
        f"{options.targets:,} targets of {options.nodes:,} nodes and {edges.shape[1]:,} edges",
        f"peak {_peak():.0f} MB, {_peak() / own:.2f} times the graph's arrays ({own:.0f} MB); "
        f"{rate:.1f} targets a second, {failed} failed",
    )
    print(row)
    return 1 if failed else 0


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    raise SystemExit(main())
