"""Where things go in a picture, as plain coordinates; NumPy and SciPy only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, shortest_path

from ..arrays import IntArray
from ..explanation import Explanation
from ..network import BayesianNetwork
from ..sampling import VariableId
from ..structure import DAG

__all__ = ["Layers", "Point", "layer_dag", "place_network", "place_nodes", "visible_nodes"]

Positions = NDArray[np.float64]
Point = tuple[float, float]

_STEPS = 120
"""Steps of stress majorisation; pictures of up to a hundred nodes stand still long before."""
_NUDGE = 0.2
"""Nodes that classical scaling puts in one place must be moved apart to be told apart."""
_SWEEPS = 12
_MOST_IN_LAYER = 6
_BEND_WIDTH = 0.25
"""Room for an arrow that passes a layer, where a variable takes 1."""


def visible_nodes(explanation: Explanation, most: int) -> IntArray:
    """Return, ascending, the numbers of the nodes worth drawing.

    The target, the explaining nodes and the shortest ways between them always show. The remaining
    places up to ``most`` go to the nodes nearest to those, the higher-ranked first.
    """
    ranking, ends = explanation.ranking, explanation.ends
    chosen = np.union1d(ranking.nodes[ranking.selected], ends)
    part = explanation.neighbourhood
    if part is None:
        return chosen
    links = _links(len(part.nodes), part.edge_index)
    shown = _with_ways(links, part.positions(chosen), part.positions(ends))
    rank = np.full(len(part.nodes), -1)  # the ends of a node task have no rank, and come first
    rank[part.positions(ranking.nodes)] = np.arange(len(ranking))
    far = dijkstra(links, indices=shown, min_only=True, unweighted=True) if len(shown) else rank
    order = np.lexsort((rank, far))
    return np.asarray(part.nodes[np.sort(order[: max(most, len(shown))])])


def _links(size: int, edges: IntArray) -> csr_array:
    """The edges as a matrix, in both directions and without self-loops."""
    source, target = edges[:, edges[0] != edges[1]]
    both = (np.append(source, target), np.append(target, source))
    return csr_array((np.ones(len(both[0])), both), shape=(size, size))


def _with_ways(links: csr_array, chosen: IntArray, ends: IntArray) -> IntArray:
    """Add the nodes on a shortest way from each end to each chosen node."""
    shown = set(chosen.tolist())
    for end in ends.tolist():
        before = shortest_path(links, indices=end, unweighted=True, return_predecessors=True)[1]
        for node in chosen.tolist():
            while before[node] >= 0:
                node = int(before[node])
                shown.add(node)
    return np.array(sorted(shown), dtype=np.int64)


def place_nodes(size: int, edges: IntArray) -> Positions:
    """Return positions ``[size, 2]`` in which distances are as in the graph, as far as may be.

    Stress majorisation (Gansner, Koren and North, 2004), turned so that the picture is wider than
    high. The same graph is always placed the same.
    """
    if size < 3:
        return _circle(size)
    wanted = shortest_path(_links(size, edges), unweighted=True)
    finite = np.isfinite(wanted)
    wanted[~finite] = wanted[finite].max() + 1  # parts that are not connected keep clear
    at = _scaled_down(wanted) + _NUDGE * _circle(size)
    off_diagonal = ~np.eye(size, dtype=bool)
    weights = np.divide(1.0, wanted**2, where=off_diagonal, out=np.zeros_like(wanted))
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_STEPS):
        apart = np.linalg.norm(at[:, None] - at[None], axis=-1)
        pull = np.divide(weights * wanted, apart, where=apart > 0, out=np.zeros_like(apart))
        at = inverse @ (pull.sum(axis=1, keepdims=True) * at - pull @ at)
    _, _, axes = np.linalg.svd(at - at.mean(axis=0))
    # A principal axis has no sign of its own; without one the picture might come out mirrored.
    return np.asarray(at @ (axes * np.sign(axes.sum(axis=1, keepdims=True))).T)


def _circle(size: int) -> Positions:
    angle = 2 * np.pi * np.arange(size) / max(size, 1)
    return np.column_stack((np.cos(angle), np.sin(angle)))


def _scaled_down(distances: NDArray[np.float64]) -> Positions:
    """Classical scaling: a start from which majorisation seldom ends in a folded picture."""
    centred = distances**2
    centred = centred - centred.mean(axis=0)
    centred = -(centred - centred.mean(axis=1, keepdims=True)) / 2
    values, vectors = np.linalg.eigh(centred)
    return np.asarray(vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0)))


@dataclass(frozen=True)
class Layers:
    """A directed acyclic graph in layers, every arrow pointing to a later one.

    Attributes:
        layer: the layer of each variable, from 0.
        x: where each variable stands in its layer, in widths of a variable.
        bends: for each arrow, where it passes each of the layers in between.
    """

    layer: list[int]
    x: list[float]
    bends: dict[tuple[int, int], list[float]]


def place_network(
    network: BayesianNetwork,
) -> tuple[dict[VariableId, Point], list[list[Point]]]:
    """Return the centre of each variable, and the points each arrow passes, both ends included.

    One unit is the room of a variable across, and of a layer down.
    """
    layers, ids = layer_dag(network.dag), network.nodes
    at = {
        node: (x, -float(layer)) for node, x, layer in zip(ids, layers.x, layers.layer, strict=True)
    }
    routes = []
    for (parent, child), bends in layers.bends.items():
        passing = [(x, at[ids[parent]][1] - 1 - step) for step, x in enumerate(bends)]
        routes.append([at[ids[parent]], *passing, at[ids[child]]])
    return at, routes


def layer_dag(dag: DAG) -> Layers:
    """Place a network in layers with few crossings (Sugiyama's method).

    Examples:
        >>> layer_dag(DAG(3, [(0, 1), (1, 2), (0, 2)])).layer
        [0, 1, 2]
    """
    layer = _depths(dag)
    size = dag.num_variables
    layers: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    for variable in range(size):
        layers[layer[variable]].append(variable)
    chains: dict[tuple[int, int], list[int]] = {}
    for parent, child in dag.edges:  # a stand-in wherever an arrow passes a layer
        between = range(layer[parent] + 1, layer[child])
        chains[parent, child] = list(range(size, size + len(between)))
        for stand_in, level in zip(chains[parent, child], between, strict=True):
            layers[level].append(stand_in)
        size += len(between)
    above: list[list[int]] = [[] for _ in range(size)]
    below: list[list[int]] = [[] for _ in range(size)]
    for (parent, child), chain in chains.items():
        for upper, lower in zip([parent, *chain], [*chain, child], strict=True):
            below[upper].append(lower)
            above[lower].append(upper)
    width = np.where(np.arange(size) < dag.num_variables, 1.0, _BEND_WIDTH)
    x = _spread(layers, above, below, width)
    bends = {edge: [float(x[each]) for each in chain] for edge, chain in chains.items()}
    return Layers(layer, [float(each) for each in x[: dag.num_variables]], bends)


def _depths(dag: DAG) -> list[int]:
    """The layer of each variable: as high as its parents allow, then as near its children.

    A layer that is full is passed over.
    """
    depth = [0] * dag.num_variables
    taken: Counter[int] = Counter()
    for at in dag.order:
        depth[at] = max((depth[parent] + 1 for parent in dag.parents(at)), default=0)
        while taken[depth[at]] == _MOST_IN_LAYER:
            depth[at] += 1
        taken[depth[at]] += 1
    for at in reversed(dag.order):
        lowest = min((depth[child] - 1 for child in dag.children(at)), default=depth[at])
        free = [level for level in range(depth[at], lowest + 1) if taken[level] < _MOST_IN_LAYER]
        taken[depth[at]] -= 1
        depth[at] = max([depth[at], *free])
        taken[depth[at]] += 1
    return depth


def _spread(
    layers: Sequence[list[int]],
    above: Sequence[list[int]],
    below: Sequence[list[int]],
    width: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Order each layer by its neighbours' centres, then pull everyone to them."""
    x = np.zeros(len(width))
    for order in layers:
        x[order] = np.arange(len(order)) - (len(order) - 1) / 2
    for sweep in range(2 * _SWEEPS):
        downwards = sweep % 2 == 0
        for order in layers if downwards else reversed(layers):
            near = above if downwards else below
            if sweep >= _SWEEPS:  # the order is settled
                near = [[*up, *down] for up, down in zip(above, below, strict=True)]
            wish = np.array([_centre(x, near[each], x[each]) for each in order])
            if sweep < _SWEEPS:
                order[:] = [order[at] for at in np.argsort(wish, kind="stable")]
                wish.sort()
            x[order] = _apart(wish, width[order])
    return x - (x.min() + x.max()) / 2


def _centre(x: NDArray[np.float64], nodes: Iterable[int], otherwise: float) -> float:
    near = list(nodes)
    return float(x[near].mean()) if near else otherwise


def _apart(wish: NDArray[np.float64], width: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move sorted positions as little as need be for each to have its width.

    Halfway between pushing everyone right and pushing everyone left: both keep clear, so their
    mean does.
    """
    start = np.concatenate(([0.0], np.cumsum((width[1:] + width[:-1]) / 2)))
    free = wish - start
    right = np.maximum.accumulate(free)
    left = np.minimum.accumulate(free[::-1])[::-1]
    return np.asarray((right + left) / 2 + start)
