"""A layered layout of networks.

Every arrow of a Bayesian network points down. In other networks, edges lead down to the target, and
arrowheads, if there are any, may be at either end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..network import BayesianNetwork, GraphicalModel, MarkovNetwork
from ..sampling import VariableId
from ..structure import DAG, UndirectedGraph

__all__ = ["Layers", "Point", "Route", "drawn_dag", "layer_dag", "place_network", "tips_of"]

Point = tuple[float, float]

_SWEEPS = 12
_MOST_IN_LAYER = 6
_BEND_WIDTH = 0.25
"""The width of an arrow that passes a layer, relative to a variable."""
_STRAIGHTNESS = 24
"""The weight that keeps the segments of a long arrow in a vertical line."""
_IN_A_ROW = 3
"""Variables without arrows per row; more if the layers are wider."""


@dataclass(frozen=True)
class Layers:
    """A directed acyclic graph in layers, every arrow pointing to a later one.

    Attributes:
        layer: the layer of each variable, from 0.
        x: the position of each variable in its layer, in widths of a variable.
        bends: for each arrow, the positions where it passes the layers in between.
    """

    layer: list[int]
    x: list[float]
    bends: dict[tuple[int, int], list[float]]


@dataclass(frozen=True)
class Route:
    """A line from a variable down to another.

    Attributes:
        points: where it passes, including the centres of both variables.
        tips: whether it has an arrowhead at its upper and at its lower end.
        ends: the positions of both variables in the network.
    """

    points: list[Point]
    tips: tuple[bool, bool]
    ends: tuple[int, int]


def place_network(network: GraphicalModel) -> tuple[dict[VariableId, Point], list[Route]]:
    """Return the centre of each variable and the route of each edge.

    One unit is the width of a variable and the height of a layer.
    """
    dag, ids = drawn_dag(network), network.nodes
    layers, tips = layer_dag(dag), tips_of(network, dag)
    at = {
        node: (x, -float(layer)) for node, x, layer in zip(ids, layers.x, layers.layer, strict=True)
    }
    routes = []
    for (parent, child), bends in layers.bends.items():
        passing = [(x, at[ids[parent]][1] - 1 - step) for step, x in enumerate(bends)]
        points = [at[ids[parent]], *passing, at[ids[child]]]
        routes.append(Route(points, tips[parent, child], (parent, child)))
    return at, routes


def drawn_dag(network: GraphicalModel) -> DAG:
    """Return the edges of a network, directed so that they lead down.

    In a network other than a Bayesian one, that is towards the last variable, the target.
    """
    if isinstance(network, BayesianNetwork):
        return network.dag
    index = {node: at for at, node in enumerate(network.nodes)}
    graph = UndirectedGraph(
        len(index), tuple((index[one], index[other]) for one, other in network.edges)
    )
    away: dict[int, int] = {}
    for component in sorted(graph.components, key=lambda each: -each[-1]):
        layer, distance = [component[-1]], 0
        while layer:
            away.update(dict.fromkeys(layer, distance))
            near = {other for each in layer for other in graph.neighbours(each)}
            layer, distance = sorted(near - away.keys()), distance + 1
    edges = [sorted(edge, key=lambda end: (-away[end], end)) for edge in graph.edges]
    return DAG(len(index), edges)


def tips_of(network: GraphicalModel, dag: DAG) -> dict[tuple[int, int], tuple[bool, bool]]:
    """Return for each drawn edge whether it has an arrowhead at its upper and its lower end."""
    index = {node: at for at, node in enumerate(network.nodes)}
    arrows = {(index[one], index[other]) for one, other in network.edges}
    if isinstance(network, MarkovNetwork):
        arrows.clear()
    return {(u, v): ((v, u) in arrows, (u, v) in arrows) for u, v in dag.edges}


def layer_dag(dag: DAG) -> Layers:
    """Place a network in layers with few crossings (Sugiyama's method).

    Variables without any arrow come last, in separate rows.

    Examples:
        >>> layer_dag(DAG(3, [(0, 1), (1, 2), (0, 2)])).layer
        [0, 1, 2]
    """
    connected = [at for at in dag.order if dag.parents(at) or dag.children(at)]
    depth = _depths(dag, connected)
    layers = [
        [at for at in sorted(connected) if depth[at] == level]
        for level in sorted(set(depth.values()))
    ]
    depth = {at: level for level, layer in enumerate(layers) for at in layer}
    chains = _chains(dag, depth, layers)
    x = _spread(layers, chains, dag.num_variables)
    alone = [at for at in range(dag.num_variables) if at not in depth]
    width = round(float(np.ptp(x[connected]))) + 1 if connected else 0
    in_a_row = min(max(_IN_A_ROW, width), _MOST_IN_LAYER)
    for place, at in enumerate(alone):
        row, column = divmod(place, in_a_row)
        depth[at] = len(layers) + row
        x[at] = column - (min(in_a_row, len(alone) - row * in_a_row) - 1) / 2
    bends = {edge: _straightened(x[chain].tolist()) for edge, chain in chains.items()}
    variables = range(dag.num_variables)
    return Layers([depth[at] for at in variables], [float(x[at]) for at in variables], bends)


def _straightened(bends: list[float]) -> list[float]:
    """Align bends that are nearly on a vertical line."""
    nearly = len(bends) > 1 and max(bends) - min(bends) < _BEND_WIDTH / 2
    return [sum(bends) / len(bends)] * len(bends) if nearly else bends


def _chains(
    dag: DAG, depth: Mapping[int, int], layers: Sequence[list[int]]
) -> dict[tuple[int, int], list[int]]:
    """Add a dummy node, numbered after the variables, wherever an arrow passes a layer."""
    chains: dict[tuple[int, int], list[int]] = {}
    free = dag.num_variables
    for parent, child in dag.edges:
        passed = range(depth[parent] + 1, depth[child])
        chains[parent, child] = list(range(free, free + len(passed)))
        for dummy, level in zip(chains[parent, child], passed, strict=True):
            layers[level].append(dummy)
        free += len(passed)
    return chains


def _depths(dag: DAG, connected: Sequence[int]) -> dict[int, int]:
    """Return the layer of each variable: below its parents, and close to its children.

    Full layers are skipped.
    """
    depth: dict[int, int] = {}
    taken: Counter[int] = Counter()
    for at in connected:
        depth[at] = max((depth[parent] + 1 for parent in dag.parents(at)), default=0)
        while taken[depth[at]] == _MOST_IN_LAYER:
            depth[at] += 1
        taken[depth[at]] += 1
    for at in reversed(connected):
        lowest = min((depth[child] - 1 for child in dag.children(at)), default=depth[at])
        free = [level for level in range(depth[at], lowest + 1) if taken[level] < _MOST_IN_LAYER]
        taken[depth[at]] -= 1
        depth[at] = max([depth[at], *free])
        taken[depth[at]] += 1
    return depth


def _spread(
    layers: Sequence[list[int]], chains: Mapping[tuple[int, int], list[int]], num_variables: int
) -> NDArray[np.float64]:
    """Order each layer by its neighbours' centres, then move every node towards them."""
    above, below = _neighbours(chains, num_variables)
    both = [up + down for up, down in zip(above, below, strict=True)]
    width = np.where(np.arange(len(both)) < num_variables, 1.0, _BEND_WIDTH)
    x = np.zeros(len(both))
    for order in layers:
        x[order] = np.arange(len(order)) - (len(order) - 1) / 2
    for sweep in range(2 * _SWEEPS):
        ordering, downwards = sweep < _SWEEPS, sweep % 2 == 0
        near = both if not ordering else above if downwards else below
        for order in layers if downwards else reversed(layers):
            desired = np.array([_centre(x, near[each], x[each]) for each in order])
            if ordering:
                order[:] = [order[at] for at in np.argsort(desired, kind="stable")]
                desired.sort()
            x[order] = _apart(desired, width[order])
    used = x[[each for order in layers for each in order]]
    return x - (used.min() + used.max()) / 2 if len(used) else x


def _neighbours(
    chains: Mapping[tuple[int, int], list[int]], num_variables: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the neighbours above and below each node, repeated according to their weight."""
    size = num_variables + sum(map(len, chains.values()))
    above: list[list[int]] = [[] for _ in range(size)]
    below: list[list[int]] = [[] for _ in range(size)]
    for (parent, child), chain in chains.items():
        for upper, lower in zip([parent, *chain], [*chain, child], strict=True):
            times = _STRAIGHTNESS if min(upper, lower) >= num_variables else 1
            below[upper] += [lower] * times
            above[lower] += [upper] * times
    return above, below


def _centre(x: NDArray[np.float64], near: list[int], otherwise: float) -> float:
    return float(x[near].mean()) if near else otherwise


def _apart(desired: NDArray[np.float64], width: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move sorted positions as little as possible so that none overlap.

    The result is the mean of pushing all to the right and all to the left; neither has overlaps,
    so their mean has none.
    """
    start = np.concatenate(([0.0], np.cumsum((width[1:] + width[:-1]) / 2)))
    free = desired - start
    right = np.maximum.accumulate(free)
    left = np.minimum.accumulate(free[::-1])[::-1]
    return np.asarray((right + left) / 2 + start)
