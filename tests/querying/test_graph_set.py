"""Many graphs in one call."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.nn import GINConv, global_add_pool

from pgm_explainer import (
    Edges,
    Explanation,
    Features,
    Groups,
    InputError,
    PGMExplainer,
    explain_graphs,
)
from pgm_explainer.predictors import Predictor

FEATURES = 3
OPTIONS = {"num_samples": 300, "structure": None, "progress": False}


def ring(size, seed=0):
    x = np.random.default_rng(seed).normal(size=(size, FEATURES)).astype(np.float32)
    edges = np.array([[*range(size)], [*range(1, size), 0]])
    return x, np.concatenate((edges, edges[::-1]), axis=1)


GRAPHS = [ring(4, 1), ring(6, 2), ring(5, 3)]


class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = GINConv(torch.nn.Linear(FEATURES, 4))
        self.last = torch.nn.Linear(4, 2)

    def forward(self, x, edge_index, batch):
        return self.last(global_add_pool(self.conv(x, edge_index).tanh(), batch))


class Alone(Pooled):
    """The same for one graph at a time."""

    def forward(self, x, edge_index):
        return super().forward(x, edge_index, torch.zeros(len(x), dtype=torch.long))


def as_function(net):
    def model(x, edge_index):
        with torch.no_grad():
            scores = [net(torch.from_numpy(each), torch.from_numpy(edge_index)) for each in x]
        return torch.cat(scores).numpy()

    return model


class OfUser(Predictor):
    """A predictor of the user, which counts how it is called."""

    accepts_subgraph = True

    def __init__(self, net):
        self.model, self.calls = as_function(net), 0

    def __call__(self, x, part, pairs=None):
        return self.model(x, part.edge_index)

    def on_edges(self, x, part, edges, pairs=None):
        self.calls += 1
        return super().on_edges(x, part, edges)


@pytest.mark.parametrize(
    "parts", ["nodes", "edges", Edges("rewire"), "features", ["nodes", "edges"]], ids=str
)
def test_every_way_to_call_the_model_gives_the_same_effects(parts):
    expected = explain_graphs(Pooled(), GRAPHS, parts=parts, **OPTIONS)
    assert all(len(each.effects) for each in expected)
    for model in (Alone(), as_function(Alone()), OfUser(Alone())):
        found = explain_graphs(model, GRAPHS, parts=parts, **OPTIONS)
        for one, other in zip(found, expected, strict=True):
            assert one.effects.agrees(other.effects)
    one_by_one = PGMExplainer(Pooled(), GRAPHS, task="graph", parts=parts, **OPTIONS)
    for at, each in enumerate(expected):
        assert one_by_one.explain(at).effects.agrees(each.effects)
    for options in ({"samples_per_call": 7}, {"max_memory": "1MB"}):
        again = explain_graphs(Pooled(), GRAPHS, parts=parts, **{**OPTIONS, **options})
        for one, other in zip(again, expected, strict=True):
            assert one.effects.agrees(other.effects)


def test_a_predictor_of_the_user_is_called_with_its_own_edges():
    model = OfUser(Alone())
    explain_graphs(model, GRAPHS, parts="edges", **OPTIONS)
    assert model.calls >= len(GRAPHS)


def test_a_rewired_edge_stays_in_its_graph():
    seen = []

    def model(x, edge_index):
        seen.append((x.shape[1], edge_index))
        return np.stack([x.sum(axis=(1, 2)), edge_index[:, 0].sum() + 0 * x[:, 0, 0]], axis=-1)

    explain_graphs(model, GRAPHS, parts=Edges("rewire"), **OPTIONS)
    assert all(edge_index.max() < nodes for nodes, edge_index in seen)
    assert any(nodes == 4 and not np.array_equal(edges, GRAPHS[0][1]) for nodes, edges in seen)


def test_labels_are_those_of_each_graph():
    for parts, kind in (("nodes", int), ("edges", tuple)):
        found = explain_graphs(Pooled(), GRAPHS, parts=parts, **OPTIONS)
        for each, (x, edges) in zip(found, GRAPHS, strict=True):
            wanted = set(range(len(x)))
            if kind is tuple:
                wanted = {tuple(sorted(ends)) for ends in edges.T.tolist()}
            assert set(each.effects.parts) == wanted


def test_a_graph_without_edges_among_others_has_no_edges_to_explain_it():
    graphs = [*GRAPHS, (np.ones((2, FEATURES), dtype=np.float32), np.zeros((2, 0), dtype=int))]
    found = explain_graphs(Pooled(), graphs, parts="edges", **OPTIONS)
    assert len(found[3].effects) == 0
    assert any("no candidates" in text for text in found[3].warnings)
    assert [len(each.effects) for each in found] == [4, 6, 5, 0]
    with pytest.raises(InputError, match="no edges"):
        explain_graphs(Pooled(), graphs[3:], parts="edges", **OPTIONS)
    assert len(explain_graphs(Pooled(), graphs[2:], **OPTIONS)[1].effects) == 2


def test_groups_are_given_for_each_graph():
    groups = [{"head": [0, 1], "tail": [2]}, None, ["tail", None, "head", "head", None]]
    found = explain_graphs(Pooled(), GRAPHS, parts=Groups(groups), **OPTIONS)
    assert set(found[0].effects.parts) == set(found[2].effects.parts) == {"head", "tail"}
    assert len(found[1].effects) == 0
    edges = [{"head": [(0, 1)]}, {}, {"head": [(3, 4), (0, 4)], "tail": [(1, 2)]}]
    found = explain_graphs(Pooled(), GRAPHS, parts=Groups(edges, of="edges"), **OPTIONS)
    assert [set(each.effects.parts) for each in found] == [{"head"}, set(), {"head", "tail"}]
    columns = Groups({"all": [0, 1, 2]}, of="features")
    found = explain_graphs(Pooled(), GRAPHS, parts=columns, **OPTIONS)
    assert [each.effects.parts for each in found] == [["all"]] * 3


def test_the_effect_of_a_group_is_that_in_its_own_graph():
    def total(x, edge_index):
        return x.sum(axis=(1, 2))[:, None]

    groups = Groups([{"a": [0]}, {"a": [5], "b": [1, 2]}, {"b": [4]}])
    options = {**OPTIONS, "scores": "values", "perturbation": "zero"}
    found = explain_graphs(total, GRAPHS, parts=groups, **options)
    for at, name, nodes in ((0, "a", [0]), (1, "a", [5]), (1, "b", [1, 2]), (2, "b", [4])):
        effects = found[at].effects
        effect = effects.effect[effects.parts.index(name)]
        assert effect == pytest.approx(-GRAPHS[at][0][nodes].sum(), abs=1e-3)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"a": [0]}, r"there are 3 graphs, but the groups are those of one graph; pass a list"),
        (Groups([{"a": [0]}, {"a": [0]}]), "there are 3 graphs, but there are groups for 2"),
        (Groups([{"a": [9]}, None, None]), "member 9, but there are 4 nodes in graph 0"),
        (Groups([None, ["a"], None]), "each of 6 nodes in graph 1, but it has 1 items"),
        (
            Groups([None, None, {"a": [(0, 2)]}], of="edges"),
            r"the edge \(0, 2\), which is not in graph 2",
        ),
        (Features(nodes=[0]), "nodes of Features are those of one graph, but there are 3 graphs"),
    ],
)
def test_parts_of_one_graph_are_refused_for_many(parts, message):
    with pytest.raises(InputError, match=message):
        explain_graphs(Pooled(), GRAPHS, parts=parts, **OPTIONS)


def test_bad_groups_of_many_graphs_are_refused():
    with pytest.raises(InputError, match="graph 1: the group 'a' has no members"):
        Groups([{"a": [0]}, {"a": []}])
    with pytest.raises(InputError, match="the same in all graphs"):
        Groups([{"a": [0]}, {"a": [1]}], of="features")


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([], "there are no graphs to explain"),
        ((), "graphs must be a list"),
        ("molecules", "graphs must be a list"),
        (None, "graphs must be a list"),
        (GRAPHS[0], "graphs must be a list"),
        ([GRAPHS[0], "molecule"], "graph 1 must be a Data object or a pair"),
        ([GRAPHS[0], GRAPHS[1][0]], "graph 1 must be a Data object or a pair"),
        ([GRAPHS[0], (np.ones((3, 2)), np.zeros((2, 0), int))], "graph 1 has 2 features per node"),
        ([GRAPHS[0], (np.ones((0, 3)), np.zeros((2, 0), int))], "graph 1: x must be a matrix"),
        ([GRAPHS[0], (np.ones((2, 3)), np.array([[0], [2]]))], "graph 1: edge_index contains node"),
        (
            [GRAPHS[0], (np.full((2, 3), np.nan), np.array([[0], [1]]))],
            r"graph 1: x\[0, 0\] is nan",
        ),
        ([Data(edge_index=torch.zeros(2, 0, dtype=torch.long))], "graph 0: x"),
    ],
    ids=str,
)
def test_bad_graphs_are_refused(graphs, message):
    with pytest.raises(InputError, match=message):
        explain_graphs(Pooled(), graphs, **OPTIONS)


def test_models_that_cannot_be_called_on_many_graphs_are_refused():
    with pytest.raises(InputError, match="must have an argument edge_index"):
        explain_graphs(lambda x: x.sum(axis=1), GRAPHS, **OPTIONS)

    class Whole(OfUser):
        accepts_subgraph = False

    with pytest.raises(InputError, match="must accept any graph"):
        explain_graphs(Whole(Alone()), GRAPHS, **OPTIONS)
    with pytest.raises(InputError, match="task='graph'"):
        explain_graphs(Pooled(), GRAPHS, task="node")


class WithContext(Pooled):
    def forward(self, x, edge_index, batch, context=None):
        return super().forward(x, edge_index, batch) + context[batch].sum()


class OfData(Pooled):
    def forward(self, data):
        return super().forward(data.x, data.edge_index, data.batch)


def test_inputs_of_whole_graphs_are_refused_and_unused_ones_left_out():
    graphs = [
        Data(x=torch.from_numpy(x), edge_index=torch.from_numpy(edges), context=torch.ones(1, 7))
        for x, edges in GRAPHS
    ]
    with pytest.raises(InputError, match="'context' of graph 0 has no row for each node or edge"):
        explain_graphs(WithContext(), graphs, **OPTIONS)
    expected = explain_graphs(Pooled(), GRAPHS, **OPTIONS)
    for found, each in zip(explain_graphs(OfData(), graphs, **OPTIONS), expected, strict=True):
        assert found.effects.agrees(each.effects)


ATOMS = [0] * 15 + [1, 2, 1, 2, 1, 2, 3]
"""Fifteen carbons, of which the first six are a ring, and seven rarer atoms."""


def ring_of_carbons(x, edge_index):
    """Logits ``[batch, 2]``: the ring decides the class, and the rarer atoms move it a little."""
    intact = (x[:, :6, 0] == 1).all(axis=1)
    score = 3.0 * intact - 1 + x[:, 15:] @ np.array([0.3, 0, 0.1, 0.2]) @ np.ones(7)
    return np.stack([np.zeros(len(x)), score], axis=1)


def test_the_default_finds_a_ring_of_the_most_common_atoms():
    graphs = [(np.eye(4)[ATOMS], np.stack([np.arange(21), np.arange(1, 22)]))] * 2
    found = explain_graphs(ring_of_carbons, graphs, structure=None, progress=False)
    assert [set(each.effects.parts[:6]) for each in found] == [set(range(6))] * 2


def test_molecules_are_explained_by_substitution_which_may_break_valences_and_says_so():
    graphs = [(np.eye(4)[ATOMS], np.stack([np.arange(21), np.arange(1, 22)]))]
    (explanation,) = explain_graphs(ring_of_carbons, graphs, **OPTIONS)
    assert explanation.settings.sampling.perturbation.name == "substitute"
    assert "even if the edges do not permit them" in " ".join(str(explanation).split())


def test_an_explanation_has_the_position_of_its_graph(tmp_path):
    graphs = [(np.eye(3), np.array([[0, 1], [1, 2]])) for _ in range(3)]

    def model(x, edge_index):
        total = x.sum(axis=(1, 2))
        return np.stack([total, -total], axis=1)

    found = explain_graphs(model, graphs, num_samples=50, progress=False)
    assert [each.position for each in found] == [0, 1, 2]
    assert "for graph 2, with" in str(found[2])
    found[2].save(tmp_path / "why.json")
    assert Explanation.load(tmp_path / "why.json").position == 2
    whole = PGMExplainer(model, *graphs[0], task="graph", num_samples=50, progress=False)
    assert whole.explain().position is None


class InMemory(InMemoryDataset):
    """As the data sets of PyTorch Geometric: it also has the edges of all its graphs."""

    def __init__(self, graphs):
        super().__init__()
        self.data, self.slices = self.collate(graphs)


@pytest.mark.parametrize("collection", [InMemory, Batch.from_data_list])
def test_data_sets_and_batches_of_pyg_are_lists_of_graphs(collection):
    graphs = [Data(x=torch.tensor(x), edge_index=torch.tensor(edges)) for x, edges in GRAPHS]
    expected = PGMExplainer(Pooled(), graphs, task="graph", **OPTIONS).explain(1)
    held = collection(graphs)
    found = PGMExplainer(Pooled(), held, task="graph", **OPTIONS).explain(1)
    assert found.effects.parts == expected.effects.parts
    assert list(found.effects.effect) == list(expected.effects.effect)
    assert len(explain_graphs(Pooled(), held, **OPTIONS)) == 3


def test_the_nodes_of_a_batch_are_those_of_one_graph():
    graphs = [Data(x=torch.tensor(x), edge_index=torch.tensor(edges)) for x, edges in GRAPHS]
    torch.manual_seed(0)
    layer = GINConv(torch.nn.Linear(FEATURES, 2))
    found = PGMExplainer(layer, Batch.from_data_list(graphs), **OPTIONS).explain(6)
    assert set(found.effects.parts) == {5, 6, 7}
    with pytest.raises(InputError, match=r"pass that graph, such as graphs\[0\]"):
        PGMExplainer(layer, InMemory(graphs), **OPTIONS)
