"""Time steps as parts, for features with a time axis."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from pgm_explainer import (
    Features,
    Groups,
    InputError,
    ModelError,
    PGMExplainer,
    Time,
    explain_graphs,
)

NODES, STEPS, FEATURES = 7, 4, 2
RING = np.array([[*range(NODES)], [*range(1, NODES), 0]])
X = np.random.default_rng(0).normal(size=(NODES, STEPS, FEATURES)).astype(np.float32)


class Recurrent(torch.nn.Module):
    """A recurrent network on each node, then a convolution; it needs ``x [n, T, F]``."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.over_time = torch.nn.GRU(FEATURES, 5, batch_first=True)
        self.over_nodes = GCNConv(5, 3)

    def forward(self, x, edge_index):
        return self.over_nodes(self.over_time(x)[0][:, -1], edge_index)


def last_of_upstream(x, edge_index):
    """The score of a node is feature 0 of its sender at step 1."""
    score = np.zeros(x.shape[:2])
    score[:, edge_index[1]] = x[:, edge_index[0], 1, 0]
    return np.stack([-score, score], axis=-1)


def explainer(model=last_of_upstream, x=X, **options):
    chosen = {"num_layers": 1, "num_samples": 200, "progress": False, **options}
    return PGMExplainer(model, x, RING, **chosen)


def recorded(**options):
    """The features ``[samples, NODES, STEPS, FEATURES]`` on which a model is called."""
    seen = []

    def model(x):
        seen.append(x.copy())
        return last_of_upstream(x, RING)

    explainer(model, **options).samples([3])
    return max(seen, key=len)


def test_a_module_gets_the_time_axis_in_every_sample():
    model = Recurrent()
    made = explainer(model, num_layers=None)
    batch = np.random.default_rng(1).normal(size=(6, NODES, STEPS, FEATURES)).astype(np.float32)
    scores = made.predictor(batch.reshape(6, NODES, -1), made.graph.whole)
    with torch.no_grad():
        expected = [model(torch.from_numpy(x), torch.from_numpy(RING)) for x in batch]
    torch.testing.assert_close(scores, torch.stack(expected))
    assert made.predictor.predictor.used in ("shared", "sparse", "blocks")
    assert made.num_layers == 1


def test_a_module_that_takes_stacks_of_sequences_is_called_with_stacks():
    class Sum(torch.nn.Module):
        def forward(self, x, edge_index):
            return torch.cat((x, -x), dim=-1).sum(dim=-2)

    made = explainer(Sum())
    made.explain(0)
    assert made.predictor.predictor.used == "stacked"


def test_a_function_gets_the_time_axis():
    shapes = set()

    def model(x, edge_index):
        shapes.add(x.shape[2:])
        return last_of_upstream(x, edge_index)

    found = explainer(model, parts="time").explain(3)
    assert shapes == {(STEPS, FEATURES)}
    assert found.effects.parts[0] == "step 1"
    assert set(found.effects.parts) == {f"step {step}" for step in range(STEPS)}


@pytest.mark.parametrize("target", range(NODES))
def test_the_node_and_the_step_of_the_cause_are_found(target):
    found = explainer(parts=Time(per_node=True)).explain(target)
    assert found.effects.parts[0] == ((target - 1) % NODES, "step 1")


def test_tensors_and_data_objects_are_read_like_arrays():
    edges = torch.from_numpy(RING)
    model = Recurrent()
    options = {"parts": "time", "num_samples": 100, "progress": False}
    by_array = PGMExplainer(model, X, RING, **options).explain(2)
    assert PGMExplainer(model, torch.from_numpy(X), edges, **options).explain(2) == by_array
    data = Data(x=torch.from_numpy(X), edge_index=edges)
    assert PGMExplainer(model, data, **options).explain(2) == by_array


@pytest.mark.parametrize("parts", ["nodes", Time(STEPS), Time(STEPS, per_node=True)])
def test_a_time_axis_is_the_same_as_its_columns_side_by_side(parts):
    def flat(x, edge_index):
        return last_of_upstream(x.reshape(*x.shape[:2], STEPS, FEATURES), edge_index)

    with_axis = explainer(parts=parts).explain(3)
    assert explainer(flat, X.reshape(NODES, -1), parts=parts).explain(3) == with_axis
    if parts == "nodes":
        assert with_axis.effects.parts[0] == 2


