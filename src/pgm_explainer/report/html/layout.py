"""Where things go on the page, as plain coordinates; NumPy and SciPy only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, shortest_path
from scipy.spatial.distance import cdist

from ...arrays import IntArray
from ...explanation import Explanation
from ...structure import DAG

__all__ = ["Layers", "layer_dag", "place_nodes", "visible_nodes"]

Positions = NDArray[np.float64]

_STEPS = 80
"""Steps of stress majorisation; pictures of up to a hundred nodes stand still long before."""
_APART = 0.1
"""How far nodes with the same distances to all others start from each other."""
_ROOM = 2.0
"""The length of an edge between nodes that need room, where others have 1."""
_SWEEPS = 12
_BEND_WIDTH = 0.25
"""Room for an arrow that passes a layer, where a variable takes 1."""
_STRAIGHTNESS = 24
"""How much more the pieces of a long arrow want to stand above each other than variables do."""
_IN_A_ROW = 3
"""Of variables that nothing depends on; more if the layers are wider."""


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


def _links(size: int, edges: IntArray, lengths: NDArray[np.float64] | None = None) -> csr_array:
    """The lengths of edges (1 by default) as a matrix, in both directions, without self-loops."""
    proper = edges[0] != edges[1]
    source, target = edges[:, proper]
    both = (np.append(source, target), np.append(target, source))
    one_way = np.ones(len(source)) if lengths is None else lengths[proper]
    return csr_array((np.tile(one_way, 2), both), shape=(size, size))


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


def place_nodes(size: int, edges: IntArray, roomy: Sequence[int] = ()) -> Positions:
    """Return positions ``[size, 2]`` in which distances are as in the graph, as far as may be.

    The picture is wider than high, and the same for the same graph.

    Args:
        size: how many nodes there are.
        edges: ``[2, e]``, the pairs of nodes that belong together, each once.
        roomy: nodes that need more room: edges among them are drawn longer.
    """
    angle = 2 * np.pi * np.arange(size) / max(size, 1)
    circle = np.column_stack((np.cos(angle), np.sin(angle)))
    if size < 3:
        return circle
    lengths = np.where(np.isin(edges, roomy).all(axis=0), _ROOM, 1.0)
    wanted = shortest_path(_links(size, edges, lengths))
    finite = np.isfinite(wanted)
    wanted[~finite] = wanted[finite].max() + 1  # parts that are not connected keep clear
    starts = (circle * wanted.max() / 2, _scaled(wanted) + _APART * circle)
    tried = [_settle(start, wanted) for start in starts]
    at = min(tried, key=lambda each: _stress(each, wanted))
    _, _, axes = np.linalg.svd(at - at.mean(axis=0), full_matrices=False)
    # A principal axis has no sign of its own; without one the picture might come out mirrored.
    return np.asarray(at @ (axes * np.sign(axes.sum(axis=1, keepdims=True))).T)


def _settle(at: Positions, wanted: NDArray[np.float64]) -> Positions:
    """Move nodes until they are as far apart as wanted, as far as may be.

    This is stress majorisation (Gansner, Koren and North, 2004): no step makes it worse.
    """
    off_diagonal = ~np.eye(len(at), dtype=bool)
    weights = np.divide(1.0, wanted**2, where=off_diagonal, out=np.zeros_like(wanted))
    # The Laplacian has constants as its kernel: filling that makes it invertible.
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1 / len(at))
    for _ in range(_STEPS):
        apart = cdist(at, at)
        pull = np.divide(weights * wanted, apart, where=apart > 0, out=np.zeros_like(apart))
        at = inverse @ (pull.sum(axis=1, keepdims=True) * at - pull @ at)
    return at


def _stress(at: Positions, wanted: NDArray[np.float64]) -> float:
    pairs = np.triu_indices(len(at), 1)
    return float(((cdist(at, at)[pairs] / wanted[pairs] - 1) ** 2).sum())


def _scaled(distances: NDArray[np.float64]) -> Positions:
    """Classical multidimensional scaling: a start from which no fold has to be undone."""
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    sizes, axes = np.linalg.eigh(-centred / 2)
    return np.asarray(axes[:, -2:] * np.sqrt(np.maximum(sizes[-2:], 0)))


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


def layer_dag(dag: DAG) -> Layers:
    """Place a network in layers with few crossings (Sugiyama's method).

    Variables without any arrow stand in rows of their own, last.

    Examples:
        >>> layer_dag(DAG(3, [(0, 1), (1, 2), (0, 2)])).layer
        [0, 1, 2]
    """
    depth = _depths(dag)
    tied = [at for at in range(dag.num_variables) if dag.parents(at) or dag.children(at)]
    layers = [[at for at in tied if depth[at] == level] for level in range(max(depth) + 1)]
    layers = [each for each in layers if each]
    chains = _chains(dag, depth, layers)
    x = _spread(layers, chains, dag.num_variables)
    alone = [at for at in range(dag.num_variables) if at not in set(tied)]
    in_a_row = max(_IN_A_ROW, round(float(np.ptp(x[tied])) + 1) if tied else 0)
    for place, at in enumerate(alone):
        row, column = divmod(place, in_a_row)
        depth[at] = len(layers) + row
        x[at] = column - (min(in_a_row, len(alone) - row * in_a_row) - 1) / 2
    bends = {edge: _straightened(x[chain].tolist()) for edge, chain in chains.items()}
    return Layers(depth, [float(each) for each in x[: dag.num_variables]], bends)


def _straightened(bends: list[float]) -> list[float]:
    """Bends that are nearly above each other, exactly so."""
    nearly = len(bends) > 1 and max(bends) - min(bends) < _BEND_WIDTH / 2
    return [sum(bends) / len(bends)] * len(bends) if nearly else bends


def _chains(
    dag: DAG, depth: Sequence[int], layers: Sequence[list[int]]
) -> dict[tuple[int, int], list[int]]:
    """Put a stand-in, numbered on from the variables, wherever an arrow passes a layer."""
    chains: dict[tuple[int, int], list[int]] = {}
    free = dag.num_variables
    for parent, child in dag.edges:
        passed = range(depth[parent] + 1, depth[child])
        chains[parent, child] = list(range(free, free + len(passed)))
        for stand_in, level in zip(chains[parent, child], passed, strict=True):
            layers[level].append(stand_in)
        free += len(passed)
    return chains


def _depths(dag: DAG) -> list[int]:
    """The layer of each variable: as high as its parents allow, then as near its children."""
    depth = [0] * dag.num_variables
    for at in dag.order:
        depth[at] = max((depth[parent] + 1 for parent in dag.parents(at)), default=0)
    for at in reversed(dag.order):
        depth[at] = min((depth[child] - 1 for child in dag.children(at)), default=depth[at])
    return depth


def _spread(
    layers: Sequence[list[int]], chains: Mapping[tuple[int, int], list[int]], num_variables: int
) -> NDArray[np.float64]:
    """Order each layer by its neighbours' centres, then pull everyone to them."""
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
            wish = np.array([_centre(x, near[each], x[each]) for each in order])
            if ordering:
                order[:] = [order[at] for at in np.argsort(wish, kind="stable")]
                wish.sort()
            x[order] = _apart(wish, width[order])
    used = x[[each for order in layers for each in order]]
    return x - (used.min() + used.max()) / 2 if len(used) else x


def _neighbours(
    chains: Mapping[tuple[int, int], list[int]], num_variables: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return who is above and who is below each; who counts more is there more often."""
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
