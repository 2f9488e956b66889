"""Where nodes go: near nodes near, always the same, and none that matters left out."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from pgm_explainer import PGMExplainer
from pgm_explainer.report.layout import edges_among, place_nodes, visible_nodes


def stress(graph, at):
    """How far the distances in a picture are from those in the graph, at its best scale."""
    pairs = np.triu_indices(len(graph), 1)
    wanted = np.array(nx.floyd_warshall_numpy(graph))[pairs]
    apart = np.linalg.norm(at[:, None] - at[None], axis=-1)[pairs]
    scale = (apart / wanted).sum() / ((apart / wanted) ** 2).sum()
    return (((scale * apart - wanted) / wanted) ** 2).sum()


@pytest.mark.parametrize(
    "graph",
    [
        nx.grid_2d_graph(5, 5),
        nx.barbell_graph(6, 3),
        nx.star_graph(30),
        nx.balanced_tree(2, 4),
        nx.cycle_graph(12),
        nx.barabasi_albert_graph(50, 2, seed=1),
    ],
    ids=["grid", "barbell", "star", "tree", "cycle", "scale-free"],
)
def test_distances_are_as_near_those_of_the_graph_as_networkx_gets(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    edges = np.array(graph.edges).T
    at = place_nodes(len(graph), edges)
    peer = nx.kamada_kawai_layout(graph)
    peers = np.array([peer[node] for node in range(len(graph))])
    assert stress(graph, at) <= 1.03 * stress(graph, peers)
    assert np.ptp(at[:, 0]) >= 0.9 * np.ptp(at[:, 1])  # wider than high
    np.testing.assert_array_equal(at, place_nodes(len(graph), edges))


def test_nodes_that_need_room_get_it():
    edges = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    at = place_nodes(5, edges, [1, 2])
    length = np.linalg.norm(at[edges[0]] - at[edges[1]], axis=1)
    np.testing.assert_allclose(length, [1, 2, 1, 1], rtol=0.02)


@pytest.mark.parametrize("graph", ["star", "path", "clique", "random"])
def test_no_two_nodes_that_need_room_touch_nor_hide_others(graph):
    drawn = {
        "star": nx.star_graph(49),
        "path": nx.path_graph(50),
        "clique": nx.complete_graph(50),
        "random": nx.gnm_random_graph(50, 100, seed=2),
    }[graph]
    roomy = [0, 1, 2, 3, 4, 5]
    at = place_nodes(50, np.array(drawn.edges).T, roomy)
    apart = np.linalg.norm(at[:, None] - at[None], axis=-1) + 99 * np.eye(50)
    side = np.ptp(at, axis=0).max()
    assert apart[np.ix_(roomy, roomy)].min() > 0.13 * side
    assert apart[roomy].min() > 0.065 * side


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
    return PGMExplainer(model, x, edges, max_nodes=1, num_samples=200, **options).explain(0)


def test_the_ways_between_target_and_explaining_nodes_are_shown(far_away):
    assert far_away.nodes == [4]
    assert visible_nodes(far_away, 1).tolist() == [0, 1, 2, 3, 4]


def test_the_remaining_places_go_to_the_nearest(far_away):
    assert visible_nodes(far_away, 8).tolist() == list(range(8))
    assert len(visible_nodes(far_away, 60)) == 60
    assert len(visible_nodes(far_away, 1000)) == 230


def test_without_a_graph_the_explaining_nodes_are_shown(far_away):
    without = replace(far_away, graph=None)
    assert visible_nodes(without, 60).tolist() == [0, 4]
    assert edges_among(np.array([0, 4]), without).shape == (2, 0)


def test_every_edge_is_drawn_once(kinds):
    explanation = kinds["node"]
    part = explanation.neighbourhood
    nodes = visible_nodes(explanation, 1000)
    drawn = [tuple(pair) for pair in nodes[edges_among(nodes, explanation)].T.tolist()]
    joined = {tuple(sorted(pair)) for pair in part.nodes[part.edge_index].T.tolist()}
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == joined
