"""Messages of all samples at once: the same scores as one sample at a time, and no side effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric.nn")

from pgm_explainer import PGMExplainer  # noqa: E402
from pgm_explainer.errors import ModelError  # noqa: E402
from pgm_explainer.graph import Graph, SampledEdges  # noqa: E402
from pgm_explainer.predictors import SharedRows  # noqa: E402
from pgm_explainer.predictors.torch_call import ModuleCall  # noqa: E402
from pgm_explainer.predictors.torch_module import TorchModulePredictor  # noqa: E402

NODES, WIDTH, CLASSES, SAMPLES = 40, 6, 3, 7


def graph(seed: int = 0) -> Graph:
    """A random graph with self-loops, duplicate edges and nodes without edges."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(NODES - 3, size=(2, 60))
    loops = np.array([[1, 2, 2], [1, 2, 2]])
    return Graph(np.concatenate((ends, ends[:, :9], loops), axis=1), NODES)


def features(samples: int = SAMPLES) -> Any:
    return np.random.default_rng(1).normal(size=(samples, NODES, WIDTH)).astype(np.float32)


def basic(kind: str, **options: Any) -> Any:
    torch.manual_seed(0)
    return getattr(pyg.models, kind)(WIDTH, 8, 3, CLASSES, **options).eval()


class Two(torch.nn.Module):
    """Two layers of any kind; ``skip`` adds what went in."""

    def __init__(self, first: Any, second: Any, skip: bool = False) -> None:
        super().__init__()
        self.first, self.second, self.skip = first, second, skip

    def forward(self, x: Any, edge_index: Any) -> Any:
        hidden = self.first(x, edge_index).relu()
        return self.second(hidden + x if self.skip else hidden, edge_index)


def two(layer: Any, **options: Any) -> Two:
    torch.manual_seed(0)
    return Two(layer(WIDTH, WIDTH, **options), layer(WIDTH, CLASSES, **options)).eval()


MODELS = {
    "GCN": lambda: basic("GCN"),
    "GCN, improved": lambda: two(pyg.GCNConv, improved=True),
    "GCN, no loops": lambda: two(pyg.GCNConv, add_self_loops=False),
    "GCN, not normalised": lambda: two(pyg.GCNConv, normalize=False),
    "SAGE": lambda: basic("GraphSAGE"),
    "SAGE, sum": lambda: two(pyg.SAGEConv, aggr="sum"),
    "SAGE, projected": lambda: two(pyg.SAGEConv, project=True, normalize=True),
    "GIN": lambda: basic("GIN", norm="batch_norm"),
    "GraphConv": lambda: two(pyg.GraphConv, aggr="mean"),
    "GAT": lambda: basic("GAT"),
    "GAT, heads": lambda: basic("GAT", heads=4),
    "GAT, no loops": lambda: two(pyg.GATConv, add_self_loops=False, concat=False, heads=2),
    "mixed": lambda: Two(pyg.GATConv(WIDTH, 8), pyg.GCNConv(8, CLASSES)).eval(),
}


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_single_samples(name: str) -> None:
    model, part, x = MODELS[name](), graph().whole, features()
    single = TorchModulePredictor(model, batching="single")(x.copy(), part)
    predictor = TorchModulePredictor(model)
    assert torch.allclose(predictor(x.copy(), part), single, atol=1e-5)
    assert predictor.used == "shared"
    for nodes in (np.array([5]), np.array([0, 7, 30]), np.array([39])):
        assert predictor.saves_on_nodes(x, part, nodes)
        some = predictor.of_nodes(x.copy(), part, nodes)
        assert torch.allclose(some, single[:, nodes], atol=1e-5)
        assert predictor.size(part, nodes)[0] < NODES


def without_loops() -> Graph:
    every = graph()
    return Graph(every.edge_index[:, every.edge_index[0] != every.edge_index[1]], NODES)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("loops", [False, True])
