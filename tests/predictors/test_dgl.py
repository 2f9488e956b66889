"""DGL's own layers through the adapter; run where DGL loads, such as ``dgl==1.1.3``."""

from __future__ import annotations

import os
import pickle
import sys
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from pgm_explainer import InputError, ModelError, PGMExplainer, PGMExplainerError
from pgm_explainer.graph import Graph
from pgm_explainer.predictors.dgl import DglPredictor

os.environ.setdefault("DGLBACKEND", "pytorch")  # else it writes a file into the home folder
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import dgl
        from dgl.nn import AvgPooling, GATConv, GraphConv, MaxPooling, SumPooling
except Exception as error:
    dgl, reason = None, f"DGL does not load ({type(error).__name__}: {error})"
else:
    reason = ""

needs_dgl = pytest.mark.skipif(dgl is None, reason=reason)

NODES, FEATURES, CLASSES = 12, 4, 3


@pytest.fixture
def graph() -> Graph:
    """A random undirected graph without isolated nodes."""
    rng = np.random.default_rng(1)
    ends = np.stack((np.arange(1, NODES), rng.integers(0, np.arange(1, NODES))))
    ends = np.concatenate((ends, [[0, 3], [5, 9]]), axis=1)
    return Graph(np.concatenate((ends, ends[::-1]), axis=1), NODES)


@pytest.fixture
def batch() -> np.ndarray:
    return np.random.default_rng(2).normal(size=(7, NODES, FEATURES))


class Network(nn.Module):
    """Two layers with dropout and batch norm between them, and a readout for a graph task."""

    def __init__(self, first: nn.Module, second: nn.Module, pool: nn.Module | None = None):
        super().__init__()
        self.first, self.second, self.pool = first, second, pool
        self.norm, self.dropout = nn.BatchNorm1d(8), nn.Dropout(0.5)

    def forward(self, graph, x):
        hidden = self.first(graph, x).flatten(1)
        hidden = self.second(graph, self.dropout(self.norm(hidden).relu())).flatten(1)
        graph.ndata["last"] = hidden  # as many a DGL model does, and never clears
        return hidden if self.pool is None else self.pool(graph, hidden)


def make(kind: str) -> Network:
    torch.manual_seed(0)
    if kind == "GAT":
        return Network(GATConv(FEATURES, 4, num_heads=2), GATConv(8, CLASSES, num_heads=1))
    pools = {"sum": SumPooling, "mean": AvgPooling, "max": MaxPooling}
    pool = pools[kind]() if kind in pools else None
    norm = "both" if pool or kind == "GCN" else kind
    return Network(GraphConv(FEATURES, 8, norm=norm), GraphConv(8, CLASSES, norm=norm), pool)


def one_by_one(model: nn.Module, x: np.ndarray, edge_index: np.ndarray) -> np.ndarray:
    """The truth: what a user of DGL would get for each sample alone."""
    model.eval()
    graph = dgl.graph(tuple(torch.tensor(edge_index)), num_nodes=x.shape[1])
    with torch.no_grad():
        return np.stack([model(graph, torch.tensor(each).float()).numpy() for each in x])


@needs_dgl
@pytest.mark.parametrize("kind", ["GCN", "right", "left", "none", "GAT"])
def test_batched_outputs_of_node_models_equal_single_ones(kind, graph, batch):
    model = make(kind)
    predictor = DglPredictor(model)
    scores = predictor(batch, graph.whole)
    assert predictor.batched
    assert scores.shape == (7, NODES, CLASSES)
    truth = one_by_one(model, batch, graph.edge_index)
    np.testing.assert_allclose(scores, truth, rtol=1e-4, atol=1e-5)


@needs_dgl
@pytest.mark.parametrize("pool", ["sum", "mean", "max"])
def test_batched_outputs_of_graph_models_equal_single_ones(pool, graph, batch):
    model = make(pool)
    predictor = DglPredictor(model, "graph")
    scores = predictor(batch, graph.whole)
    assert predictor.batched
    assert scores.shape == (7, CLASSES)
    truth = one_by_one(model, batch, graph.edge_index)[:, 0]
    np.testing.assert_allclose(scores, truth, rtol=1e-4, atol=1e-5)


