"""Reach: how much of what a target hears can come from a node."""

import numpy as np

from pgm_explainer import PGMExplainer
from pgm_explainer.graph import Graph
from pgm_explainer.selection import reach_of

FEW, MANY = 3, 10


def ladder():
    """Node 0 hears ``FEW``; the first of them hears ``MANY`` others."""
    near = np.arange(1, 1 + FEW)
    far = np.arange(1 + FEW, 1 + FEW + MANY)
    sources = np.concatenate((near, far))
    targets = np.concatenate((np.zeros(FEW, dtype=int), np.ones(MANY, dtype=int)))
    return np.stack((sources, targets)), near, far


def reach_in(edges, ends, candidates, hops):
    num_nodes = int(edges.max()) + 1
    return reach_of(Graph(edges, num_nodes), np.asarray(ends), np.asarray(candidates), hops)


def test_those_heard_often_are_equals():
    edges, near, far = ladder()
    reach = reach_in(edges, [0], np.concatenate((near, far)), hops=2)
    assert (reach[:FEW] == 1).all()
    np.testing.assert_allclose(reach[FEW:], (1 / (FEW * MANY) / 0.15) ** 2)


def test_none_counts_for_less_than_a_hundredth():
    edges = np.stack((np.arange(1, 2001), np.repeat([0, 1], 1000)))
    reach = reach_in(edges, [0], np.arange(1, 2001), hops=2)
    assert set(reach.tolist()) == {1.0, 0.01}


def test_within_one_hop_all_are_equals_however_many():
    edges = np.stack((np.arange(1, 200), np.zeros(199, dtype=int)))
    assert set(reach_in(edges, [0], np.arange(1, 200), hops=1).tolist()) == {1.0}


def test_of_a_graph_all_are_equals():
    edges, near, far = ladder()
    assert (reach_in(edges, np.empty(0, dtype=int), [*near, *far], hops=3) == 1).all()


def test_without_candidates_there_is_no_reach():
    assert len(reach_in(np.array([[0], [1]]), [0], np.empty(0, dtype=int), hops=2)) == 0


def test_of_a_pair_all_are_equals():
    edges, near, far = ladder()
    assert (reach_in(edges, [0, 1], [0, 1, *near, *far], hops=2) == 1).all()


def test_walks_end_even_if_a_model_is_said_to_see_everything():
    edges, near, far = ladder()
    back = np.concatenate((edges, edges[::-1]), axis=1)
    reach = reach_in(back, [0], [*near, *far], hops=10**9)
    assert (reach[:FEW] == 1).all()


def follower(x):
    """Node 0 follows its near nodes a little and a far one not at all; all move by one cause."""
    score = np.repeat(x[:, 1:2] - 0.5, x.shape[1], axis=1)
    return np.concatenate([score, -score], axis=-1)


def test_of_nodes_that_move_alike_near_ones_come_first():
    """All predictions follow node 1, so all variables depend on the target alike."""
    edges, near, _ = ladder()
    x = np.linspace(0, 1, int(edges.max()) + 1)[:, None]
    x[1] = 1
    options = {"num_layers": 2, "max_nodes": FEW, "structure": None}

    def nodes(rank_by):
        explainer = PGMExplainer(follower, x, edges, rank_by=rank_by, **options)
        return explainer.explain(0).nodes

    assert sorted(nodes("reach")) == near.tolist()
    assert sorted(nodes("dependence")) != near.tolist()
    assert nodes("influence") == [1]


def far_reader(x):
    """Node 0 follows one far node only."""
    score = np.repeat(x[:, -1:] - 0.5, x.shape[1], axis=1) * (np.arange(x.shape[1]) == 0)[:, None]
    return np.concatenate([score, -score], axis=-1)


def test_a_node_that_decides_is_found_however_little_of_it_should_be_heard():
    edges, _, far = ladder()
    x = np.linspace(0, 1, int(edges.max()) + 1)[:, None]
    explainer = PGMExplainer(far_reader, x, edges, num_layers=2, structure=None)
    explanation = explainer.explain(0)
    assert explanation.nodes == [far[-1]]
