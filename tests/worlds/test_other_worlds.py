"""Models that are not torch modules on a graph: examples for users.

The same graph in every example: node 0 has edges from nodes 1 to 6, and only node 4 has a large
feature.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from pgm_explainer import PGMExplainer

PLANTED = 4
EDGES = np.array([[1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 0, 0, 0, 0, 0, 1, 2, 3]])
PAGE = Path(__file__).parents[2] / "docs" / "other-models.md"


@pytest.fixture
def x() -> np.ndarray:
    x = np.random.default_rng(0).normal(scale=0.05, size=(10, 2))
    x[PLANTED, 0] = 3.0
    return x


@pytest.fixture
def adjacency() -> np.ndarray:
    adjacency = np.zeros((10, 10))
    adjacency[EDGES[1], EDGES[0]] = 1
    return adjacency


def explain(model, x, num_layers=1):
    return PGMExplainer(model, x, EDGES, num_layers=num_layers).explain(0)


def test_a_plain_numpy_function(x, adjacency):
    def model(x):  # [B, N, F] -> [B, N, C]
        received = (adjacency @ x)[..., :1]
        return np.concatenate((1 - received, received), axis=-1)

    assert explain(model, x).nodes[0] == PLANTED


def test_a_numpy_function_of_any_part_of_the_graph(x):
    def model(x, edge_index):  # called on the neighbourhood of node 0 only
        received = np.zeros_like(x[..., :1])
        for source, target in edge_index.T:
            received[:, target] += x[:, source, :1]
        return np.concatenate((1 - received, received), axis=-1)

    assert explain(model, x).nodes[0] == PLANTED


def test_a_dense_adjacency_torch_model(x, adjacency):
    class DenseGCN(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(2, 8), nn.Linear(8, 2)

        def forward(self, x, adjacency):
            return self.second(adjacency @ self.first(adjacency @ x).relu())

    with_self = torch.tensor(adjacency + np.eye(10), dtype=torch.float32)
    gcn = trained(DenseGCN(), with_self)

    @torch.no_grad()
    def model(x):
        return gcn(torch.tensor(x, dtype=torch.float32), with_self)

    assert explain(model, x, num_layers=2).nodes[0] == PLANTED


def trained(gcn: nn.Module, adjacency: torch.Tensor) -> nn.Module:
    """Fit whether the features of the neighbours, and of theirs, sum to more than 1."""
    torch.manual_seed(0)
    for layer in gcn.children():
        layer.reset_parameters()
    x = torch.randn(256, 10, 2)
    labels = ((adjacency @ adjacency @ x)[..., 0] > 1).long()
    optimiser = torch.optim.Adam(gcn.parameters(), lr=0.02)
    for _ in range(150):
        optimiser.zero_grad()
        nn.functional.cross_entropy(gcn(x, adjacency).flatten(0, 1), labels.flatten()).backward()
        optimiser.step()
    return gcn.eval()


@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(), RandomForestClassifier(20, max_depth=6, random_state=0)],
    ids=["logistic regression", "random forest"],
)
def test_a_scikit_learn_pipeline_over_aggregated_features(x, adjacency, classifier):
    def rows(x):  # a row of the table: the node's own features and the sum of its neighbours'
        return np.concatenate((x, adjacency @ x), axis=-1).reshape(-1, 4)

    training = np.random.default_rng(1).normal(size=(100, 10, 2))
    labels = (adjacency @ training)[..., 0].ravel() > 1
    pipeline = make_pipeline(StandardScaler(), classifier).fit(rows(training), labels)

    def model(x):
        return pipeline.predict_proba(rows(x)).reshape(*x.shape[:2], -1)

    assert explain(model, x).nodes[0] == PLANTED


def loads(package: str) -> bool:
    try:
        import_module(package)
    except Exception:  # not installed, or built for another torch
        return False
    return True


def test_the_page_about_other_models_runs(monkeypatch):
    """Every snippet of docs/other-models.md, in order; what they promise they assert."""
    monkeypatch.setenv("DGLBACKEND", "pytorch")
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(snippets) == 7
    namespace: dict[str, object] = {}
    for snippet in snippets:
        if "import dgl" not in snippet or loads("dgl"):
            exec(compile(snippet, PAGE.name, "exec"), namespace)
