"""Targets are read as numbers, each once, and near ones come together."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from job_models import NODES, explainer
from scipy.sparse.csgraph import connected_components

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.dataset.planning import locality, plan_shards, read_targets
from pgm_explainer.graph import Graph


@pytest.mark.parametrize(
    "targets",
    [
        [5, 2, 5],
        (2, 5),
        {5, 2},
        iter([5, 2]),
        np.array([5, 2]),
        torch.tensor([2, 5]),
        np.isin(np.arange(NODES), [2, 5]),
        [np.int32(5), 2],
    ],
    ids=["list", "tuple", "set", "iterator", "array", "tensor", "mask", "mixed"],
)
def test_targets_are_read_in_any_form_each_once(targets):
    assert read_targets(explainer(), targets).tolist() == [2, 5]


def test_none_is_all_nodes():
    assert read_targets(explainer(), None).tolist() == list(range(NODES))


@pytest.mark.parametrize(
    ("targets", "named"),
    [
        ([], "no targets"),
        (3, "3"),
        ("12", "'12'"),
        ([1.5], "float64"),
        ([[1, 2]], r"\(1, 2\)"),
        ([None], "object"),
        (["a"], "<U1"),
        ([True, False], "bool"),
        ([1, [2]], "targets cannot be read"),
    ],
    ids=str,
)
def test_an_invalid_target_is_named(targets, named):
    with pytest.raises(InputError, match=named):
        read_targets(explainer(), targets)


def test_pairs_are_read_and_a_graph_is_refused():
    x, edges = np.eye(4), np.array([[0, 1, 2], [1, 2, 3]])
    pairs = PGMExplainer(lambda x, pairs: x[:, pairs[0]], x, edges, task="edge")
    assert read_targets(pairs, [(1, 2), (0, 3), (1, 2)]).tolist() == [[0, 3], [1, 2]]
    with pytest.raises(InputError, match="needs a list of pairs"):
        read_targets(pairs, None)
    with pytest.raises(InputError, match="pairs of nodes"):
        read_targets(pairs, [1, 2])
    graph = PGMExplainer(lambda x: x[:, 0], x, edges, task="graph")
    with pytest.raises(InputError, match=r"explain\(\)"):
        read_targets(graph, None)


@given(arrays(np.int64, st.tuples(st.just(2), st.integers(0, 40)), elements=st.integers(0, 11)))
def test_the_order_is_a_permutation_of_all_nodes(edges):
    assert sorted(locality(Graph(edges, 12)).tolist()) == list(range(12))


def test_separate_components_are_not_mixed():
    rng = np.random.default_rng(0)
    names = rng.permutation(60)  # three rings of 20, their nodes numbered at random
    at = np.arange(20)
    edges = names[np.concatenate([np.stack((at, (at + 1) % 20)) + 20 * k for k in range(3)], 1)]
    graph = Graph(np.concatenate((edges, edges[::-1]), axis=1), 60)
    groups = connected_components(_matrix(graph))[1]
    in_order = groups[np.argsort(locality(graph))]
    assert np.count_nonzero(np.diff(in_order)) == 2


def _matrix(graph):
    dense = np.zeros((graph.num_nodes,) * 2)
    dense[graph.edge_index[0], graph.edge_index[1]] = 1
    return dense


def test_neighbours_on_a_shuffled_ring_share_a_shard():
    size = 200
    names = np.random.default_rng(0).permutation(size)
    at = np.arange(size)
    edges = names[np.stack((at, (at + 1) % size))]
    made = PGMExplainer(
        lambda x, edge_index: x, np.eye(size), np.concatenate((edges, edges[::-1]), axis=1)
    )
    shards = plan_shards(made, np.arange(size), 20)
    assert sorted(np.concatenate(shards).tolist()) == list(range(size))
    reached = [len(made.graph.within_hops(shard, 3)) for shard in shards]
    # A ring is cut at two ends of a shard, or at four where it is walked in both directions.
    assert max(reached) <= 20 + 4 * 3


def test_shards_depend_on_nothing_but_the_targets():
    made = explainer()
    one = plan_shards(made, read_targets(made, [40, 3, 17, 5]), 2)
    other = plan_shards(explainer(), read_targets(made, [5, 40, 17, 3]), 2)
    assert [shard.tolist() for shard in one] == [shard.tolist() for shard in other]


def test_a_target_outside_the_graph_comes_last():
    shards = plan_shards(explainer(), np.array([-1, 3, 5, 9, 1000]), 3)
    assert sorted(shards[-1].tolist()) == [-1, 1000]
