"""How models are called, what they answer with, and the state that they are left in."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import (
    APPNP,
    ARMAConv,
    GATv2Conv,
    GCNConv,
    GraphConv,
    GraphNorm,
    HeteroConv,
    LayerNorm,
    PairNorm,
    SAGEConv,
    Sequential,
    SGConv,
    TAGConv,
    TransformerConv,
    global_add_pool,
    global_mean_pool,
    models,
)

from pgm_explainer import PGMExplainer, PGMExplainerWarning
from pgm_explainer.errors import InputError, ModelError
from pgm_explainer.predictors.torch_module import TorchModulePredictor
from pgm_explainer.predictors.torch_tools import count_hops
from pgm_explainer.sampling import Fall

FEATURES = 3
SETTINGS = {
    "num_layers": 2,
    "num_samples": 100,
    "perturbation": "mean",
    "perturb_probability": 0.25,
    "change": Fall(0.002),
}


@pytest.fixture
def seeded():
    torch.manual_seed(0)


@pytest.fixture
def assert_explained_as(a_graph):
    """Check that a model is explained like a slow, exact form of it."""

    def check(model, slow, *, inputs=None, **settings):
        x, edges, target = a_graph.x, a_graph.edge_index, a_graph.target
        target = None if settings.get("task") == "graph" else target
        settings = {**SETTINGS, **settings}
        found = PGMExplainer(model, x, edges, inputs=inputs, **settings).explain(target)
        truth = PGMExplainer(slow, x, edges, **settings).explain(target)
        np.testing.assert_allclose(found.values, truth.values, atol=1e-5)
        assert found == truth
        assert found.network is not None
        return found

    return check


# --- inputs ---------------------------------------------------------------------------------


class Weighted(nn.Module):
    def __init__(self, layer=GCNConv):
        super().__init__()
        self.first, self.second = layer(FEATURES, 6), layer(6, 3)

    def forward(self, x, edge_index, edge_weight):
        x = self.first(x, edge_index, edge_weight).relu()
        return self.second(x, edge_index, edge_weight)


class Attributed(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.first, self.second = layer(FEATURES, 6, edge_dim=2), layer(6, 3, edge_dim=2)

    def forward(self, x, edge_index, edge_attr):
        x = self.first(x, edge_index, edge_attr=edge_attr).relu()
        return self.second(x, edge_index, edge_attr=edge_attr)


class Placed(nn.Module):
    """Nodes send how far they are from a corner."""

    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(FEATURES + 2, 6), GCNConv(6, 3)

    def forward(self, x, edge_index, pos):
        x = torch.cat((x, pos.expand(*x.shape[:-1], 2)), dim=-1)
        return self.second(self.first(x, edge_index).relu(), edge_index)


def weights(edge_index):
    return torch.linspace(0.1, 4, edge_index.shape[1])


@pytest.mark.parametrize("layer", [GCNConv, GraphConv])
def test_edge_weights_are_cut_and_repeated_rightly(
    layer, a_graph, slowly, assert_explained_as, assert_batches_exactly, seeded
):
    model, weight = Weighted(layer), weights(a_graph.edge_index)
    slow = slowly(model, a_graph.edge_index, edge_weight=weight)
    found = assert_explained_as(model, slow, inputs={"edge_weight": weight})
    assert assert_batches_exactly(model, a_graph, edge_weight=weight) == "stacked"
    unweighted = slowly(model, a_graph.edge_index, edge_weight=torch.ones_like(weight))
    other = PGMExplainer(unweighted, a_graph.x, a_graph.edge_index, **SETTINGS)
    assert other.explain(a_graph.target) != found  # otherwise this test would not be conclusive


@pytest.mark.parametrize("layer", [GATv2Conv, TransformerConv])
def test_edge_attributes_are_cut_and_repeated_rightly(
    layer, a_graph, slowly, assert_explained_as, assert_batches_exactly, seeded
):
    model, weight = Attributed(layer), weights(a_graph.edge_index)
    attributes = torch.stack((weight, -weight.flip(0)), dim=1)
    slow = slowly(model, a_graph.edge_index, edge_attr=attributes)
    assert_explained_as(model, slow, inputs={"edge_attr": attributes})
    assert assert_batches_exactly(model, a_graph, edge_attr=attributes) == "blocks"


@pytest.mark.parametrize("way", ["auto", "blocks", "single"])
def test_inputs_with_a_row_for_each_node_are_cut_and_repeated_rightly(
    way, a_graph, slowly, assert_explained_as, seeded
):
    model, pos = Placed(), torch.randn(len(a_graph.x), 2)
    predictor = TorchModulePredictor(model, inputs={"pos": pos}, batching=way)
    assert_explained_as(predictor, slowly(model, a_graph.edge_index, pos=pos))


def test_the_name_of_an_input_resolves_equal_numbers_of_edges_and_nodes(a_graph, seeded):
    """A ring has as many edges as nodes."""

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = GraphConv(FEATURES, 2)

        def forward(self, x, edge_index, edge_weight, pos):
            return self.layer(x, edge_index, edge_weight) + pos

    nodes = 12
    order = torch.randperm(nodes)
    edges = torch.stack((order, order.roll(1)))
    inputs = {"edge_weight": torch.rand(nodes), "pos": torch.randn(nodes, 2)}
    model, x = Both(), torch.randn(nodes, FEATURES)
    truth = model(x, edges, **inputs).softmax(dim=-1)
    for node in range(nodes):
        explanation = PGMExplainer(model, x, edges, inputs=inputs, num_samples=20).explain(node)
        np.testing.assert_allclose(explanation.values, truth[node].tolist(), atol=1e-5)


def test_a_given_batch_vector_is_used(a_graph, slowly, assert_explained_as, seeded):
    """Two graphs side by side: a node also depends on the mean of its own graph."""

    class WithContext(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.last = GCNConv(FEATURES, 6), nn.Linear(12, 3)

        def forward(self, x, edge_index, batch):
            x = self.layer(x, edge_index).relu()
            return self.last(torch.cat((x, global_mean_pool(x, batch)[..., batch, :]), dim=-1))

    model, batch = WithContext(), (torch.arange(len(a_graph.x)) >= 10).long()
    slow = slowly(model, a_graph.edge_index, batch=batch)
    assert_explained_as(model, slow, inputs={"batch": batch})


def test_a_batch_vector_that_a_graph_classifier_needs_is_made(a_graph, assert_explained_as, seeded):
    """The usual signature: forward(x, edge_index, batch), without a default."""

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = GATv2Conv(FEATURES, 3)

        def forward(self, x, edge_index, batch):
            return global_add_pool(self.layer(x, edge_index), batch)

    model, one_graph = Classifier(), torch.zeros(len(a_graph.x), dtype=torch.long)

    @torch.no_grad()
    def slow(x):
        return torch.cat([model(each, a_graph.edge_index, one_graph) for each in torch.tensor(x)])

    assert_explained_as(model, slow, task="graph")


def test_weights_may_come_as_numpy_doubles(a_graph, slowly, assert_explained_as, seeded):
    model, weight = Weighted(), weights(a_graph.edge_index)
    slow = slowly(model, a_graph.edge_index, edge_weight=weight)
    assert_explained_as(model, slow, inputs={"edge_weight": weight.double().numpy()})


@pytest.mark.parametrize("value", ["relu", None, 2, True])
def test_inputs_that_are_no_tensors_are_passed_as_they_are(value, a_graph, seeded):
    class Picky(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = GCNConv(FEATURES, 2)

        def forward(self, x, edge_index, option="unset"):
            assert option is value
            return self.layer(x, edge_index)

    inputs = {"option": value}
    explainer = PGMExplainer(Picky(), a_graph.x, a_graph.edge_index, inputs=inputs, num_samples=20)
    assert len(explainer.explain(a_graph.target).values) == 2


def test_an_input_that_the_model_does_not_take_is_refused_not_ignored(a_graph, node_model):
    inputs = {"edge_weight": weights(a_graph.edge_index)}
    with pytest.raises(InputError, match=r"does not take \['edge_weight'\]"):
        PGMExplainer(node_model(), a_graph.x, a_graph.edge_index, inputs=inputs)


def test_a_missing_input_is_named(a_graph):
    with pytest.raises(InputError, match=r"also needs \['edge_weight'\]"):
        PGMExplainer(Weighted(), a_graph.x, a_graph.edge_index)


def test_edge_weights_for_another_graph_are_refused(a_graph):
    explainer = PGMExplainer(
        Weighted(), a_graph.x, a_graph.edge_index, inputs={"edge_weight": torch.rand(7)}
    )
    with pytest.raises((InputError, ModelError), match="7 rows"):
        explainer.explain(a_graph.target)


class OfData(nn.Module):
    """Called with one object that holds everything."""

    def __init__(self):
        super().__init__()
        self.model = Weighted()

    def forward(self, data):
        return self.model(data.x, data.edge_index, data.edge_weight)


@pytest.mark.parametrize("wrap", [OfData, Weighted], ids=["model(data)", "model(x, ...)"])
def test_weights_of_a_data_object_are_passed(wrap, a_graph, slowly, seeded):
    model, weight = wrap(), weights(a_graph.edge_index)
    data = Data(
        x=a_graph.x,
        edge_index=a_graph.edge_index,
        edge_weight=weight,
        y=torch.zeros(len(a_graph.x)),
        train_mask=torch.ones(len(a_graph.x), dtype=torch.bool),
    )
    slow = slowly(getattr(model, "model", model), a_graph.edge_index, edge_weight=weight)
    truth = PGMExplainer(slow, a_graph.x, a_graph.edge_index, **SETTINGS).explain(a_graph.target)
    assert PGMExplainer(model, data, **SETTINGS).explain(a_graph.target) == truth


def test_a_model_of_a_data_object_takes_inputs(a_graph, slowly, assert_explained_as, seeded):
    model, weight = OfData(), weights(a_graph.edge_index)
    slow = slowly(model.model, a_graph.edge_index, edge_weight=weight)
    assert_explained_as(model, slow, inputs={"edge_weight": weight})


def test_a_graph_classifier_of_a_data_object(a_graph, graph_model, assert_explained_as):
    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = graph_model(GATv2Conv)

        def forward(self, data):
            return self.model(data.x, data.edge_index, data.batch)

    model = Classifier()

    @torch.no_grad()
    def slow(x):
        return torch.cat([model.model(each, a_graph.edge_index) for each in torch.tensor(x)])

    assert_explained_as(model, slow, task="graph")


@pytest.mark.parametrize("layer", [GCNConv, GATv2Conv])
def test_a_model_that_has_the_graph_inside_it(layer, a_graph, node_model, slowly):
    class Inside(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = node_model(layer)

        def forward(self, x):
            return self.model(x, a_graph.edge_index)

    slow = slowly(node_model(layer), a_graph.edge_index)
    found, truth = (
        PGMExplainer(model, a_graph.x, a_graph.edge_index, **SETTINGS).explain(a_graph.target)
        for model in (Inside(), slow)
    )
    assert found == truth


@pytest.mark.parametrize("kind", ["read-only", "flipped"])
@pytest.mark.parametrize("task", ["node", "graph"])
def test_edges_may_be_any_numpy_array(kind, task, a_graph, node_model, graph_model):
    edges = a_graph.edge_index.numpy().copy()
    same = edges.copy()
    if kind == "flipped":  # messages the other way round: a view with negative strides
        edges, same = edges[::-1], same[::-1].copy()
    else:
        edges.flags.writeable = False
    model = node_model() if task == "node" else graph_model()
    target = a_graph.target if task == "node" else None
    found, truth = (
        PGMExplainer(model, a_graph.x, each, task=task, num_samples=50).explain(target)
        for each in (edges, same)
    )
    assert found == truth


def test_index_features_stay_in_range(a_graph, seeded):
    class Embedded(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.layer = nn.Embedding(5, 6), GCNConv(6, 3)

        def forward(self, x, edge_index):
            return self.layer(self.table(x[..., 0].long()), edge_index)

    x = (torch.arange(len(a_graph.x)) % 5)[:, None]
    model = Embedded()
    explainer = PGMExplainer(
        model, x, a_graph.edge_index, perturbation="permute", num_samples=50, change=Fall(0.01)
    )
    explanation = explainer.explain(a_graph.target)
    truth = model(x, a_graph.edge_index).softmax(dim=-1)[a_graph.target]
    np.testing.assert_allclose(explanation.values, truth.tolist(), atol=1e-5)
    assert explanation.network is not None


# --- answers --------------------------------------------------------------------------------


class Answering(nn.Module):
    """A model of two classes, and something that is made of its two logits."""

    def __init__(self, model, answer):
        super().__init__()
        self.model, self.answer = model, answer

    def forward(self, x, edge_index, batch=None):
        inputs = {} if batch is None else {"batch": batch}
        return self.answer(self.model(x, edge_index, **inputs))


ANSWERS = {
    "logits": lambda logits: logits,
    "probabilities": lambda logits: logits.softmax(dim=-1),
    "log-probabilities": lambda logits: logits.log_softmax(dim=-1),
    "a tuple": lambda logits: (logits, logits.sum()),
    "a tuple that begins otherwise": lambda logits: (None, logits),
    "a dictionary": lambda logits: {"logits": logits, "loss": logits.sum()},
    "one sigmoid score": lambda logits: (logits[..., 1:] - logits[..., :1]).sigmoid(),
    "one logit": lambda logits: logits[..., 1:] - logits[..., :1],
    "one score without a dimension of its own": lambda logits: (
        logits[..., 1] - logits[..., 0]
    ).sigmoid(),
}


@pytest.mark.parametrize("layer", [GCNConv, GATv2Conv])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_any_usual_answer_is_understood(answer, layer, a_graph, node_model, slowly):
    model = node_model(layer, outputs=2)
    found, truth = (
        PGMExplainer(each, a_graph.x, a_graph.edge_index, **SETTINGS).explain(a_graph.target)
        for each in (Answering(model, answer), slowly(model, a_graph.edge_index))
    )
    np.testing.assert_allclose(found.values, truth.values, atol=1e-5)
    assert found == truth


@pytest.mark.parametrize(
    "answer",
    [
        lambda logits: (logits[..., 1:2] - logits[..., :1]).sigmoid(),
        lambda logits: (logits[..., 1] - logits[..., 0]).sigmoid(),
        lambda logits: (logits[..., 1] - logits[..., 0]).sigmoid().squeeze(),
    ],
    ids=["[1, 1]", "[1]", "[]"],
)
@pytest.mark.parametrize("layer", [GCNConv, GATv2Conv])
def test_one_score_for_the_graph_may_have_any_shape(answer, layer, a_graph, graph_model):
    model = graph_model(layer)
    explainer = PGMExplainer(
        Answering(model, answer), a_graph.x, a_graph.edge_index, task="graph", num_samples=50
    )
    first, second = model(a_graph.x, a_graph.edge_index)[0, :2].tolist()
    assert explainer.explain().values[1] == pytest.approx(1 / (1 + np.exp(first - second)), 1e-4)


def test_scores_may_be_picked_from_the_answer(a_graph, node_model, slowly, assert_explained_as):
    model = node_model()
    answering = Answering(model, lambda logits: {"hidden": torch.zeros(3), "out": logits})
    predictor = TorchModulePredictor(answering, output=lambda answer: answer["out"])
    assert_explained_as(predictor, slowly(model, a_graph.edge_index))


def test_a_graph_classifier_in_a_node_task_suggests_the_graph_task(a_graph, graph_model):
    with pytest.raises(ModelError, match="one row of scores for a whole graph, set task='graph'"):
        PGMExplainer(graph_model(), a_graph.x, a_graph.edge_index).explain(a_graph.target)


@pytest.mark.parametrize(
    "answer", [lambda logits: "nothing", lambda logits: logits[:-1]], ids=["a text", "too few rows"]
)
def test_an_answer_that_cannot_be_used_is_named(answer, a_graph, node_model):
    model = Answering(node_model(), answer)
    with pytest.raises(ModelError, match="the model returned"):
        PGMExplainer(model, a_graph.x, a_graph.edge_index).explain(a_graph.target)


# --- the state that the model is left in ----------------------------------------------------


class Noisy(nn.Module):
    """Dropout and batch norm, as while training; one part is frozen. It may fail."""

    def __init__(self, failure=None):
        super().__init__()
        self.first, self.second = GCNConv(FEATURES, 6), GCNConv(6, 3)
        self.norm, self.frozen = nn.BatchNorm1d(6), nn.BatchNorm1d(6)
        self.dropout = nn.Dropout(0.5)
        self.failure, self.calls = failure, 0
        self.train()
        self.frozen.eval()

    def forward(self, x, edge_index):
        self.calls += 1
        if self.failure is not None and self.calls > 3:
            raise self.failure
        x = self.frozen(self.norm(self.first(x, edge_index)))
        return self.second(self.dropout(x).relu(), edge_index)


def modes(model):
    return {name: part.training for name, part in model.named_modules()}


def test_a_model_in_training_is_explained_as_in_evaluation(a_graph, slowly, seeded):
    model = Noisy()
    found = PGMExplainer(model, a_graph.x, a_graph.edge_index, **SETTINGS).explain(a_graph.target)
    slow = slowly(model.eval(), a_graph.edge_index)
    truth = PGMExplainer(slow, a_graph.x, a_graph.edge_index, **SETTINGS).explain(a_graph.target)
    assert found == truth


@pytest.mark.parametrize("failure", [None, RuntimeError("broken"), KeyboardInterrupt()], ids=repr)
def test_every_part_is_back_in_its_mode_afterwards(failure, a_graph, seeded):
    model = Noisy(failure)
    before = modes(model)
    assert set(before.values()) == {True, False}
    explainer = PGMExplainer(model, a_graph.x, a_graph.edge_index, num_samples=50)
    if failure is None:
        explainer.explain(a_graph.target)
    else:
        with pytest.raises(type(failure)):
            explainer.explain(a_graph.target)
    assert modes(model) == before
    assert torch.is_grad_enabled()


def test_nothing_of_the_model_or_of_the_caller_is_changed(a_graph, seeded):
    model, x, edges = Noisy(), a_graph.x.clone(), a_graph.edge_index.clone()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    random_state = torch.random.get_rng_state()
    PGMExplainer(model, x, edges, num_samples=50).explain(a_graph.target)
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)
    assert all(parameter.grad is None for parameter in model.parameters())
    torch.testing.assert_close(x, a_graph.x, rtol=0, atol=0)
    torch.testing.assert_close(edges, a_graph.edge_index, rtol=0, atol=0)
    assert torch.equal(torch.random.get_rng_state(), random_state)


def test_no_gradients_are_recorded(a_graph, node_model, samples):
    predictor = TorchModulePredictor(node_model())
    assert not predictor(samples(a_graph.x), a_graph.graph.whole).requires_grad


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_the_model_is_called_in_its_own_precision(dtype, a_graph, node_model):
    model = node_model(GraphConv).to(dtype)
    seen = []
    model.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].dtype))
    explanation = PGMExplainer(model, a_graph.x, a_graph.edge_index, **SETTINGS).explain(
        a_graph.target
    )
    assert set(seen) == {dtype}
    assert explanation.network is not None


def test_a_model_that_writes_into_its_input_is_explained_rightly(
    a_graph, node_model, slowly, assert_explained_as
):
    class Writing(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = node_model()

        def forward(self, x, edge_index):
            x += 1
            return self.model(x, edge_index)

    assert_explained_as(Writing(), slowly(Writing(), a_graph.edge_index))


# --- ready-made models ----------------------------------------------------------------------


def test_a_sequential_model(a_graph, slowly, assert_explained_as, seeded):
    steps = [
        (GCNConv(FEATURES, 6), "x, edge_index, edge_weight -> x"),
        nn.ReLU(),
        (GCNConv(6, 3), "x, edge_index, edge_weight -> x"),
    ]
    model, weight = Sequential("x, edge_index, edge_weight", steps), weights(a_graph.edge_index)
    assert TorchModulePredictor(model).num_layers == 2
    slow = slowly(model, a_graph.edge_index, edge_weight=weight)
    assert_explained_as(model, slow, inputs={"edge_weight": weight})


@pytest.mark.parametrize("norm", [None, "batch_norm", "layer_norm"])
@pytest.mark.parametrize("name", ["GCN", "GAT", "GraphSAGE", "GIN"])
def test_ready_models(name, norm, a_graph, slowly, assert_explained_as, seeded):
    model = getattr(models, name)(FEATURES, 6, 2, 3, dropout=0.5, norm=norm).eval()
    assert TorchModulePredictor(model).num_layers == 2
    assert_explained_as(model, slowly(model, a_graph.edge_index))


def cached_layers():
    return {
        "GCN": lambda: Stack(GCNConv(FEATURES, 6, cached=True), GCNConv(6, 3, cached=True)),
        "SGConv": lambda: Stack(SGConv(FEATURES, 3, K=2, cached=True)),
        "APPNP": lambda: Stack(GCNConv(FEATURES, 3), APPNP(1, 0.1, cached=True)),
    }


@pytest.mark.parametrize("used_before", [True, False])
@pytest.mark.parametrize("make", cached_layers().values(), ids=cached_layers())
def test_cached_layers_are_recomputed(make, used_before, a_graph, slowly, seeded):
    """With ``cached=True`` a layer remembers the graph, or even the features, of its first call."""
    model = make().eval()
    fresh = make().eval()
    fresh.load_state_dict(model.state_dict())
    for part in fresh.modules():
        if hasattr(part, "cached"):
            part.cached = False
    if used_before:
        model(a_graph.x, a_graph.edge_index)
    truth = fresh(a_graph.x, a_graph.edge_index)
    slow = slowly(fresh, a_graph.edge_index)
    found, expected = (
        PGMExplainer(each, a_graph.x, a_graph.edge_index, **SETTINGS).explain(a_graph.target)
        for each in (model, slow)
    )
    assert found == expected
    torch.testing.assert_close(model(a_graph.x, a_graph.edge_index), truth)  # and none is left


# --- how far messages travel ----------------------------------------------------------------


class Stack(nn.Module):
    """Layers one after another; those that take no edges are norms."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x, edge_index):
        for layer in self.layers:
            takes_edges = "edge_index" in inspect.signature(layer.forward).parameters
            x = layer(x, edge_index) if takes_edges else layer(x)
        return x


