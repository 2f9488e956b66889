"""Chordal graphs, and the searches of Markov and dependency networks."""

from itertools import combinations

import numpy as np
import pytest

from pgm_explainer.errors import InputError
from pgm_explainer.structure import (
    UndirectedGraph,
    decomposable_score,
    decomposable_search,
    local_search,
    neighbourhood_search,
    network_score,
)


def random_graph(rng, most=9):
    count = int(rng.integers(1, most))
    pairs = [each for each in combinations(range(count), 2) if rng.random() < 0.4]
    return UndirectedGraph(count, pairs)


def test_graphs_agree_with_networkx():
    nx = pytest.importorskip("networkx")
    rng = np.random.default_rng(0)
    for _ in range(100):
        graph = random_graph(rng)
        theirs = nx.Graph(list(graph.edges))
        theirs.add_nodes_from(range(graph.num_variables))
        assert graph.is_chordal == nx.is_chordal(theirs)
        assert sorted(graph.cliques) == sorted(tuple(sorted(c)) for c in nx.find_cliques(theirs))
        assert sorted(graph.components) == sorted(
            tuple(sorted(c)) for c in nx.connected_components(theirs)
        )
        filled = graph.triangulated()
        assert filled.is_chordal
        assert set(graph.edges) <= set(filled.edges)
        oriented = filled.oriented()
        assert {tuple(sorted(edge)) for edge in oriented.edges} == set(filled.edges)
        if not graph.is_chordal:
            with pytest.raises(InputError, match="triangulate it first"):
                graph.oriented()


@pytest.mark.parametrize("edge", [(0, 0), (0, 3), (0,), (0, 1, 2), (-1, 0), "ab"])
def test_what_is_not_an_edge_is_refused(edge):
    with pytest.raises(InputError):
        UndirectedGraph(3, [edge])


def chain(rng, count, states=3, samples=1000):
    data = rng.integers(0, states, (samples, count))
    for at in range(1, count):
        copies = rng.random(samples) < 0.6
        data[copies, at] = data[copies, at - 1]
    return data


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu"])
def test_the_search_finds_the_best_chordal_graph_of_four_variables(score):
    rng = np.random.default_rng(1)
    pairs = list(combinations(range(4), 2))
    for turn in range(4):
        data = chain(rng, 4)
        if turn % 2:  # no two of these three variables depend on each other
            data[:, 3] = (data[:, 0] + data[:, 2]) % 3
        best = -np.inf
        for chosen in range(64):
            graph = UndirectedGraph(4, [p for bit, p in enumerate(pairs) if chosen >> bit & 1])
            if graph.is_chordal:
                best = max(best, decomposable_score(graph, data, [3] * 4, score))
        found = decomposable_search(data, [3] * 4, score=score)
        assert found.is_chordal
        assert decomposable_score(found, data, [3] * 4, score) == pytest.approx(best)


def test_many_variables_of_a_chain_are_found():
    data = chain(np.random.default_rng(2), 16)
    chained = tuple((at, at + 1) for at in range(15))
    assert decomposable_search(data, [3] * 16).edges == chained
    assert neighbourhood_search(data, [3] * 16, significance=1e-4).edges == chained
    parents = local_search(data, [3] * 16)
    assert (parents[5], parents[0]) == ((4, 6), (1,))


def test_cliques_are_limited():
    rng = np.random.default_rng(3)
    data = rng.integers(0, 2, (500, 6))
    data[:, 1:] = np.where(rng.random((500, 5)) < 0.7, data[:, :1], data[:, 1:])
    loose = decomposable_search(data, [2] * 6, score="log_likelihood")
    assert len(loose.edges) == 15
    forest = decomposable_search(data, [2] * 6, score="log_likelihood", max_clique=2)
    assert len(forest.edges) == 5
    assert max(map(len, forest.cliques)) == 2
    wide = chain(rng, 14, states=4, samples=3000)
    with pytest.raises(InputError, match="set max_clique"):
        decomposable_search(wide, [4] * 14, score="log_likelihood")


def test_rules_differ_in_how_many_ends_must_agree():
    rng = np.random.default_rng(4)
    data = chain(rng, 7, samples=300)
    data[:, 6] = (data[:, 0] + data[:, 1]) % 3
    both = neighbourhood_search(data, [3] * 7, significance=0.05)
    either = neighbourhood_search(data, [3] * 7, significance=0.05, rule="or")
    assert set(both.edges) < set(either.edges)
    with pytest.raises(InputError, match="choose one of: and, or"):
        neighbourhood_search(data, [3] * 7, rule="xor")


def test_local_parents_score_at_least_as_high_as_those_of_any_network():
    data = chain(np.random.default_rng(5), 4)
    parents = local_search(data, [3] * 4)
    total = sum(
        network_score(data, [3] * 4, [(each, at) for each in its])
        - sum(network_score(data[:, [o]], [3], []) for o in range(4) if o != at)
        for at, its in enumerate(parents)
    )
    best = network_score(data, [3] * 4, [(0, 1), (1, 2), (2, 3)])
    assert total > best
    assert max(map(len, local_search(data, [3] * 4, max_parents=1))) == 1
