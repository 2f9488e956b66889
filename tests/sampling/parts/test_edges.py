"""Effects of edges against brute force, and that they do not depend on how they are computed."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv

from pgm_explainer import Edges, Groups, PGMExplainer

from .conftest import FEATURES, LAYERS, Net, P, parts_of

CYCLE = np.array([[0, 1, 2, 3, 4, 5, 0, 1], [1, 2, 3, 4, 5, 0, 3, 4]])
BOTH_WAYS = np.concatenate((CYCLE, CYCLE[::-1]), axis=1)
GRAPHS = {
    "directed": CYCLE,
    "undirected": BOTH_WAYS,
    "with self-loops": np.concatenate((CYCLE, [[0, 3], [0, 3]]), axis=1),
    "with duplicates": np.concatenate((CYCLE, CYCLE[:, :3], CYCLE[:, :1]), axis=1),
    "one edge in both directions": np.concatenate((CYCLE, [[1], [0]]), axis=1),
}
X = np.random.default_rng(3).normal(size=(7, FEATURES)).astype(np.float32)  # node 6 is isolated
TARGETS = {"node": 3, "edge": (2, 5), "graph": None}


def explainer(net, edge_index, **options):
    chosen = {
        "parts": "edges",
        "perturb_probability": P,
        "num_samples": 2000,
        "structure": None,
        "progress": False,
        **options,
    }
    return PGMExplainer(net, X, edge_index, task=net.task, **chosen)


def check_against(truth, effects):
    """Return which effects are within their interval; all are within 4 standard errors.

    What is no candidate has no effect.
    """
    inside = []
    for name, low, high in zip(effects.parts, effects.low, effects.high, strict=True):
        slack = 0.5 * (high - low) + 1e-6
        assert low - slack <= truth[name] <= high + slack, name
        inside.append(low <= truth[name] <= high)
    assert all(abs(truth[name]) < 1e-6 for name in set(truth) - set(effects.parts))
    return inside


@pytest.mark.parametrize("flow", ["source_to_target", "target_to_source"])
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("layer", LAYERS)
def test_effects_are_those_of_all_contexts(layer, graph, flow, true_effects):
    net, edge_index = Net(layer, flow=flow), GRAPHS[graph]
    part_of, names = parts_of(edge_index, undirected=graph == "undirected")
    truth = true_effects(net, X, edge_index, 3, part_of, names)
    effects = explainer(net, edge_index).explain(3).effects
    check_against(truth, effects)
    assert max(truth, key=lambda name: abs(truth[name])) in effects.parts[:3]


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("layer", LAYERS)
def test_effects_on_all_tasks_are_those_of_all_contexts(layer, task, true_effects):
    net, target = Net(layer, task), TARGETS[task]
    part_of, names = parts_of(BOTH_WAYS, undirected=True)
    truth = true_effects(net, X, BOTH_WAYS, target, part_of, names)
    effects = explainer(net, BOTH_WAYS).explain(target).effects
    check_against(truth, effects)


def test_intervals_contain_the_truth_as_often_as_they_say(true_effects):
    net = Net("GCN")
    part_of, names = parts_of(CYCLE, undirected=False)
    inside = []
    for target in range(6):
        truth = true_effects(net, X, CYCLE, target, part_of, names)
        for seed in range(8):
            effects = explainer(net, CYCLE, num_samples=500, seed=seed).explain(target).effects
            inside += check_against(truth, effects)
    assert len(inside) > 200
    assert np.mean(inside) >= 0.92


@pytest.mark.parametrize("undirected", [True, False])
def test_directions_are_one_part_or_two(undirected, true_effects):
    edge_index = GRAPHS["one edge in both directions"]
    part_of, names = parts_of(edge_index, undirected)
    truth = true_effects(Net("SAGE"), X, edge_index, 3, part_of, names)
    parts = Edges(undirected=undirected)
    effects = explainer(Net("SAGE"), edge_index, parts=parts).explain(3).effects
    check_against(truth, effects)
    assert ((1, 0) in effects.parts) is not undirected


def test_a_group_of_edges_is_removed_together(true_effects):
    groups = {"west": [(0, 1), (1, 2), (0, 5)], "east": [(3, 4), (4, 5)]}
    part_of = np.full(BOTH_WAYS.shape[1], -1)
    for number, members in enumerate(groups.values()):
        for column, ends in enumerate(BOTH_WAYS.T.tolist()):
            if tuple(ends) in members or tuple(ends[::-1]) in members:
                part_of[column] = number
    assert (part_of >= 0).sum() == 10
    net = Net("GAT")
    truth = true_effects(net, X, BOTH_WAYS, 3, part_of, list(groups))
    found = explainer(net, BOTH_WAYS, parts=Groups(groups, of="edges")).explain(3).effects
    assert set(found.parts) == set(groups)
    check_against(truth, found)


RANDOM = np.random.default_rng(5)
MANY = 60
SPARSE = np.stack((np.arange(1, MANY), RANDOM.integers(0, np.arange(1, MANY))))
SPARSE = np.concatenate((SPARSE, SPARSE[::-1]), axis=1)
WIDE = RANDOM.normal(size=(MANY, FEATURES)).astype(np.float32)


def wide(net=None, **options):
    chosen = {"parts": "edges", "num_samples": 300, "progress": False, **options}
    return PGMExplainer(net or Net("GCN"), WIDE, SPARSE, **chosen)


@pytest.mark.parametrize("parts", ["edges", Edges("attributes"), ["nodes", "edges"]])
@pytest.mark.parametrize("layer", ["GCN", "GAT"])
def test_a_cut_gives_the_effects_of_the_whole_graph(layer, parts):
    class Weighted(torch.nn.Module):
        """Uses edge weights where the layer can."""

        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.first, self.second = GCNConv(FEATURES, 5), GCNConv(5, 3)

        def forward(self, x, edge_index, edge_weight):
            hidden = self.first(x, edge_index, edge_weight).tanh()
            return self.second(hidden, edge_index, edge_weight)

    net, options = Net(layer), {}
    if isinstance(parts, Edges):
        net = Weighted()
        weights = np.random.default_rng(0).random(SPARSE.shape[1]).astype(np.float32)
        options["inputs"] = {"edge_weight": weights}
    target = 40
    cut = wide(net, parts=parts, **options)
    whole = wide(net, parts=parts, num_layers=12, hops=2, **options)
    sizes = []
    for each in (cut, whole):
        checked = each._checked(target)
        sizes.append(
            len(each._graph_model.query([checked], np.array([target])).model.subgraph.nodes)
        )
    assert sizes[0] < sizes[1] == MANY
    found, expected = cut.explain(target), whole.explain(target)
    assert len(found.effects) > 3
    assert found.effects.agrees(expected.effects)
    assert found.ranking.parts == expected.ranking.parts


@pytest.mark.parametrize("parts", ["edges", Edges("rewire"), ["nodes", "edges"], "features"])
def test_other_targets_and_batches_do_not_change_an_explanation(parts):
    targets = [3, 40, 41, 59]
    together = wide(parts=parts).explain_many(targets)
    for target, expected in zip(targets, together, strict=True):
        assert wide(parts=parts).explain(target).effects.agrees(expected.effects)
    for options in ({"samples_per_call": 7}, {"max_memory": "1MB"}):
        again = wide(parts=parts, **options).explain_many(targets)
        for found, expected in zip(again, together, strict=True):
            assert found.effects.agrees(expected.effects)


def test_an_edge_that_does_nothing_is_rarely_significant():
    """Of a model that reads the direct neighbours, with edges two hops away as candidates."""

    def degree(x, edge_index):
        score = np.zeros(x.shape[:2])
        np.add.at(score.T, edge_index[1], x[:, edge_index[0], 0].T)
        return np.stack([-score, score], axis=-1)

    null, found = 0, 0
    for seed in range(10):
        made = wide(degree, num_layers=3, seed=seed, num_samples=200, correction="none")
        for target, explanation in zip(range(MANY), made.explain_many(range(MANY)), strict=True):
            effects = explanation.effects
            for part, significant in zip(effects.parts, effects.significant, strict=True):
                if target not in part:
                    null += 1
                    found += bool(significant)
    assert null > 5000
    assert found / null <= 0.055


@pytest.mark.parametrize("how", ["rewire", "attributes"])
def test_other_changes_of_edges_change_what_they_say(how):
    weights = np.arange(SPARSE.shape[1]) + 1.0

    class Record(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls, self.conv = [], GATConv(FEATURES, 3)

        def forward(self, x, edge_index, edge_weight):
            self.calls.append((edge_index.numpy(), edge_weight.numpy()))
            return x * edge_weight.sum()

    model = Record()
    made = wide(
        model, parts=Edges(how), inputs={"edge_weight": weights}, num_layers=20, samples_per_call=1
    )
    made.samples([3])
    edges, found = zip(*model.calls[-100:], strict=True)
    new_ends = np.stack(edges) != SPARSE
    new_weights = np.stack(found) != weights
    assert not new_ends[:, 1].any()  # the receiver stays
    assert new_ends[:, 0].any() is np.True_ if how == "rewire" else not new_ends.any()
    assert new_weights.any() == (how == "attributes")
    share = (new_ends[:, 0] if how == "rewire" else new_weights).mean()
    assert 0.07 < share < 0.13


def test_the_edge_of_an_edge_target_has_a_name_of_its_own():
    net = Net("GCN", "edge")
    found = explainer(net, CYCLE).explain((2, 3))
    assert ("edge", 2, 3) in found.effects.parts
    assert (2, 3) not in found.effects.parts
    assert found.target == (2, 3)
    assert found.effects.parts[0] == ("edge", 2, 3)
    named = found.named([f"road {node}" for node in range(len(X))])
    assert named.target == ("road 2", "road 3")
    assert named.effects.parts[0] == ("edge", "road 2", "road 3")
    with_network = explainer(net, CYCLE, structure="auto").explain((2, 3))
    assert ("edge", 2, 3) in with_network.network.nodes
    # The other direction is another pair.
    assert (2, 3) in explainer(net, BOTH_WAYS).explain((3, 2)).effects.parts