def for_each_relation():
    relations = [("author", "writes", "paper"), ("paper", "of", "author"), ("paper", "on", "paper")]
    return HeteroConv({relation: SAGEConv((3, 3), 3) for relation in relations})


@pytest.mark.parametrize(
    ("module", "hops"),
    [
        (Stack(GCNConv(3, 3), nn.ReLU(), GCNConv(3, 3), SAGEConv(3, 3)), 3),
        (Stack(GCNConv(3, 3), APPNP(K=5, alpha=0.1)), 6),
        (Stack(SGConv(3, 3, K=2)), 2),
        (Stack(TAGConv(3, 3, K=4)), 4),
        (Stack(ARMAConv(3, 3, num_layers=3)), 3),
        (Stack(for_each_relation(), for_each_relation()), 2),
        (models.GCN(3, 4, 3), 3),
        (nn.Linear(3, 3), None),
    ],
    ids=lambda value: "" if isinstance(value, nn.Module) else str(value),
)
def test_layers_and_their_steps_are_counted(module, hops):
    assert count_hops(module) == hops


def test_counted_layers_determine_the_candidates_by_default(node_model):
    path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    x = torch.randn(5, FEATURES, generator=torch.Generator().manual_seed(0))
    counted = PGMExplainer(node_model(), x, path, num_samples=20)
    given = PGMExplainer(node_model(), x, path, num_samples=20, num_layers=4)
    assert (counted.num_layers, given.num_layers) == (2, 4)
    assert sorted(each.node for each in counted.explain(4).ranking) == [2, 3]
    assert sorted(each.node for each in given.explain(4).ranking) == [0, 1, 2, 3]