@needs_dgl
@pytest.mark.parametrize("kind", ["GCN", "GAT"])
def test_a_part_of_a_directed_graph_is_predicted_as_the_whole(kind):
    # A cycle with a chord: the part around node 0 has rim nodes that have lost all incoming edges.
    ring = np.arange(NODES)
    ends = np.concatenate((np.stack((ring, (ring + 1) % NODES)), [[6], [0]]), axis=1)
    graph = Graph(ends, NODES)
    part = graph.cut(np.array([0]), hops=2)
    assert 0 < len(part.nodes) < NODES
    assert len(np.setdiff1d(np.arange(len(part.nodes)), part.edge_index[1]))
    model = make(kind)
    x = np.random.default_rng(3).normal(size=(5, NODES, FEATURES))
    predictor = DglPredictor(model)
    scores = predictor(x[:, part.nodes], part)
    assert predictor.batched
    truth = one_by_one(model, x, ends)[:, 0]
    np.testing.assert_allclose(scores[:, part.positions(np.array([0]))[0]], truth, atol=1e-5)


@needs_dgl
@pytest.mark.parametrize(("kind", "task"), [("GAT", "node"), ("sum", "graph")])
def test_a_model_that_fails_on_the_whole_graph_is_an_error(kind, task, batch):
    part = Graph(np.array([[0, 1], [1, 2]]), NODES).whole
    with pytest.raises(dgl.DGLError, match="0-in-degree"):
        DglPredictor(make(kind), task)(batch, part)


@needs_dgl
@pytest.mark.parametrize("task", ["node", "graph"])
def test_a_model_that_mixes_rows_is_called_one_by_one(task, graph, batch):
    class Centred(nn.Module):
        def forward(self, graph, x):
            x = x - x.mean(dim=0)  # over all nodes, those of other samples too
            return x if task == "node" else (x**3).sum(dim=0, keepdim=True)

    model = Centred()
    predictor = DglPredictor(model, task)
    scores = predictor(batch, graph.whole).numpy()
    assert predictor.batched is False
    truth = batch - batch.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(scores, truth if task == "node" else (truth**3).sum(axis=1))


@needs_dgl
def test_mixing_shows_on_constant_and_on_empty_features(graph):
    class Centred(nn.Module):
        def forward(self, graph, x):
            return x - x.mean(dim=0)

    for value in (0.0, 1.0):
        predictor = DglPredictor(Centred())
        predictor(np.full((1, NODES, FEATURES), value), graph.whole)
        assert predictor.batched is False


