"""Parts that cannot be used are refused with a message that says what to do."""

import numpy as np
import pytest
import torch

from pgm_explainer import Edges, Features, Groups, InputError, PGMExplainer, Time

RING = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
X = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)


def model(x, edge_index):
    return x[..., :2]


def make(parts, model=model, edge_index=RING, **options):
    return PGMExplainer(model, X, edge_index, parts=parts, progress=False, **options)


BAD = [
    ({"a": [0, 7]}, "the group 'a' has the member 7, but there are 4 nodes, numbered from 0"),
    ({"a": [0, 10**30]}, "the group 'a' has the member 10000000000"),
    (lambda: Groups({"a": [(0, 10**30)]}, of="edges"), "has the edge .*, which is not in"),
    ({"a": [-1]}, "whole numbers of at least 0"),
    ({"a": ["benzene"]}, "the group 'a': 'benzene' is not a node: nodes have no names"),
    ({"a": [True]}, "whole numbers of at least 0"),
    ({"a": [0, 1], "b": [1, 2]}, "the groups 'a' and 'b' overlap"),
    ({"a": [0], "b": []}, "the group 'b' has no members; leave it out"),
    ({"a": 3}, "the group 'a' has no members"),
    ({1: [0]}, "the name of a group must be a string, not 1"),
    ({"": [0]}, "the name of a group must be a string"),
    ({}, "there are no groups"),
    (lambda: Groups([None, None, None, None]), "there are no groups"),
    (lambda: Groups(["a", "a"]), "a list of groups needs a name or None for each of 4 nodes"),
    (lambda: Groups("a"), "groups must be a mapping"),
    (lambda: Groups(5), "groups must be a mapping"),
    (lambda: Groups({"a": [0]}, of="atoms"), "groups are of nodes, edges, features, not of"),
    (lambda: Groups({"a": [(0, 2)]}, of="edges"), r"the edge \(0, 2\), which is not in the graph"),
    (lambda: Groups({"a": [(0, 9)]}, of="edges"), r"the edge \(0, 9\), which is not in the graph"),
    (lambda: Groups({"a": [(0, 1, 2)]}, of="edges"), r"must be pairs of nodes \(u, v\)"),
    (lambda: Groups({"a": [(0, 1)], "b": [(0, 1)]}, of="edges"), "'a' and 'b' overlap"),
    (lambda: Groups({"a": [6]}, of="features"), "member 6, but there are 6 features"),
    ("atoms", "unknown parts 'atoms'; choose one of: nodes, edges, features, time"),
    (None, "parts must be a name"),
    (3, "parts must be a name"),
    ([], "parts must be a name"),
    (Edges, "parts must be a name"),
    (["nodes"], "a mix of parts needs two or more different kinds"),
    (["edges", "edges"], "a mix of parts needs two or more different kinds"),
    ([Groups({"a": [0]}), Groups({"a": [1]}, of="features")], "two groups are called 'a'"),
    (lambda: Edges("cut"), "unknown change of edges 'cut'; choose one of: remove, rewire"),
    (lambda: Edges(undirected="yes"), "undirected must be True, False or None, not 'yes'"),
    (lambda: Edges("attributes"), "needs further inputs of edges, such as edge_weight"),
    (lambda: Features(nodes=[9]), "Features has the node 9, but the graph has nodes 0 to 3"),
    (lambda: Features(nodes=[]), "the nodes of Features must be node indices"),
    (lambda: Features(nodes=["a"]), "'a' is not a node: nodes have no names"),
    (lambda: Features(nodes=[0.5]), "the nodes of Features must be node indices"),
    (lambda: Time(4), "6 feature columns cannot be divided into 4 time steps"),
    ("time", "needs the number of time steps"),
]


@pytest.mark.parametrize(("parts", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_parts_are_refused(parts, message):
    with pytest.raises(InputError, match=message):
        make(parts() if callable(parts) and not isinstance(parts, type) else parts)


def test_an_object_that_is_no_kind_of_parts_is_refused():
    class Nameless:
        def bind(self, graph, population, config, first):
            return None

    with pytest.raises(InputError, match="a kind of parts needs a name"):
        make(Nameless())


@pytest.mark.parametrize("parts", ["edges", Edges("rewire"), ["nodes", "edges"]])
def test_a_graph_without_edges_has_no_edges_to_perturb(parts):
    with pytest.raises(InputError, match="the graph has no edges"):
        make(parts, edge_index=RING[:, :0])


class OfFeatures(torch.nn.Module):
    def forward(self, x):
        return x[..., :2]


@pytest.mark.parametrize("without", [lambda x: x[..., :2], OfFeatures()])
@pytest.mark.parametrize("parts", ["edges", ["nodes", "edges"], Groups({"a": [0]}, of="edges")])
def test_edges_of_a_model_without_edge_index_are_refused(without, parts):
    with pytest.raises(InputError, match="needs a model that is called with edge_index"):
        make(parts, without)


@pytest.mark.parametrize("perturbation", ["mean", "zero", lambda x, rng: x])
def test_a_perturbation_of_features_does_not_apply_to_edges(perturbation):
    with pytest.raises(InputError, match="does not apply to parts='edges'"):
        make("edges", perturbation=perturbation)
    make(["nodes", "edges"], perturbation=perturbation)


def test_attributes_of_edges_need_inputs_of_edges():
    class Weighted(torch.nn.Module):
        def forward(self, x, edge_index, edge_weight=None):
            return x[..., :2]

    weights = np.ones(4, dtype=np.float32)
    parts = Edges("attributes")
    with pytest.raises(InputError, match="needs further inputs of edges"):
        make(parts, Weighted())
    make(parts, Weighted(), inputs={"edge_weight": weights})
    make(parts, lambda x, edge_index, edges: x[..., :2])


def test_a_target_without_parts_has_an_explanation_that_says_so():
    edges = RING[:, :2]  # no edge into node 0, none out of 2, node 3 is alone
    found = make("edges", edge_index=edges, num_layers=1, num_samples=100).explain(3)
    assert len(found.effects) == 0
    assert found.network is None or not found.network.parents(3)
    assert any("no candidates" in text for text in found.warnings)
    groups = make({"a": [0]}, edge_index=edges, num_layers=1, num_samples=100).explain(3)
    assert len(groups.effects) == 0
    of_edges = Groups({"a": [(0, 1)]}, of="edges")
    found = make(of_edges, edge_index=edges, num_layers=1, num_samples=100).explain(3)
    assert len(found.effects) == 0


def test_edges_beyond_hops_are_no_candidates():
    path = np.array([[3, 2, 1], [2, 1, 0]])
    options = {"edge_index": path, "num_layers": 3, "num_samples": 100}
    found = make("edges", hops=1, **options).explain(0).effects.parts
    assert set(found) == {(1, 0), (2, 1)}
    assert set(make("edges", **options).explain(0).effects.parts) == {(1, 0), (2, 1), (3, 2)}


def test_features_of_an_explanation_by_edges_are_those_of_the_target():
    made = make("edges", num_layers=1, num_samples=100)
    found = made.explain(0, with_features=True).features
    assert set(found.nodes.tolist()) <= {0}
    assert found.own.all()
