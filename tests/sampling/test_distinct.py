"""Equal samples of a graph are passed to the model once."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, global_add_pool

from pgm_explainer import Edges, PGMExplainer, explain_graphs
from pgm_explainer.sampling import distinct
from pgm_explainer.sampling.distinct import _Distinct

SIZES = (3, 5, 4)
OPTIONS = {"num_samples": 400, "perturb_probability": 0.3, "structure": None, "progress": False}
NO_SHARING = {"samples_per_call": 1, "max_memory": 1}


class Counting(torch.nn.Module):
    """Scores of graphs from whole numbers, so that sums have no rounding errors."""

    def __init__(self):
        super().__init__()
        self.layer = GraphConv(2, 2, bias=False)
        for at, weights in enumerate(self.layer.parameters()):
            weights.data = torch.tensor([[1.0, 3.0], [2.0, -1.0 - at]])
        self.graphs = 0

    def forward(self, x, edge_index, edge_weight=None, batch=None):
        batch = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
        self.graphs += int(batch.max()) + 1
        first = torch.arange(len(x)) == torch.searchsorted(batch, batch)
        x = self.layer(x, edge_index, edge_weight) * (1 + first[:, None])
        return global_add_pool(x, batch) / 16


def molecules():
    rng = np.random.default_rng(0)
    for size in SIZES:
        ends = torch.tensor([[*range(size - 1)], [*range(1, size)]])
        yield Data(
            x=torch.eye(2)[torch.from_numpy(rng.integers(2, size=size))],
            edge_index=torch.cat((ends, ends.flip(0)), dim=1),
            edge_weight=torch.from_numpy(rng.integers(1, 4, size=2 * size - 2)).float(),
        )


@pytest.mark.parametrize(
    "parts", ["nodes", "edges", Edges("rewire"), Edges("attributes"), ["nodes", "edges"]]
)
def test_the_effects_are_those_of_one_call_for_each_sample(parts):
    model, graphs = Counting(), [*molecules()]
    options = {**OPTIONS, "parts": parts}
    each_sample = explain_graphs(model, graphs, **options, **NO_SHARING)
    calls, model.graphs = model.graphs, 0
    shared = explain_graphs(model, graphs, **options)
    assert calls >= 400 * len(SIZES)
    assert model.graphs < 0.8 * calls
    for one, other in zip(each_sample, shared, strict=True):
        assert one.effects.parts == other.effects.parts
        np.testing.assert_array_equal(one.effects.effect, other.effects.effect)
        np.testing.assert_array_equal(one.effects.log_p, other.effects.log_p)


@pytest.mark.parametrize("parts", ["nodes", "edges", Edges("rewire")])
@pytest.mark.parametrize("weak", [lambda values, places: 0, lambda values, places: values % 2])
def test_different_samples_with_equal_keys_are_told_apart(parts, weak, monkeypatch):
    model, graphs = Counting(), [*molecules()]
    options = {**OPTIONS, "parts": parts}
    expected = explain_graphs(model, graphs, **options)

    def hashed(values, places):
        return np.full(np.shape(places), weak(values, places)).astype(np.uint64)

    monkeypatch.setattr(distinct, "hashed", hashed)
    for one, other in zip(expected, explain_graphs(model, graphs, **options), strict=True):
        np.testing.assert_array_equal(one.effects.effect, other.effects.effect)


def test_a_graph_with_few_different_samples_needs_few_calls():
    calls = []

    def model(x):
        calls.append(len(x))
        return x[..., 0] @ np.array([[1.0], [2.0], [4.0]])

    x, edge_index = np.array([[1.0], [2.0], [4.0]]), np.array([[0, 1], [1, 2]])
    options = {**OPTIONS, "perturbation": "zero", "scores": "values", "task": "graph"}
    found = PGMExplainer(model, x, edge_index, **options, num_layers=1).samples([None])
    assert sum(calls) < 40  # 2**3 different samples, and a few to check the model
    values = found.outcome("graph").values
    codes = found.table.codes([0, 1, 2])
    np.testing.assert_array_equal(values, (1 - codes) @ [1.0, 4.0, 16.0])


def test_slots_hold_every_distinct_key_once():
    keys = np.random.default_rng(0).integers(7, size=(50, 3)).astype(np.uint64)
    keys[:, 2] = 1
    found = _Distinct.of(keys)
    for graph in range(3):
        different = len(np.unique(keys[:, graph]))
        assert found.slot[:, graph].max() + 1 == different
        slot = found.slot[:, graph]
        np.testing.assert_array_equal(keys[found.source[slot, graph], graph], keys[:, graph])
        owners = np.flatnonzero(found.own[:, graph] >= 0)
        assert sorted(found.own[owners, graph]) == [*range(different)]
        np.testing.assert_array_equal(found.source[found.own[owners, graph], graph], owners)