@needs_dgl
def test_features_that_are_indices_into_a_table_are_batched(graph):
    class Lookup(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(5, CLASSES)

        def forward(self, graph, x):
            return self.table(x[:, 0].long())

    x = np.random.default_rng(4).integers(0, 5, size=(6, NODES, 1)).astype(float)
    predictor = DglPredictor(Lookup())
    scores = predictor(x, graph.whole)
    assert predictor.batched
    np.testing.assert_array_equal(scores, predictor.module.table.weight.detach()[x[..., 0]])


@needs_dgl
def test_the_mode_of_every_submodule_is_restored(graph, batch):
    model = make("GCN").train()
    model.norm.eval()  # frozen, as in fine-tuning
    modes = [part.training for part in model.modules()]
    running = model.norm.running_mean.clone()
    DglPredictor(model)(batch, graph.whole)
    assert [part.training for part in model.modules()] == modes
    torch.testing.assert_close(model.norm.running_mean, running)
    assert all(parameter.grad is None for parameter in model.parameters())

    def failing(answer):
        raise KeyError("scores")

    with pytest.raises(KeyError):
        DglPredictor(model, output=failing)(batch, graph.whole)
    assert [part.training for part in model.modules()] == modes


@needs_dgl
def test_the_callers_features_are_unchanged(graph, batch):
    class Overwriting(nn.Module):
        def forward(self, graph, x):
            return x.mul_(2)

    batch.flags.writeable = False
    before = batch.copy()
    scores = DglPredictor(Overwriting())(batch, graph.whole)
    np.testing.assert_array_equal(scores, 2 * before)
    np.testing.assert_array_equal(batch, before)


@needs_dgl
def test_the_type_of_the_parameters_is_used(graph, batch):
    model = make("GCN").double()
    assert DglPredictor(model)(batch.astype(np.float32), graph.whole).dtype == torch.float64


@needs_dgl
def test_a_model_may_look_up_data_by_ids(graph):
    weight = torch.rand(graph.edge_index.shape[1])

    class Weighted(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = GraphConv(FEATURES, CLASSES, norm="none")

        def forward(self, graph, x):
            return self.layer(graph, x, edge_weight=weight[graph.edata[dgl.EID]])

    predictor = DglPredictor(Weighted())
    x = np.random.default_rng(5).normal(size=(4, NODES, FEATURES))
    part = graph.cut(np.array([11]), hops=1)
    assert len(part.nodes) < NODES
    whole = predictor(x, graph.whole)
    cut = predictor(x[:, part.nodes], part)
    np.testing.assert_allclose(cut[:, part.positions(np.array([11]))[0]], whole[:, 11], atol=1e-5)


@needs_dgl
@pytest.mark.parametrize("shape", ["column", "flat", "tuple"])
def test_one_score_and_tuples_are_understood(shape, graph, batch):
    class Binary(nn.Module):
        def forward(self, graph, x):
            score = x.sum(dim=1)
            return {"column": score[:, None], "flat": score, "tuple": (None, score)}[shape]

    scores = DglPredictor(Binary())(batch, graph.whole)
    np.testing.assert_allclose(scores, batch.sum(axis=2, keepdims=True))


@needs_dgl
def test_heads_need_an_output_and_the_error_says_so(graph, batch):
    torch.manual_seed(0)
    heads = GATConv(FEATURES, CLASSES, num_heads=2)
    with pytest.raises(ModelError, match=rf"\[{NODES}, 2, 3\].*pass output"):
        DglPredictor(heads)(batch, graph.whole)
    assert DglPredictor(heads, output=lambda h: h.mean(1))(batch, graph.whole).shape[2] == 3


@needs_dgl
def test_a_predictor_can_be_sent_to_another_process(graph, batch):
    predictor = DglPredictor(make("GCN"))
    scores = predictor(batch, graph.whole)
    copy = pickle.loads(pickle.dumps(predictor))
    torch.testing.assert_close(copy(batch, graph.whole), scores)


@needs_dgl
@pytest.mark.parametrize("task", ["node", "graph"])
def test_a_planted_node_is_found(task, graph):
    class Sum(nn.Module):
        """The class is given by the sum of the neighbours' features."""

        def __init__(self):
            super().__init__()
            self.layer = GraphConv(1, 2, norm="none", bias=False)
            self.layer.weight = nn.Parameter(torch.tensor([[-1.0, 1.0]]))
            self.pool = SumPooling()

        def forward(self, graph, x):
            scores = self.layer(graph, x)
            return scores if task == "node" else self.pool(graph, scores)

    x = np.full((NODES, 1), 0.01)
    x[5] = 2.0
    predictor = DglPredictor(Sum(), task)
    explainer = PGMExplainer(predictor, x, graph.edge_index, task=task, num_layers=1)
    assert explainer.explain(0 if task == "node" else None).nodes[0] == 5
    assert predictor.batched


def test_without_dgl_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dgl", None)
    with pytest.raises(PGMExplainerError, match=r"--no-deps dgl==1\.1\.3"):
        DglPredictor(nn.Linear(2, 2))


@needs_dgl
def test_pairs_of_nodes_are_refused(graph, batch):
    with pytest.raises(InputError, match="edge tasks"):
        DglPredictor(make("GCN"))(batch, graph.whole, np.array([[0], [1]]))


@pytest.mark.parametrize(("model", "task"), [(lambda g, x: x, "node"), (nn.Linear(2, 2), "edge")])
def test_what_cannot_be_used_is_an_error(model, task):
    with pytest.raises(InputError):
        DglPredictor(model, task)


@needs_dgl
def test_a_graph_of_dgl_needs_no_arrays(graph):
    torch.manual_seed(0)
    layer = GraphConv(FEATURES, CLASSES)
    made = dgl.graph(tuple(torch.from_numpy(graph.edge_index)), num_nodes=NODES)
    made.ndata["feat"] = torch.rand(NODES, FEATURES)
    options = {"num_layers": 1, "num_samples": 50}
    found = PGMExplainer(DglPredictor(layer), made, **options).explain(3)
    arrays = PGMExplainer(DglPredictor(layer), made.ndata["feat"], graph.edge_index, **options)
    assert found == arrays.explain(3)
