"""Where things go in a picture: plain coordinates, no drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np

from ..arrays import IntArray
from ..explanation import Explanation
from ..network import BayesianNetwork
from ..sampling import VariableId

__all__ = ["layer_network", "place_nodes", "visible_graph"]

Position = tuple[float, float]


def visible_graph(explanation: Explanation, most: int) -> nx.Graph:
    """Return the part of the neighbourhood worth drawing.

    The target, the explaining nodes and the ways between them always show; the remaining places up
    to ``most`` go to the highest-ranked others.
    """
    part = explanation.neighbourhood
    graph = nx.Graph()
    if part is None:
        graph.add_nodes_from(explanation.ranking.nodes[explanation.ranking.selected].tolist())
        return graph
    graph.add_nodes_from(part.nodes.tolist())
    graph.add_edges_from(part.nodes[part.edge_index].T.tolist())
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    shown = _must_show(graph, explanation)
    by_rank: IntArray = explanation.ranking.nodes
    for node in by_rank.tolist():
        if len(shown) >= most:
            break
        shown.add(node)
    return graph.subgraph(sorted(shown)).copy()


def _must_show(graph: nx.Graph, explanation: Explanation) -> set[int]:
    explaining = explanation.ranking.nodes[explanation.ranking.selected].tolist()
    shown = {*explaining, *explanation.ends.tolist()}
    for end in explanation.ends.tolist():
        for node in explaining:
            if nx.has_path(graph, node, end):
                shown.update(nx.shortest_path(graph, node, end))
    return shown


def place_nodes(graph: nx.Graph) -> dict[int, Position]:
    """Return positions in which near nodes are near; always the same for the same graph."""
    if len(graph) < 2:
        return dict.fromkeys(graph, (0.0, 0.0))
    start = nx.circular_layout(graph)
    parts = [graph.subgraph(sorted(each)) for each in nx.connected_components(graph)]
    if len(parts) == 1:
        placed: Mapping[int, Any] = nx.kamada_kawai_layout(graph, pos=start)
    else:
        placed = nx.spring_layout(graph, pos=start, seed=0, iterations=100)
    return {node: (float(at[0]), float(at[1])) for node, at in placed.items()}


def layer_network(network: BayesianNetwork) -> dict[VariableId, Position]:
    """Return positions in which every arrow points down; parents stand near their children."""
    depth: dict[VariableId, int] = {}
    for at in network.dag.order:
        node = network.nodes[at]
        depth[node] = max((depth[parent] + 1 for parent in network.parents(node)), default=0)
    layers: list[list[VariableId]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in network.nodes:
        layers[depth[node]].append(node)
    positions: dict[VariableId, Position] = {}
    for level, layer in enumerate(layers):
        layer.sort(key=lambda node: _parents_centre(network, node, positions))
        for rank, node in enumerate(layer):
            # Every other layer is moved aside a little, so that long arrows pass between boxes.
            shift = 0.3 * (level % 2) if len(layers) > 2 else 0.0
            positions[node] = (rank - (len(layer) - 1) / 2 + shift, -float(level))
    return positions


def _parents_centre(
    network: BayesianNetwork, node: VariableId, positions: Mapping[VariableId, Position]
) -> float:
    xs = [positions[parent][0] for parent in network.parents(node) if parent in positions]
    return float(np.mean(xs)) if xs else 0.0
