"""Directed acyclic graphs: what they hold and what they refuse."""

import time

import networkx as nx
import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.structure import DAG

is_separated = getattr(nx, "is_d_separator", None) or nx.d_separated  # its name before 3.3


def random_dag(seed, size=8):
    rng = np.random.default_rng(seed)
    names = rng.permutation(size)
    return DAG(
        size,
        [(names[u], names[v]) for v in range(size) for u in range(v) if rng.random() < 0.4],
    )


def test_edges_are_sorted_and_kept_once():
    assert DAG(3, [(2, 1), (0, 1), (2, 1)]).edges == ((0, 1), (2, 1))


def test_equal_edges_make_equal_graphs_with_equal_hashes():
    one, other = DAG(3, [(0, 1), (1, 2)]), DAG(3, [[1, 2], [0, 1]])
    assert one == other
    assert hash(one) == hash(other)
    assert one != DAG(4, [(0, 1), (1, 2)])
    assert one != DAG(3, [(0, 1)])


def test_numpy_numbers_become_plain_ones():
    (edge,) = DAG(3, np.array([[0, 2]])).edges
    assert edge == (0, 2)
    assert all(type(end) is int for end in edge)


def test_an_iterator_of_edges_is_accepted():
    assert DAG(3, iter([(0, 1), (1, 2)])).edges == ((0, 1), (1, 2))


@pytest.mark.parametrize("size", [0, 1, 5])
def test_without_edges_there_are_no_relatives(size):
    dag = DAG(size)
    assert dag.edges == ()
    assert dag.order == tuple(range(size))
    assert all(dag.parents(v) == dag.children(v) == dag.markov_blanket(v) == () for v in dag.order)


@pytest.mark.parametrize(
    "edges", [[(0, 0)], [(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 0)], [(3, 0), (0, 1), (1, 3)]]
)
def test_cycles_are_refused(edges):
    with pytest.raises(InputError, match="cycle"):
        DAG(4, edges)


@pytest.mark.parametrize("edge", [(0, 4), (-1, 0), (0,), (), (0, 1, 2), (0.5, 1), (True, 2)])
def test_an_invalid_edge_is_refused(edge):
    with pytest.raises(InputError):
        DAG(4, [edge])


@pytest.mark.parametrize("seed", range(10))
def test_the_order_puts_parents_first_and_smaller_numbers_before_larger(seed):
    dag = random_dag(seed)
    graph = nx.DiGraph(dag.edges)
    graph.add_nodes_from(range(8))
    assert list(dag.order) == list(nx.lexicographical_topological_sort(graph))


@pytest.mark.parametrize("seed", range(10))
def test_relatives_agree_with_the_edges(seed):
    dag = random_dag(seed)
    for v in range(8):
        assert dag.parents(v) == tuple(sorted(u for u, w in dag.edges if w == v))
        assert dag.children(v) == tuple(sorted(w for u, w in dag.edges if u == v))


@pytest.mark.parametrize("seed", range(10))
def test_the_markov_blanket_separates_from_all_others(seed):
    dag = random_dag(seed)
    graph = nx.DiGraph(dag.edges)
    graph.add_nodes_from(range(8))
    for v in range(8):
        blanket = set(dag.markov_blanket(v))
        others = set(range(8)) - blanket - {v}
        assert not others or is_separated(graph, {v}, others, blanket)
        for member in blanket:  # and it is the smallest that does
            rest = set(range(8)) - {v, member} - (blanket - {member})
            assert not is_separated(graph, {v}, rest | {member}, blanket - {member})


def test_a_blanket_has_parents_children_and_their_other_parents():
    dag = DAG(6, [(0, 2), (2, 3), (1, 3), (4, 0), (3, 5)])
    assert dag.markov_blanket(2) == (0, 1, 3)


def test_a_graph_cannot_be_changed():
    dag = DAG(2, [(0, 1)])
    with pytest.raises(AttributeError):
        dag.edges = ()


@pytest.mark.parametrize(
    "make",
    [
        lambda: DAG(None),
        lambda: DAG(-1),
        lambda: DAG(2.5),
        lambda: DAG(3, None),
        lambda: DAG(3, 7),
        lambda: DAG(3, [None]),
        lambda: DAG(3).parents(3),
        lambda: DAG(3).children("a"),
        lambda: DAG(3).markov_blanket(None),
    ],
)
def test_an_invalid_number_or_list_is_refused(make):
    with pytest.raises(InputError):
        make()


def test_ordering_many_variables_is_fast():
    started = time.perf_counter()
    assert DAG(50_000, [(1, 0)]).order[:3] == (1, 0, 2)
    assert time.perf_counter() - started < 5, "by looking for the smallest each time it is 30 s"


def test_a_long_cycle_is_abbreviated():
    with pytest.raises(InputError, match=r"variables \[0, 1, .* 19, …\]$"):
        DAG(1000, [(at, (at + 1) % 1000) for at in range(1000)])


def test_a_variable_whose_conversion_fails_is_an_error_of_ours():
    class Failing:
        def __index__(self):
            raise KeyError("of the user's own")

    with pytest.raises(InputError, match="is not a variable"):
        DAG(2, [(0, 1)]).parents(Failing())
