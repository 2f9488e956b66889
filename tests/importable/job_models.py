"""What other processes must be able to import: models, explainers, and work for engines."""

from __future__ import annotations

import functools
import os
import signal
import time
from pathlib import Path

import numpy as np

from pgm_explainer import PGMExplainer

NODES = 60
_RNG = np.random.default_rng(3)
_WEIGHTS = (2 * _RNG.normal(size=(3, 5)), 2 * _RNG.normal(size=(5, 3)))
_WHOLE_WEIGHTS = (_RNG.integers(-1, 2, size=(3, 4)), _RNG.integers(-1, 2, size=(4, 1)))
MARKED = 30


def evaluating():
    """Work on Python expressions, so that a test can have a worker do anything."""
    return eval


class Shown:
    """Work with a large array; returns its address."""

    def __init__(self, array):
        self.array = array

    def __call__(self):
        return self.tell

    def tell(self, what):
        if what == "max":
            return float(self.array.max())
        if what == "writeable":
            return self.array.flags.writeable
        lines = Path("/proc/self/maps").read_text().splitlines()
        return any("(deleted)" in line and _size(line) >= self.array.nbytes for line in lines)


def _size(line):
    start, stop = line.split()[0].split("-")
    return int(stop, 16) - int(start, 16)


def ring():
    """Features and edges of a ring with a few shortcuts."""
    rng = np.random.default_rng(1)
    nodes = np.arange(NODES)
    beside = (nodes + 1) % NODES
    shortcuts = rng.integers(0, NODES, size=(2, 5))
    edges = np.concatenate((np.stack((nodes, beside)), np.stack((beside, nodes)), shortcuts), 1)
    return rng.normal(size=(NODES, 3)), edges


def gnn(x, edge_index):
    """Two layers of mean aggregation; sleeps as long as the environment says."""
    time.sleep(float(os.environ.get("JOB_MODELS_SLEEP", "0")))
    adjacency = np.eye(x.shape[1])
    np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
    adjacency /= adjacency.sum(axis=1, keepdims=True)
    for weights in _WEIGHTS:
        x = np.tanh(adjacency @ x @ weights)
    return 3 * x


def whole_ring():
    """The same ring with small whole numbers for features."""
    x, edges = ring()
    return np.round(2 * x), edges


def exact_gnn(x, edge_index):
    """Two layers with exact arithmetic in any order of summation: small integers, then sixteenths.

    The last bits of a real model depend on the kernel and on the batch, but a job must not. Testing
    that needs a model without rounding.
    """
    time.sleep(float(os.environ.get("JOB_MODELS_SLEEP", "0")))
    adjacency = np.eye(x.shape[1])
    np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
    hidden = np.clip(adjacency @ x @ _WHOLE_WEIGHTS[0], -3, 3)
    score = np.clip(adjacency @ hidden @ _WHOLE_WEIGHTS[1], -8, 8)
    return np.concatenate((8 - score, 8 + score), axis=-1) / 16


@functools.cache
def _long_and_thin():
    return np.random.default_rng(0).normal(size=(500, 3000))


def threaded(x, edge_index):
    """A model whose last bits depend on the number of BLAS threads: a long, thin product."""
    left = _long_and_thin()
    bits = (left @ left[0])[: x.shape[2]] + (left @ left[:7].T)[: x.shape[2], 1]
    return gnn(x, edge_index) + 1e-3 * bits


def other_gnn(x, edge_index):
    """Another model of the same shape."""
    return gnn(-x, edge_index)


def fails_near_marked(x, edge_index, nodes):
    """Fails for every target with the marked node in its neighbourhood."""
    if MARKED in nodes:
        raise RuntimeError("no service for the marked node")
    return gnn(x, edge_index)


def deadly_near_marked(x, edge_index, nodes):
    """Kills the worker for every such target."""
    if MARKED in nodes:
        os.kill(os.getpid(), signal.SIGKILL)
    return gnn(x, edge_index)


def explainer(model=gnn, **options):
    options = {"num_layers": 2, "num_samples": 60, **options}
    return PGMExplainer(model, *ring(), **options)


def exact_explainer(model=exact_gnn, **options):
    options = {"num_layers": 2, "num_samples": 60, **options}
    return PGMExplainer(model, *whole_ring(), **options)


def broken_factory():
    raise OSError("weights are not there")


prepared = functools.partial(explainer, seed=1)
