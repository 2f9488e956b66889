"""The community test of Faber et al.: do attributions follow when edges are rewired?

Fifty edges are rewired so that the community of a node has more edges, or fewer. Where the
probability rises or falls accordingly, so should the attribution of the rewired edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from ..reproduce.jobs import Place
from ..rivals.case import Case
from ..rivals.output import Output
from .explainers import Finding
from .faber import FaberGraph, faber_network

__all__ = ["Move", "community_moves", "moves_followed"]

_MOVED = 50


@dataclass(frozen=True, eq=False)
class Move:
    """A rewiring of the edges around the community of one node.

    Attributes:
        target: the node.
        before, after: the model with the original graph and with the rewired graph.
        edges: indices of the rewired edges.
        joined: whether the community gained edges.
    """

    target: int
    before: Case
    after: Case
    edges: IntArray
    joined: bool


def community_moves(place: Place, seed: int, most: int) -> list[Move]:
    """Return moves for some correctly classified nodes whose probability follows the rewiring."""
    model, graphs, _ = faber_network(place, "community", seed)
    graph = graphs[0]
    rng = np.random.default_rng(seed)
    case = Case(model, graph.x, graph.edge_index)
    moves: list[Move] = []
    for target in rng.permutation(len(graph.x)).tolist():
        if len({move.target for move in moves}) == most:
            break
        moves += _moves_of(case, graph, target, rng)
    return moves


def _moves_of(
    case: Case, graph: FaberGraph, target: int, rng: np.random.Generator
) -> Iterator[Move]:
    before = Output(case, target)
    if before.explained != graph.y[target]:
        return
    for joined in (True, False):
        edges, moved = _moved(graph, int(graph.y[target]), joined, rng)
        edge_index = graph.edge_index.copy()
        edge_index[:, edges] = moved
        other = Case(case.model, graph.x, edge_index)
        after = Output(other, target)
        rises = after(after.x[None])[0] - before(before.x[None])[0]
        if after.explained == before.explained and (rises > 0 if joined else rises < 0):
            yield Move(target, case, other, edges, joined)


def _moved(
    graph: FaberGraph, community: int, joined: bool, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return the edges to rewire and their new ends.

    To strengthen a community, edges into it from outside get a new source inside it. To weaken it,
    edges between other nodes get a new target inside it.
    """
    own = graph.y == community
    sources, targets = graph.edge_index
    movable = ~own[sources] & (own[targets] if joined else ~own[targets])
    edges = rng.choice(np.flatnonzero(movable), _MOVED, replace=False)
    taken = set(map(tuple, graph.edge_index.T.tolist()))
    moved = []
    for source, target in graph.edge_index[:, edges].T.tolist():
        while True:
            new = int(rng.choice(np.flatnonzero(own)))
            edge = (new, target) if joined else (source, new)
            if edge[0] != edge[1] and edge not in taken:
                break
        taken.add(edge)
        moved.append(edge)
    return edges, np.array(moved).T


def moves_followed(
    moves: Sequence[Move], explain: Callable[[Case, Sequence[int]], Sequence[Finding]]
) -> list[dict[str, float]]:
    """Return for each move whether the mean attribution of the edges changed in the same direction.

    Args:
        explain: explains some targets of a case.
    """
    case, targets = moves[0].before, list(dict.fromkeys(move.target for move in moves))
    first = dict(zip(targets, explain(case, targets), strict=True))
    rows = []
    for move in moves:
        (after,) = explain(move.after, [move.target])
        now = _mean(after.support, move.after.edge_index[:, move.edges])
        then = _mean(first[move.target].support, case.edge_index[:, move.edges])
        followed = now > then if move.joined else now < then
        rows.append({"target": move.target, "followed": float(followed), "passes": after.passes})
    return rows


def _mean(support: FloatArray, edges: IntArray) -> float:
    """Return the mean attribution of edges, where an edge has the sum of its two nodes."""
    return float(support[edges].sum(axis=0).mean())
