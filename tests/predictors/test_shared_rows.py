"""Wide features: rows that are equal in many samples are multiplied by weights once."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch import nn  # noqa: E402
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE  # noqa: E402

from pgm_explainer import PGMExplainer  # noqa: E402
from pgm_explainer.graph import Graph  # noqa: E402
from pgm_explainer.predictors import SharedRows  # noqa: E402
from pgm_explainer.predictors.torch_module import TorchModulePredictor  # noqa: E402
from pgm_explainer.predictors.torch_rows import RowTensor  # noqa: E402
from pgm_explainer.sampling import generate  # noqa: E402

NODES, FEATURES = 30, 300


class InPlace(nn.Module):
    """Changes its features in place before their product with weights."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCN(FEATURES, 8, 2, 3)

    def forward(self, x, edge_index):
        return self.conv(x.mul_(2.0), edge_index)


MODELS = {
    "GAT": lambda: GAT(FEATURES, 8, 2, 3, heads=2),
    "GCN": lambda: GCN(FEATURES, 8, 2, 3),
    "SAGE": lambda: GraphSAGE(FEATURES, 8, 2, 3),
    "GIN": lambda: GIN(FEATURES, 8, 2, 3),
    "in place": InPlace,
}
SAVES = {"GAT", "GCN"}


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    x = (rng.random((NODES, FEATURES)) < 0.05).astype(np.float32)
    return x, rng.integers(0, NODES, size=(2, 60))


def make(name):
    torch.manual_seed(0)
    return MODELS[name]().eval()


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_whole_matrix(name, graph):
    x, edge_index = graph
    predictor = TorchModulePredictor(make(name))
    part = Graph(edge_index, NODES).whole
    rows = SharedRows(x, np.random.default_rng(1).integers(0, NODES, size=(5, NODES)))
    assert predictor.saves_on_rows(rows, part) == (name in SAVES)
    dense = predictor(rows.dense(), part).numpy()
    np.testing.assert_allclose(predictor.on_rows(rows, part).numpy(), dense, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("options", [{}, {"own_predictions": False}])
def test_explanations_are_those_of_the_whole_matrix(name, options, graph, monkeypatch):
    def explain():
        return PGMExplainer(make(name), *graph, num_samples=300, **options).explain(3)

    shared = explain()
    monkeypatch.setattr(generate, "_WIDE", 10**9)
    assert explain() == shared


@pytest.mark.parametrize(
    ("options", "saves"),
    [
        ({}, True),
        ({"perturbation": "substitute"}, True),
        ({"perturbation": "zero"}, False),
        ({"features": [0, 1]}, False),
    ],
)
def test_rows_are_shared_only_where_they_are_rows_of_the_data(graph, options, saves, monkeypatch):
    calls = []
    real = TorchModulePredictor._on_rows
    monkeypatch.setattr(
        TorchModulePredictor, "_on_rows", lambda self, *a: calls.append(1) or real(self, *a)
    )
    PGMExplainer(make("GCN"), *graph, num_samples=50, **options).explain(3)
    assert bool(calls) == saves


def test_a_product_does_not_need_the_whole_matrix():
    table, weights = torch.randn(4, 6), torch.randn(6, 2)
    rows = RowTensor(table, torch.tensor([3, 0, 3, 3, 1]))
    found = rows @ weights
    torch.testing.assert_close(found, table[[3, 0, 3, 3, 1]] @ weights)
    assert not rows.was_created


def test_features_are_not_changed_in_place():
    rows = RowTensor(torch.ones(2, 3), torch.tensor([0, 1]))
    with pytest.raises(NotImplementedError):
        rows.mul_(2.0)


def test_a_summand_for_each_row_is_added_to_its_row():
    table, index = torch.randn(4, 6), torch.tensor([3, 0, 1, 2])
    summand, weights = torch.randn(4, 2), torch.randn(6, 2)
    found = torch.addmm(summand, RowTensor(table, index), weights)
    torch.testing.assert_close(found, summand + table[index] @ weights)


class SeldomInPlace(nn.Module):
    """Changes its features in place only if some of them are large."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Linear(FEATURES, 3)

    def forward(self, x, edge_index):
        scores = self.weights(x)
        return scores if scores.max() < 100 else self.weights(x.mul_(0.5))


def test_a_model_that_changes_features_only_in_some_samples(graph):
    x, edge_index = graph
    predictor = TorchModulePredictor(SeldomInPlace())
    part = Graph(edge_index, NODES).whole
    table = np.concatenate((x, 1e4 * x))
    rows = SharedRows(table, np.arange(NODES)[None].repeat(5, axis=0))
    assert predictor.saves_on_rows(rows, part)
    large = SharedRows(table, rows.index + NODES)
    dense = predictor(large.dense(), part).numpy()
    np.testing.assert_allclose(predictor.on_rows(large, part).numpy(), dense, rtol=1e-4)
    assert not predictor.saves_on_rows(rows, part)
