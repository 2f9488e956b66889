"""Where things go: deterministic, apart from each other, arrows downward."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer.network import BayesianNetwork
from pgm_explainer.report.layout import place_network, place_nodes, visible_nodes
from pgm_explainer.sampling import Variable
from pgm_explainer.structure import DAG


@st.composite
def networks(draw):
    size = draw(st.integers(1, 14))
    pairs = list(combinations(range(size), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=20)) if pairs else []
    variables = [Variable(number, False, 2) for number in range(size)]
    codes = np.zeros((4, size), dtype=np.uint8)
    few = [edge for edge in edges if sum(child == edge[1] for _, child in edges) <= 6]
    return BayesianNetwork.fit(variables, DAG(size, few), codes)


@given(networks())
def test_arrows_point_down_and_variables_keep_apart(network):
    at, routes = place_network(network)
    assert set(at) == set(network.nodes)
    for parent, child in network.edges:
        assert at[parent][1] > at[child][1]
    for one, other in combinations(at.values(), 2):
        assert one[1] != other[1] or abs(one[0] - other[0]) >= 1 - 1e-9
    layers = [y for _, y in at.values()]
    assert max(layers.count(y) for y in layers) <= 6
    assert len(routes) == len(network.edges)


@given(networks())
def test_arrows_pass_between_the_variables(network):
    at, routes = place_network(network)
    for route in routes:
        levels = [y for _, y in route]
        assert levels == [levels[0] - step for step in range(len(levels))]
        for x, y in route[1:-1]:
            beside = [abs(x - own) for own, level in at.values() if level == y]
            assert min(beside, default=1.0) >= 0.6


@pytest.mark.parametrize("size", [0, 1, 2, 3, 30])
def test_nodes_of_any_graph_are_placed_always_the_same(size):
    edges = np.random.default_rng(0).integers(0, max(size, 1), size=(2, 2 * size))
    first, second = place_nodes(size, edges), place_nodes(size, edges)
    np.testing.assert_array_equal(first, second)
    assert first.shape == (size, 2)
    assert np.isfinite(first).all()


@pytest.mark.parametrize(
    "graph",
    [
        nx.grid_2d_graph(5, 5),
        nx.star_graph(30),
        nx.balanced_tree(2, 4),
        nx.cycle_graph(12),
        nx.barabasi_albert_graph(50, 2, seed=1),
    ],
    ids=["grid", "star", "tree", "cycle", "scale-free"],
)
def test_distances_are_as_near_those_of_the_graph_as_networkx_gets(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    size = len(graph)
    steps = nx.floyd_warshall_numpy(graph)[np.triu_indices(size, 1)]

    def stress(at):
        apart = np.array([np.linalg.norm(at[u] - at[v]) for u, v in combinations(range(size), 2)])
        scale = (apart / steps).sum() / ((apart / steps) ** 2).sum()
        return (((scale * apart - steps) / steps) ** 2).mean()

    peer = nx.kamada_kawai_layout(graph)
    assert stress(place_nodes(size, np.array(graph.edges).T)) < 1.03 * stress(peer)


def test_the_ways_to_the_explaining_nodes_are_always_visible(kinds):
    explanation = kinds["node"]
    shown = visible_nodes(explanation, 1)
    assert {14, *explanation.nodes} <= set(shown.tolist())
    part = explanation.neighbourhood
    graph = nx.Graph(part.nodes[part.edge_index].T.tolist())
    whole = {n: nx.shortest_path_length(graph, 14, n) for n in explanation.nodes}
    drawn = graph.subgraph(shown.tolist())
    assert {n: nx.shortest_path_length(drawn, 14, n) for n in explanation.nodes} == whole
    assert len(visible_nodes(explanation, 1000)) == len(part.nodes)
