"""Layout of the nodes around a prediction, with NumPy and SciPy only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import IntArray

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["Positions", "edges_among", "place_nodes", "visible_nodes"]

Positions = NDArray[np.float64]

_STEPS = 80
"""Steps of stress majorisation; layouts of up to a hundred nodes converge much earlier."""
_APART = 0.1
"""Initial distance of nodes that have the same distances to all others."""
_LONG = 2.0
"""The length of an edge between nodes that need space; other edges have length 1."""
_CLEAR = 0.14
"""Minimum distance of nodes that need space, as a share of the longer side of the picture."""
_CLEAR_MANY = 0.6
"""The same for many nodes, divided by the square root of their number, so that all fit."""
_PUSHES, _TOLERANCE = 300, 1e-3


def visible_nodes(explanation: Explanation, most: int) -> IntArray:
    """Return, ascending, the numbers of the nodes to draw.

    The target, the nodes of the network and the shortest paths between them are always drawn. The
    remaining places up to ``most`` go to the nodes nearest to those, higher-ranked ones first.
    """
    ranking, ends = explanation.ranking, explanation.ends
    chosen, ranked = ranking.nodes[ranking.selected], ranking.nodes
    part = explanation.neighbourhood
    if explanation.part_labels:
        chosen = _nodes_of(explanation, chosen, groups=False)
        ranked = _nodes_of(explanation, ranked, groups=True)
        if part is not None:  # an edge may come from a node just outside
            chosen, ranked = (each[np.isin(each, part.nodes)] for each in (chosen, ranked))
    chosen = np.union1d(chosen, ends)
    if part is None:
        return chosen
    links = _links(len(part.nodes), part.edge_index)
    shown = _with_paths(links, part.positions(chosen), part.positions(ends))
    rank = np.full(len(part.nodes), -1)  # the ends of a node task have no rank, and come first
    if explanation.part_labels:
        rank[:] = len(ranked)
    rank[part.positions(ranked)] = np.arange(len(ranked))
    far = (
        scipy.sparse.csgraph.dijkstra(links, indices=shown, min_only=True, unweighted=True)
        if len(shown)
        else rank
    )
    order = np.lexsort((rank, far))
    return np.asarray(part.nodes[np.sort(order[: max(most, len(shown))])])


def _nodes_of(explanation: Explanation, parts: IntArray, *, groups: bool) -> IntArray:
    """Return the nodes, each once, that parts consist of, in their order.

    Args:
        explanation: the explanation that the parts belong to.
        parts: the numbers of the parts.
        groups: whether to include the members of groups, which can be many.
    """
    found: dict[int, None] = {}
    for part in parts.tolist():
        members = explanation.part_members.get(part, ()) if groups else ()
        for member in members or (explanation.part_labels.get(part, part),):
            ends = member if isinstance(member, tuple) else (member,)
            found.update((each, None) for each in ends if isinstance(each, int))
    return np.array(list(found), dtype=np.int64)


def edges_among(nodes: IntArray, explanation: Explanation) -> IntArray:
    """Return the pairs of nodes that an edge joins, ``[2, e]``, by their positions, each once."""
    part = explanation.neighbourhood
    if part is None:
        return np.empty((2, 0), dtype=np.int64)
    ends = part.nodes[part.edge_index]
    inside = ends[:, np.isin(ends, nodes).all(axis=0)]
    return np.unique(np.sort(np.searchsorted(nodes, inside), axis=0), axis=1)


def _links(
    size: int, edges: IntArray, lengths: NDArray[np.float64] | None = None
) -> scipy.sparse.csr_array:
    """The lengths of edges (1 by default) as a matrix, in both directions, without self-loops."""
    proper = edges[0] != edges[1]
    source, target = edges[:, proper].astype(np.int32)  # SciPy 1.11 needs this type
    both = (np.append(source, target), np.append(target, source))
    one_way = np.ones(len(source)) if lengths is None else lengths[proper]
    return scipy.sparse.csr_array((np.tile(one_way, 2), both), shape=(size, size))


def _with_paths(links: scipy.sparse.csr_array, chosen: IntArray, ends: IntArray) -> IntArray:
    """Add the nodes on a shortest path from each end to each chosen node."""
    shown = set(chosen.tolist())
    for end in ends.tolist():
        before = scipy.sparse.csgraph.shortest_path(
            links, indices=end, unweighted=True, return_predecessors=True
        )[1]
        for node in chosen.tolist():
            while before[node] >= 0:
                node = int(before[node])
                shown.add(node)
    return np.array(sorted(shown), dtype=np.int64)


def place_nodes(size: int, edges: IntArray, spaced: Sequence[int] = ()) -> Positions:
    """Return positions ``[size, 2]`` whose distances approximate those in the graph.

    The picture is wider than high, and the same for the same graph.

    Args:
        size: the number of nodes.
        edges: ``[2, e]``, the pairs of connected nodes, each once.
        spaced: nodes that need more space: edges among them are drawn longer, and no two of them
            touch.
    """
    angle = 2 * np.pi * np.arange(size) / max(size, 1)
    circle = np.column_stack((np.cos(angle), np.sin(angle)))
    if size < 3:
        return circle
    lengths = np.where(np.isin(edges, spaced).all(axis=0), _LONG, 1.0)
    wanted = scipy.sparse.csgraph.shortest_path(_links(size, edges, lengths))
    finite = np.isfinite(wanted)
    wanted[~finite] = wanted[finite].max() + 1  # separate components do not overlap
    starts = (circle * wanted.max() / 2, _scaled(wanted) + _APART * circle)
    tried = [_settle(start, wanted) for start in starts]
    at = min(tried, key=lambda each: _stress(each, wanted))
    _, _, axes = np.linalg.svd(at - at.mean(axis=0), full_matrices=False)
    # The sign of a principal axis is arbitrary; fixing it keeps pictures from being mirrored.
    return _cleared(at @ (axes * np.sign(axes.sum(axis=1, keepdims=True))).T, spaced)


def _settle(at: Positions, wanted: NDArray[np.float64]) -> Positions:
    """Move nodes towards the wanted distances.

    This is stress majorisation (Gansner, Koren and North, 2004): no step increases the stress.
    """
    off_diagonal = ~np.eye(len(at), dtype=bool)
    weights = np.divide(1.0, wanted**2, where=off_diagonal, out=np.zeros_like(wanted))
    # The kernel of the Laplacian contains the constants; adding them makes it invertible.
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1 / len(at))
    for _ in range(_STEPS):
        apart = scipy.spatial.distance.cdist(at, at)
        pull = np.divide(weights * wanted, apart, where=apart > 0, out=np.zeros_like(apart))
        at = inverse @ (pull.sum(axis=1, keepdims=True) * at - pull @ at)
    return at


def _cleared(at: Positions, spaced: Sequence[int]) -> Positions:
    """Push nodes apart that need space; the others give way."""
    if not len(spaced):
        return at
    is_spaced = np.isin(np.arange(len(at)), spaced)
    # Full space between two that need it, half if only one does, otherwise none.
    full = min(_CLEAR, _CLEAR_MANY / np.sqrt(len(spaced)))
    gap = full * (is_spaced[:, None] + is_spaced * 1.0) / 2
    np.fill_diagonal(gap, 0.0)
    # The share of a push that each of a pair takes: a node that needs space yields only to another.
    share = np.where(is_spaced[:, None], 0.5 * is_spaced, 1.0)
    for _ in range(_PUSHES):
        apart = scipy.spatial.distance.cdist(at, at)
        side = np.ptp(at, axis=0).max()
        lacking = np.maximum(gap * side - apart, 0.0)
        if lacking.max() <= _TOLERANCE * side:
            break
        push = np.divide(share * lacking, apart, where=apart > 0, out=np.zeros_like(apart))
        at = at + push.sum(axis=1, keepdims=True) * at - push @ at
    return at


def _stress(at: Positions, wanted: NDArray[np.float64]) -> float:
    pairs = np.triu_indices(len(at), 1)
    return float(((scipy.spatial.distance.cdist(at, at)[pairs] / wanted[pairs] - 1) ** 2).sum())


def _scaled(distances: NDArray[np.float64]) -> Positions:
    """Classical multidimensional scaling: an initial layout without folds."""
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    sizes, axes = np.linalg.eigh(-centred / 2)
    return np.asarray(axes[:, -2:] * np.sqrt(np.maximum(sizes[-2:], 0)))
