"""Where things go: near nodes near, every arrow downwards, nothing on top of anything else."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer import PGMExplainer
from pgm_explainer.report.html.layout import layer_dag, place_nodes, visible_nodes
from pgm_explainer.structure import DAG


@st.composite
def dags(draw):
    size = draw(st.integers(1, 9))
    pairs = [(u, v) for v in range(size) for u in range(v)]
    return DAG(size, draw(st.lists(st.sampled_from(pairs), max_size=14)) if pairs else [])


@given(dags())
def test_arrows_point_down_and_variables_keep_clear(dag):
    found = layer_dag(dag)
    for parent, child in dag.edges:
        assert found.layer[parent] < found.layer[child]
        assert len(found.bends[parent, child]) == found.layer[child] - found.layer[parent] - 1
    for layer in set(found.layer):
        xs = np.sort([x for x, at in zip(found.x, found.layer, strict=True) if at == layer])
        assert (np.diff(xs) >= 1 - 1e-9).all()
    assert set(found.layer) == set(range(max(found.layer) + 1))


@given(dags())
def test_an_arrow_passes_beside_the_variables_in_between(dag):
    found = layer_dag(dag)
    for (parent, _), bends in found.bends.items():
        for level, bend in enumerate(bends, start=found.layer[parent] + 1):
            for x, layer in zip(found.x, found.layer, strict=True):
                if layer == level:
                    assert abs(x - bend) > 0.5


def test_variables_without_arrows_come_last():
    found = layer_dag(DAG(7, [(0, 1), (1, 2)]))
    assert found.layer[:3] == [0, 1, 2]
    assert found.layer[3:] == [3, 3, 3, 4]


def stress(graph, at):
    """How far the distances in a picture are from those in the graph, at its best scale."""
    wanted = np.array(nx.floyd_warshall_numpy(graph))[np.triu_indices(len(graph), 1)]
    apart = np.linalg.norm(at[:, None] - at[None], axis=-1)[np.triu_indices(len(graph), 1)]
    scale = (apart / wanted).sum() / ((apart / wanted) ** 2).sum()
    return (((scale * apart - wanted) / wanted) ** 2).sum()


@pytest.mark.parametrize(
    "graph",
    [nx.grid_2d_graph(5, 4), nx.barbell_graph(6, 3), nx.star_graph(30), nx.balanced_tree(2, 4)],
    ids=["grid", "barbell", "star", "tree"],
)
def test_pictures_are_as_good_as_those_of_networkx(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    edges = np.array(graph.edges).T
    at = place_nodes(len(graph), edges)
    peer = nx.kamada_kawai_layout(graph)
    peers = np.array([peer[node] for node in range(len(graph))])
    assert stress(graph, at) <= 1.1 * stress(graph, peers)
    assert np.ptp(at[:, 0]) >= 0.9 * np.ptp(at[:, 1])  # wider than high
    np.testing.assert_array_equal(at, place_nodes(len(graph), edges))


def test_parts_that_are_not_connected_are_placed_too():
    at = place_nodes(5, np.array([[0, 2], [1, 3]]))
    assert np.isfinite(at).all()
    apart = np.linalg.norm(at[:, None] - at[None], axis=-1) + 9 * np.eye(5)
    assert apart.min() > 0.5


@pytest.mark.parametrize("size", [0, 1, 2])
def test_few_nodes_are_placed_too(size):
    assert place_nodes(size, np.empty((2, 0), dtype=int)).shape == (size, 2)


@pytest.fixture(scope="module")
def far_away():
    """A path of 30 nodes to the target 0, which depends on node 4 alone, and 200 more around 29."""
    path = np.stack((np.arange(1, 30), np.arange(29)))
    fan = np.stack((np.arange(30, 230), np.full(200, 29)))

    def model(x):
        score = np.zeros((*x.shape[:2], 1))
        score[:, 0, 0] = 6 * x[:, 4, 0] - 3
        return np.concatenate([-score, score], axis=-1)

    x = np.random.default_rng(0).random((230, 1))
    edges = np.concatenate((path, fan), axis=1)
    options = {"num_layers": 30, "perturbation": "permute", "only_significant": False}
    return PGMExplainer(model, x, edges, max_nodes=1, **options).explain(0)


def test_the_ways_between_target_and_explaining_nodes_are_shown(far_away):
    assert far_away.nodes == [4]
    assert visible_nodes(far_away, 1).tolist() == [0, 1, 2, 3, 4]


def test_the_remaining_places_go_to_the_nearest(far_away):
    assert visible_nodes(far_away, 8).tolist() == list(range(8))
    assert len(visible_nodes(far_away, 60)) == 60
    assert len(visible_nodes(far_away, 1000)) == 230


def test_without_a_graph_the_explaining_nodes_are_shown(far_away):
    assert visible_nodes(replace(far_away, graph=None), 60).tolist() == [0, 4]