class Thrice(nn.Module):
    """One layer used three times, which only its outputs reveal."""

    def __init__(self):
        super().__init__()
        self.layer = GraphConv(FEATURES, FEATURES)

    def forward(self, x, edge_index):
        for _ in range(3):
            x = self.layer(x, edge_index).tanh()
        return x


def test_a_larger_receptive_field_gives_a_warning_and_the_whole_graph(a_graph, slowly, seeded):
    model = Thrice()
    assert count_hops(model) == 1
    with pytest.warns(PGMExplainerWarning, match="receptive field is larger than num_layers=1"):
        found = PGMExplainer(model, a_graph.x, a_graph.edge_index).explain(a_graph.target)
    truth = PGMExplainer(
        slowly(model, a_graph.edge_index), a_graph.x, a_graph.edge_index, num_layers=1
    ).explain(a_graph.target)
    assert found == truth


def test_a_larger_receptive_field_is_detected_by_missing_edges(slowly, seeded):
    """All nodes are in the part around node 0, but not the edges between 3 and 4."""
    edges = torch.tensor([[1, 2, 3, 4, 3, 4], [0, 1, 2, 2, 4, 3]])
    x, model = 3 * torch.randn(5, FEATURES), Thrice()
    with pytest.warns(PGMExplainerWarning, match="receptive field is larger than num_layers=1"):
        found = PGMExplainer(model, x, edges).explain(0)
    assert found == PGMExplainer(slowly(model, edges), x, edges, num_layers=1).explain(0)


