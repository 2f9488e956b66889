"""Fixtures shared by all tests: a small GNN in NumPy, in the three forms a user may pass it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import settings

from pgm_explainer import PGMExplainer

# The same cases on every run and every machine, however slow.
settings.register_profile("deterministic", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("deterministic")

SLOWEST = (
    *("test_kernels.py", "test_load.py", "test_run.py", "test_soak.py", "test_crashes.py"),
    *("test_ray_head.py", "test_parts.py", "test_cora_and_mutagenicity.py", "test_memory.py"),
    *("test_document.py", "test_page.py", "test_ray.py", "test_faithfulness.py", "test_tables.py"),
    *("test_syn6.py", "test_tutorial.py", "test_distinct.py", "test_list.py"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first: started last, one would leave a process idle."""
    ranks = {name: rank for rank, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: ranks.get(item.path.name, len(ranks)))


@dataclass(frozen=True)
class Toy:
    """A two-layer GNN on a random directed graph; ``whole`` and ``part`` are the same model."""

    x: np.ndarray
    edge_index: np.ndarray
    whole: Callable[[np.ndarray], np.ndarray]
    part: Callable[[np.ndarray, np.ndarray], np.ndarray]
    graph_level: Callable[[np.ndarray], np.ndarray]
    num_layers: int = 2


@pytest.fixture(scope="session")
def toy() -> Toy:
    rng = np.random.default_rng(7)
    num_nodes, num_features, hidden, classes = 16, 3, 5, 3
    x = rng.normal(size=(num_nodes, num_features))
    edge_index = rng.integers(0, num_nodes - 1, size=(2, 28))  # the last node is isolated
    first = rng.normal(size=(2, num_features, hidden))
    second = rng.normal(size=(2, hidden, hidden))
    last = 2 * rng.normal(size=(hidden, classes))

    def part(x: np.ndarray, edge_index: np.ndarray) -> np.ndarray:
        adjacency = np.zeros((x.shape[1], x.shape[1]))
        np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
        hidden = x
        for own, neighbours in (first, second):
            hidden = np.tanh(hidden @ own + adjacency @ hidden @ neighbours)
        return hidden @ last

    def whole(x: np.ndarray) -> np.ndarray:
        return part(x, edge_index)

    def graph_level(x: np.ndarray) -> np.ndarray:
        return whole(x).mean(axis=1)

    return Toy(x, edge_index, whole, part, graph_level)


@pytest.fixture(scope="session")
def on_a_path() -> Callable[..., PGMExplainer]:
    """Make explainers of a model that sums over the neighbours, on the path 2 - 1 - 0 - 3 - 4."""
    x = np.array([[1.0], [4.0], [0.0], [2.0], [0.0]])
    edges = np.array([[0, 0, 1, 3, 1, 3, 2, 4], [1, 3, 2, 4, 0, 0, 1, 3]])

    def total(x: np.ndarray, edge_index: np.ndarray) -> np.ndarray:
        total = x[..., 0].copy()
        np.add.at(total.T, edge_index[1], x[:, edge_index[0], 0].T)
        return np.stack([0 * total, total - 4], axis=-1)

    def make(model=total, copies: int = 1, **options) -> PGMExplainer:
        chosen = {"num_layers": 1, "num_samples": 200, **options}
        return PGMExplainer(model, np.tile(x, (copies, 1)), edges, **chosen)

    return make