def test_samples_that_lack_edges_share_the_others(name: str, loops: bool) -> None:
    model, part, x = MODELS[name](), (graph() if loops else without_loops()).whole, features()
    kept = np.random.default_rng(2).random((SAMPLES, len(part.edges))) < 0.6
    kept[2] = False  # a sample without edges
    edges = SampledEdges(kept)
    expected = TorchModulePredictor(model, batching="single").on_edges(x.copy(), part, edges)
    predictor = TorchModulePredictor(model)
    assert torch.allclose(predictor.on_edges(x.copy(), part, edges), expected, atol=1e-5)
    for nodes in (np.array([5]), np.array([0, 7, 30]), np.array([39])):
        assert predictor.saves_on_nodes(x, part, nodes, edges)
        some = predictor.of_nodes(x.copy(), part, nodes, edges)
        assert torch.allclose(some, expected[:, nodes], atol=1e-5)
        assert predictor.size(part, nodes, same_edges=False)[0] < NODES


def test_models_that_use_the_edges_otherwise_do_not_share_them() -> None:
    class Degrees(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = pyg.SAGEConv(WIDTH, CLASSES)

        def forward(self, x: Any, edge_index: Any) -> Any:
            degrees = torch.bincount(edge_index[1], minlength=len(x))[:, None]
            return self.layer(x, edge_index) + degrees

    torch.manual_seed(0)
    model, part, x = Degrees().eval(), without_loops().whole, features()
    edges = SampledEdges(np.random.default_rng(2).random((SAMPLES, len(part.edges))) < 0.9)
    expected = TorchModulePredictor(model, batching="single").on_edges(x.copy(), part, edges)
    predictor = TorchModulePredictor(model)
    assert not predictor.saves_on_nodes(x, part, np.array([5]), edges)
    assert torch.allclose(predictor.on_edges(x.copy(), part, edges), expected, atol=1e-5)


def test_removed_and_other_edges_of_one_subgraph_are_batched_separately() -> None:
    model, part, x = basic("GCN"), without_loops().whole, features()
    predictor, single = TorchModulePredictor(model), TorchModulePredictor(model, batching="single")
    rng = np.random.default_rng(2)
    kept = rng.random((SAMPLES, len(part.edges))) < 0.6
    ends = rng.integers(NODES, size=(SAMPLES, 2, len(part.edges)))
    for edges in (SampledEdges(kept), SampledEdges(kept, ends), SampledEdges(kept)):
        found = predictor.on_edges(x.copy(), part, edges)
        assert torch.allclose(found, single.on_edges(x.copy(), part, edges), atol=1e-5)


@pytest.mark.parametrize("kind", ["GCN", "GIN", "GAT"])
def test_graphs_that_lack_edges_share_the_others(kind: str) -> None:
    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = basic(kind)

        def forward(self, x: Any, edge_index: Any, batch: Any = None) -> Any:
            return pyg.global_add_pool(self.layers(x, edge_index), batch)

    model, part, x = Pooled().eval(), without_loops().whole, features(400)
    edges = SampledEdges(np.random.default_rng(2).random((400, len(part.edges))) < 0.9)
    predictor = TorchModulePredictor(model, "graph")
    single = TorchModulePredictor(model, "graph", batching="single")
    expected = single.on_edges(x.copy(), part, edges)  # in several calls
    assert torch.allclose(predictor.on_edges(x.copy(), part, edges), expected, rtol=1e-4)
    assert predictor.size(part, same_edges=False)[1] < len(part.edges)


def test_few_nodes_need_few_features() -> None:
    path = Graph(np.array([range(39), range(1, 40)]), NODES)
    predictor, nodes = TorchModulePredictor(basic("GCN")), np.array([20])
    assert predictor.saves_on_nodes(features(), path.whole, nodes)
    assert predictor.size(path.whole, nodes) == (4, 0)  # three hops
    assert predictor.size(path.whole) == (40, 0)


def test_wide_rows_are_shared_too() -> None:
    model, part = basic("GAT"), graph().whole
    rng = np.random.default_rng(0)
    rows = SharedRows(features()[0], rng.integers(NODES, size=(5, NODES)))
    predictor, nodes = TorchModulePredictor(model), np.array([3, 4])
    expected = TorchModulePredictor(model, batching="single")(rows.dense(), part)
    assert predictor.saves_on_rows(rows, part)
    assert torch.allclose(predictor.on_rows(rows, part), expected, atol=1e-5)
    assert torch.allclose(predictor.of_nodes(rows, part, nodes), expected[:, nodes], atol=1e-5)


class Reversed(Two):
    """The second layer has the opposite edges."""

    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.second(self.first(x, edge_index).relu(), edge_index.flip(0))


class Twice(Two):
    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.second(self.first(self.first(x, edge_index).relu(), edge_index), edge_index)


class Parallel(Two):
    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.second(x, edge_index) + self.second(self.first(x, edge_index), edge_index)


@pytest.mark.parametrize("kind", [Reversed, Twice, Parallel])
def test_other_uses_of_layers_are_noticed(kind: Any) -> None:
    torch.manual_seed(0)
    model = kind(pyg.SAGEConv(WIDTH, WIDTH), pyg.SAGEConv(WIDTH, CLASSES)).eval()
    part, x, nodes = graph().whole, features(), np.array([5])
    single = TorchModulePredictor(model, batching="single")(x.copy(), part)
    predictor = TorchModulePredictor(model)
    assert torch.allclose(predictor(x.copy(), part), single, atol=1e-5)
    assert (predictor.used == "shared") == (kind is not Reversed)
    assert not predictor.saves_on_nodes(x, part, nodes)


def test_skipping_a_layer_needs_all_nodes() -> None:
    torch.manual_seed(0)
    layers = pyg.GCNConv(WIDTH, WIDTH), pyg.GCNConv(WIDTH, CLASSES)
    predictor = TorchModulePredictor(Two(*layers, skip=True).eval())
    part, x = graph().whole, features()
    predictor(x.copy(), part)
    assert predictor.used == "shared"
    assert not predictor.saves_on_nodes(x, part, np.array([5]))


def test_layers_are_as_before_after_a_call_and_after_an_error() -> None:
    model, part, x = basic("GAT"), graph().whole, features()
    before = [(layer, dict(vars(layer))) for layer in model.modules()]
    predictor = TorchModulePredictor(model)
    predictor(x.copy(), part)
    predictor.saves_on_nodes(x, part, np.array([5]))
    with pytest.raises(ModelError):
        TorchModulePredictor(two(pyg.GATv2Conv), batching="shared")(x.copy(), part)
    for layer, was in before:
        assert vars(layer).keys() == was.keys()
        assert all(vars(layer)[name] is was[name] for name in was if name != "training")


def test_weights_of_edges_and_hooks_are_left_to_the_layers() -> None:
    whole, x = graph().whole, features()
    weights = np.linspace(0, 1, whole.whole_edges, dtype=np.float32)
    weighted = TorchModulePredictor(basic("GCN"), inputs={"edge_weight": weights})
    weighted(x.copy(), whole)
    assert weighted.used != "shared"
    model = basic("GCN")
    model.convs[0].register_message_forward_hook(lambda *_: None)
    hooked = TorchModulePredictor(model)
    hooked(x.copy(), whole)
    assert hooked.used != "shared"


def test_batch_vector_and_pairs_follow_the_nodes() -> None:
    class Pooled(Two):
        def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
            return pyg.global_mean_pool(super().forward(x, edge_index), batch)

    class Pairs(Two):
        def forward(self, x: Any, edge_index: Any, pairs: Any) -> Any:
            hidden = super().forward(x, edge_index)
            return hidden[pairs[0]] * hidden[pairs[1]]

    torch.manual_seed(0)
    layers = pyg.GINConv(torch.nn.Linear(WIDTH, 8)), pyg.SAGEConv(8, CLASSES)
    part, x, pairs = graph().whole, features(), np.array([[0, 3, 5], [1, 9, 5]])
    for kind, task, further in ((Pooled, "graph", ()), (Pairs, "edge", (pairs,))):
        model = kind(*layers).eval()
        predictor = TorchModulePredictor(model, task)
        single = TorchModulePredictor(model, task, batching="single")
        assert torch.allclose(
            predictor(x.copy(), part, *further), single(x.copy(), part, *further), atol=1e-5
        )
        assert predictor.used == "shared"


@pytest.mark.parametrize("kind", ["GCN", "GAT"])
def test_explanations_are_those_of_other_ways(kind: str) -> None:
    model, edges, x = basic(kind), graph(3).edge_index, features()[0]
    ours, theirs = (
        PGMExplainer(TorchModulePredictor(model, batching=way), x, edges, num_samples=300)
        for way in ("auto", "blocks")
    )
    for one, other in zip(ours.explain_many([3, 8]), theirs.explain_many([3, 8]), strict=True):
        assert one.nodes == other.nodes
        assert np.allclose(one.effects.effect, other.effects.effect, atol=1e-5)


class Pooled(torch.nn.Module):
    """A GIN with one prediction for each graph."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.gin = pyg.models.GIN(WIDTH, 8, 2, CLASSES)
        self.rows: list[int] = []

    def forward(self, x: Any, edge_index: Any, batch: Any = None) -> Any:
        self.rows.append(len(x))
        return pyg.global_add_pool(self.gin(x, edge_index), batch)


def of_two_graphs(model: Any, batching: str = "auto") -> TorchModulePredictor:
    """The first half of the nodes is one graph, the second half another."""
    batch = torch.arange(NODES) // (NODES // 2)
    return TorchModulePredictor(model, "graph", {"batch": batch}, None, batching, many_graphs=True)


def in_halves() -> Graph:
    ends = np.random.default_rng(0).integers(NODES // 2, size=(2, 30))
    return Graph(np.concatenate((ends, ends[::-1] + NODES // 2), axis=1), NODES)


def test_a_few_samples_of_many_graphs_share_their_edges() -> None:
    """One sample of many graphs is large: batches never grow to a size where trials pay off."""
    model, part, x = Pooled().eval(), in_halves().whole, features(3)
    predictor = of_two_graphs(model)
    found = predictor(x.copy(), part)
    assert predictor.used == "shared"
    assert torch.allclose(found, of_two_graphs(model, "single")(x.copy(), part), atol=1e-5)


def test_samples_of_graphs_are_passed_in_batches_that_stay_in_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, part, x = Pooled().eval(), in_halves().whole, features()
    whole = of_two_graphs(model, "shared")(x.copy(), part)
    monkeypatch.setattr("pgm_explainer.predictors.torch_shared._ROWS_OF_GRAPHS", 2 * NODES + 1)
    model.rows.clear()
    found = of_two_graphs(model, "shared")(x.copy(), part)
    assert model.rows == [2 * NODES, 2 * NODES, 2 * NODES, NODES]
    assert torch.allclose(found, whole, atol=1e-5)


def test_a_new_explainer_calls_the_model_rarely_on_single_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls, alone = [], ModuleCall.alone

    def counted(self: ModuleCall, x: Any, request: Any) -> Any:
        calls.append(len(x))
        return alone(self, x, request)

    monkeypatch.setattr(ModuleCall, "alone", counted)
    ring = np.arange(30)
    edges = np.stack((np.append(ring, ring), np.append(np.roll(ring, 1), np.roll(ring, -1))))
    x = np.random.default_rng(0).normal(size=(30, WIDTH)).astype(np.float32)
    model = basic("GCN")
    PGMExplainer(model, x, edges, num_samples=100, progress=False, structure=None).explain(3)
    # Two trials, one call on each of three subgraphs, and one on the unperturbed features.
    assert len(calls) == 2 + 3 + 1


class _MixingLargeGraphs(torch.nn.Module):
    """Adds the mean over all nodes if there are many: wrong for samples of a batch."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.layer, self.most = pyg.GCNConv(WIDTH, CLASSES), most
        self.calls: list[int] = []

    def forward(self, x: Any, edge_index: Any) -> Any:
        self.calls.append(len(x))
        scores = self.layer(x, edge_index)
        return scores + 10 * x.mean() if len(x) > self.most else scores


def test_a_few_samples_are_predicted_together_only_if_that_is_right() -> None:
    path, samples = Graph(np.array([range(39), range(1, 40)]), NODES), 5
    torch.manual_seed(0)
    for most, singles in ((NODES * samples, 1), (NODES, samples)):
        model = _MixingLargeGraphs(most).eval()
        expected = TorchModulePredictor(model, batching="single")(features(samples), path.whole)
        model.calls.clear()
        scores = TorchModulePredictor(model)(features(samples), path.whole)
        assert torch.allclose(scores, expected, atol=1e-5)
        assert model.calls.count(NODES) == singles


@pytest.mark.parametrize("name", ["GCN", "GIN", "GAT, heads", "mixed"])
def test_features_stored_node_by_node_give_the_same_scores(name: str) -> None:
    predictor, part, x = TorchModulePredictor(MODELS[name]()), graph().whole, features()
    expected = predictor(x.copy(), part)
    assert predictor.takes_by_node(part)
    by_node = np.ascontiguousarray(x.transpose(1, 0, 2)).transpose(1, 0, 2)
    assert torch.equal(predictor(by_node, part), expected)
    assert not TorchModulePredictor(MODELS[name](), batching="blocks").takes_by_node(part)