# --- models that mix rows -------------------------------------------------------------------


def mixing_norms():
    return {
        "GraphNorm": lambda: GraphNorm(6),
        "PairNorm": PairNorm,
        "LayerNorm of the graph": lambda: LayerNorm(6, mode="graph"),
        "BatchNorm without running statistics": lambda: nn.BatchNorm1d(
            6, track_running_stats=False
        ),
    }


@pytest.fixture(params=mixing_norms().values(), ids=mixing_norms())
def mixing(request, seeded):
    """A model whose norm uses all rows it is given, of any graph."""
    return Stack(GCNConv(FEATURES, 6), request.param(), nn.Tanh(), GCNConv(6, 3)).eval()


def test_samples_are_not_mixed(mixing, a_graph, assert_batches_exactly):
    assert assert_batches_exactly(mixing, a_graph) == "single"


def test_models_that_mix_nodes_are_called_on_the_whole_graph(mixing, a_graph, slowly):
    with pytest.warns(PGMExplainerWarning, match="an operation over all nodes"):
        found = PGMExplainer(mixing, a_graph.x, a_graph.edge_index, **SETTINGS).explain(
            a_graph.target
        )
    slow = slowly(mixing, a_graph.edge_index)
    truth = PGMExplainer(slow, a_graph.x, a_graph.edge_index, **SETTINGS).explain(a_graph.target)
    np.testing.assert_allclose(found.values, truth.values, atol=1e-5)
    assert found == truth


