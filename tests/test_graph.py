from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer.graph import Graph


@st.composite
def graphs(draw):
    """Directed graphs of up to 8 nodes; duplicates, self-loops and isolated nodes occur."""
    num_nodes = draw(st.integers(1, 8))
    node = st.integers(0, num_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=16))
    return Graph(np.array(edges, dtype=np.int64).reshape(-1, 2).T, num_nodes)


@st.composite
def graphs_and_nodes(draw):
    graph = draw(graphs())
    nodes = draw(st.sets(st.integers(0, graph.num_nodes - 1), min_size=1))
    return graph, np.array(sorted(nodes))


def slow_within_hops(graph: Graph, nodes: np.ndarray, hops: int) -> list[int]:
    reached = set(nodes.tolist())
    for _ in range(hops):
        reached |= {source for source, target in graph.edge_index.T.tolist() if target in reached}
    return sorted(reached)


@given(graphs_and_nodes(), st.integers(0, 4))
def test_within_hops_is_a_breadth_first_search_against_the_arrows(graph_and_nodes, hops):
    graph, nodes = graph_and_nodes
    assert graph.within_hops(nodes, hops).tolist() == slow_within_hops(graph, nodes, hops)


def test_messages_flow_from_the_source_row_to_the_target_row():
    graph = Graph(np.array([[0], [1]]), num_nodes=2)
    assert graph.within_hops(np.array([1]), 1).tolist() == [0, 1]
    assert graph.within_hops(np.array([0]), 1).tolist() == [0]


@given(graphs_and_nodes(), st.integers(0, 4))
def test_another_flow_is_that_of_other_edges(graph_and_nodes, hops):
    """Everything is as if the edges were reversed, or there twice; but edges stay the caller's."""
    graph, nodes = graph_and_nodes
    edges, size = graph.edge_index, graph.num_nodes
    both = np.concatenate((edges, edges[::-1]), axis=1)
    for flow, as_if in (("target_to_source", edges[::-1]), ("both", both)):
        other, truth = Graph(edges, size, flow), Graph(as_if, size)
        reached = truth.within_hops(nodes, hops)
        assert other.within_hops(nodes, hops).tolist() == reached.tolist()
        np.testing.assert_array_equal(other.in_degrees, truth.in_degrees)
        np.testing.assert_array_equal(other.in_neighbours[1], truth.in_neighbours[1])
        np.testing.assert_array_equal(
            other.visits(nodes, reached, hops), truth.visits(nodes, reached, hops)
        )
        for ours, theirs in (
            (other.cut(nodes, hops), truth.cut(nodes, hops)),
            (other.induced(nodes), graph.induced(nodes)),
        ):
            assert ours.nodes.tolist() == theirs.nodes.tolist()
            assert ours.edges.tolist() == np.unique(theirs.edges % max(1, edges.shape[1])).tolist()
            np.testing.assert_array_equal(ours.nodes[ours.edge_index], edges[:, ours.edges])


def test_nodes_may_be_given_twice_and_in_any_order():
    graph = Graph(np.array([[0, 1], [1, 2]]), num_nodes=4)
    assert graph.within_hops(np.array([3, 2, 3]), 1).tolist() == [1, 2, 3]


def test_without_edges_a_node_reaches_itself_only():
    graph = Graph(np.zeros((2, 0), dtype=np.int64), num_nodes=3)
    assert graph.within_hops(np.array([1]), 5).tolist() == [1]
    assert graph.cut(np.array([1]), 5).nodes.tolist() == [1]


def add_up(h, edge_index):
    out = np.zeros_like(h)
    np.add.at(out, edge_index[1], h[edge_index[0]])
    return out


def average(h, edge_index):
    in_degree = np.bincount(edge_index[1], minlength=len(h))
    return add_up(h, edge_index) / np.maximum(in_degree, 1)[:, None]


def normalise(h, edge_index):
    in_degree = np.bincount(edge_index[1], minlength=len(h)) + 1
    out_degree = np.bincount(edge_index[0], minlength=len(h)) + 1
    return add_up(h / np.sqrt(out_degree)[:, None], edge_index) / np.sqrt(in_degree)[:, None]


def predict(x, edge_index, aggregate, layers):
    for layer in range(layers):
        x = np.sin(x * (layer + 1) + 2 * aggregate(x, edge_index))
    return x


@pytest.mark.parametrize("aggregate", [add_up, average, normalise])
@given(graphs_and_nodes(), st.integers(0, 3))
def test_a_cut_gives_the_whole_graphs_predictions(aggregate, graph_and_nodes, layers):
    graph, nodes = graph_and_nodes
    x = np.random.default_rng(0).normal(size=(graph.num_nodes, 2))
    part = graph.cut(nodes, layers)
    whole = predict(x, graph.edge_index, aggregate, layers)
    cut = predict(x[part.nodes], part.edge_index, aggregate, layers)
    np.testing.assert_array_equal(cut[part.positions(nodes)], whole[nodes])


def test_a_cut_leaves_out_what_is_further_away():
    path = Graph(np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]), num_nodes=6)
    part = path.cut(np.array([4]), 1)
    assert part.nodes.tolist() == [2, 3, 4, 5]
    assert part.edges.tolist() == [2, 3, 4]


@given(graphs_and_nodes(), st.integers(0, 3))
def test_a_cut_says_where_its_nodes_and_edges_come_from(graph_and_nodes, hops):
    graph, nodes = graph_and_nodes
    part = graph.cut(nodes, hops)
    assert (np.diff(part.nodes) > 0).all()
    assert (np.diff(part.edges) > 0).all()
    np.testing.assert_array_equal(part.nodes[part.edge_index], graph.edge_index[:, part.edges])


@given(graphs_and_nodes())
def test_induced_holds_exactly_the_edges_with_both_ends_inside(graph_and_nodes):
    graph, nodes = graph_and_nodes
    part = graph.induced(nodes)
    inside = [at for at, edge in enumerate(graph.edge_index.T) if set(edge) <= set(nodes.tolist())]
    assert part.nodes.tolist() == nodes.tolist()
    assert part.edges.tolist() == inside
    np.testing.assert_array_equal(nodes[part.edge_index], graph.edge_index[:, inside])


@given(graphs())
def test_whole_is_the_graph_itself(graph):
    part = graph.whole
    assert part.nodes.tolist() == list(range(graph.num_nodes))
    np.testing.assert_array_equal(part.edge_index, graph.edge_index)
    assert part.edges.tolist() == list(range(graph.edge_index.shape[1]))


def walked(graph, start, nodes, steps):
    """The same by the powers of the matrix of all walks."""
    received = np.zeros((graph.num_nodes, graph.num_nodes))
    np.add.at(received, (graph.edge_index[1], graph.edge_index[0]), 1)
    chances = received / np.maximum(received.sum(axis=1, keepdims=True), 1)
    from_start = np.zeros(graph.num_nodes)
    from_start[start] = 1
    powers = [np.linalg.matrix_power(chances, step) for step in range(steps + 1)]
    return sum(from_start @ power for power in powers)[nodes]


@given(graphs_and_nodes(), st.integers(0, 4))
def test_visits_are_those_of_all_walks(graph_and_nodes, steps):
    graph, start = graph_and_nodes
    nodes = graph.within_hops(start, steps)
    expected = walked(graph, start, nodes, steps)
    np.testing.assert_allclose(graph.visits(start, nodes, steps), expected, atol=1e-12)
    assert (expected > 0).all()