@pytest.mark.parametrize("per_node", [False, True])
def test_a_permuted_step_has_the_values_of_another_node_at_the_same_step(per_node):
    batches = recorded(parts=Time(per_node=per_node), perturbation="permute")
    changed = 0
    for sample, node, step in np.argwhere((batches != X).any(axis=-1)).tolist():
        row = batches[sample, node, step]
        donors = np.flatnonzero((X[:, step] == row).all(axis=-1))
        assert len(donors) == 1
        assert donors[0] != node
        changed += 1
    assert changed > 100


def test_the_option_features_selects_features_at_all_steps():
    batches = recorded(parts="time", features=[1])
    np.testing.assert_array_equal(batches[..., 0], np.broadcast_to(X[..., 0], batches.shape[:3]))
    assert (batches[..., 1] != X[..., 1]).any(axis=(0, 1)).all()


def test_a_feature_part_has_all_steps():
    found = explainer(parts="features").explain(3).effects
    assert set(found.parts) == {"feature 0", "feature 1"}
    assert found.parts[0] == "feature 0"
    found = explainer(parts=Features(nodes=(2, 5))).explain(3).effects
    assert found.parts[0] == (2, "feature 0")
    found = explainer(parts=Groups({"flow": [0], "time": [1]}, of="features")).explain(3).effects
    assert found.parts[0] == "flow"


def test_a_custom_perturbation_gets_the_time_axis():
    def forget_step_1(x, rng):
        x[:, 1] = 0
        return x

    found = explainer(parts="time", perturbation=forget_step_1).explain(3).effects
    assert found.parts[0] == "step 1"
    assert found.significant.tolist() == [True, False, False, False]


def test_many_graphs_with_a_time_axis():
    def model(x, edge_index):  # the largest value of feature 1 at step 2
        return x[:, :, 2, 1].max(axis=1)[:, None]

    rng = np.random.default_rng(0)
    graphs = [(rng.normal(size=(n, STEPS, FEATURES)), RING[:, : n - 1]) for n in (3, 5, 7)]
    options = {"scores": "values", "num_samples": 300, "progress": False}
    found = explain_graphs(model, graphs, parts=Time(per_node=True), **options)
    strongest = [each.effects.parts[0] for each in found]
    assert strongest == [(int(x[:, 2, 1].argmax()), "step 2") for x, _ in graphs]
    graphs.append((rng.normal(size=(4, STEPS + 1, FEATURES)), RING[:, :3]))
    with pytest.raises(InputError, match="graph 3 has 5 time steps of 2 features per node"):
        explain_graphs(model, graphs, **options)


def test_labels_of_many_nodes_are_made_when_needed():
    many = np.zeros((200_000, 2, 1), dtype=np.float32)
    many[::2] = 1
    made = PGMExplainer(last_of_upstream, many, RING, parts=Time(per_node=True))
    assert made.parts.count == 400_000
    assert made.parts.labels(np.array([made.parts.stop - 1])) == [(199_999, "step 1")]


@pytest.mark.parametrize(
    ("parts", "x", "message"),
    [
        ("time", X.reshape(NODES, -1), r"pass features x of shape \[nodes, steps, features\]"),
        (Time(3), X.reshape(NODES, -1), "8 feature columns cannot be divided into 3 time steps"),
        (Time(3), X, "steps=3, but the features have 4 time steps"),
        ("time", X[..., None], r"its shape is \(7, 4, 2, 1\)"),
        ("time", X[:, :0], "at least one node and one feature"),
        ("nodes", np.where(X[4, 2, 1] == X, np.nan, X), r"x\[4, 2, 1\] is nan"),
    ],
)
def test_bad_time_axes_are_refused(parts, x, message):
    with pytest.raises(InputError, match=message):
        explainer(parts=parts, x=x)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"steps": 1.5}, "steps must be a whole number"),
        ({"per_node": 1}, "per_node must be True or False"),
    ],
)
def test_bad_arguments_of_time_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Time(**arguments)


def test_a_failure_of_the_model_names_the_shape_that_it_got():
    def model(x, edge_index):
        raise ValueError("no")

    with pytest.raises(ModelError, match=r"features of shape \[1, 5, 4, 2\]"):
        explainer(model).explain(0)


def test_features_of_nodes_are_perturbed_at_all_steps():
    made = explainer()
    found = made.explain_features(made.explain(3))
    assert set(found.features.tolist()) <= set(range(made.population.width))
    assert len(found) == len(np.unique(found.nodes)) * made.population.width - found.untested