def test_nodes_that_are_mixed_across_components_are_noticed_too(mixing):
    """The subgraph around the target is a separate component: no wider one is connected to it."""
    edges = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3]])
    x = torch.randn(6, FEATURES, generator=torch.Generator().manual_seed(0))
    x[3:] *= 5
    explanation = PGMExplainer(mixing, x, edges, num_samples=50).explain(0)
    truth = mixing(x, edges).softmax(dim=-1)[0]
    np.testing.assert_allclose(explanation.values, truth.tolist(), atol=1e-4)


def test_samples_of_empty_features_are_not_mixed(mixing, a_graph, one_by_one):
    """With only zeros, the check of batching must still find a difference."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(4, *a_graph.x.shape)).astype(np.float32)
    x[0] = 0
    found = TorchModulePredictor(mixing)(x.copy(), a_graph.graph.whole)
    truth = one_by_one(mixing, x, a_graph.edge_index)
    torch.testing.assert_close(found, truth, atol=1e-4, rtol=1e-4)


def test_small_values_are_not_mixed_either(mixing, a_graph, assert_batches_exactly):
    """What a regression predicts may be small; being the same is not a matter of units."""

    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = mixing

        def forward(self, x, edge_index):
            return 1e-6 * self.model(x, edge_index)

    assert assert_batches_exactly(Small(), a_graph) == "single"
