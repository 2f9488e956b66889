"""Greedy search for a decomposable Markov network, whose graph is chordal.

The score of a decomposable network is a sum over its families in any perfect orientation. Adding
the edge u - v keeps a graph chordal if and only if the common neighbours of u and v separate them.
The score then changes by that of v with these neighbours and u as parents, minus that without u.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import ArrayLike

from ..arrays import check_whole_number
from ..errors import InputError
from .dag import is_complete, members
from .families import FamilyScores, VariableSet, family_scores
from .scores import Score
from .undirected import UndirectedGraph, separates

__all__ = ["decomposable_score", "decomposable_search"]

_TIE = 1e-9
"""Relative tolerance of ties, as equal gains differ by rounding."""
_MOST_CELLS = 1 << 22
"""The maximum number of joint states of a clique."""

Move = tuple[int, int]


def decomposable_search(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    score: str | Score = "bic",
    max_clique: int | None = None,
) -> UndirectedGraph:
    """Search for a high-scoring chordal graph by adding and removing one edge at a time.

    The best move is made while it improves the score, from a graph without edges. For a few
    variables, the search also starts from the complete graph, which finds dependences of three
    variables that no two of them show, and the better result is returned. Ties go to the smaller
    pair of variables, so the search is deterministic.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: as in :func:`~pgm_explainer.structure.hill_climb`.
        max_clique: the maximum number of variables of a clique, at least 2; None for no limit. With
            2, the graph is a forest.

    Raises:
        InputError: invalid data, or a clique would have more than four million joint states.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> cause = rng.integers(0, 2, 500)
        >>> data = np.stack([cause, cause, rng.integers(0, 2, 500)], axis=1)
        >>> decomposable_search(data, [2, 2, 2]).edges
        ((0, 1),)
    """
    families = family_scores(data, cardinalities, score)
    count = most = families.num_variables
    if max_clique is not None:
        most = check_whole_number(max_clique, "max_clique", at_least=2)
    found = _Climb(families, most, [0] * count).run()
    if families.every_family() is None or count > most:
        return found
    every = (1 << count) - 1
    other = _Climb(families, most, [every ^ 1 << at for at in range(count)]).run()
    one, two = (families.network(graph.oriented()) for graph in (found, other))
    return other if two > one + _TIE * max(1.0, abs(one)) else found


def decomposable_score(
    graph: UndirectedGraph, data: ArrayLike, cardinalities: ArrayLike, score: Any = "bic"
) -> float:
    """Return the score of the decomposable network of a chordal graph.

    Args:
        graph: the graph.
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: as in :func:`~pgm_explainer.structure.hill_climb`.

    Raises:
        InputError: invalid data, or the graph is not chordal.

    Examples:
        >>> from pgm_explainer.structure import UndirectedGraph, decomposable_score
        >>> data = [[0, 0], [1, 1]] * 50
        >>> joined, apart = UndirectedGraph(2, [(0, 1)]), UndirectedGraph(2)
        >>> decomposable_score(joined, data, [2, 2]) > decomposable_score(apart, data, [2, 2])
        True
    """
    return family_scores(data, cardinalities, score).network(graph.oriented())


class _Climb:
    """The graph during the search, and the gain of each move that was considered."""

    def __init__(self, families: FamilyScores, max_clique: int, start: list[int]) -> None:
        self._families = families
        self._most = max_clique
        self._near = start
        self._gains: dict[tuple[int, int, int], float] = {}
        self._closed: set[Move] = set()
        """Pairs that cannot be joined until an edge is removed or their neighbours change."""

    def run(self) -> UndirectedGraph:
        while (move := self._best()) is not None:
            self._toggle(*move)
        count = self._families.num_variables
        edges = [(u, v) for u in range(count) for v in members(self._near[u]) if u < v]
        return UndirectedGraph(count, tuple(edges))

    def _best(self) -> Move | None:
        """Return the pair of the best move; None if no move improves the score."""
        self._count_ahead()
        moves = sorted((*self._additions(), *self._removals()), key=lambda each: -each[0])
        best: tuple[float, Move] | None = None
        for gain, (u, v) in moves:
            tie = _TIE * max(1.0, abs(gain))
            if gain <= tie or (best is not None and gain < best[0] - tie):
                break
            is_edge = bool(self._near[u] >> v & 1)
            if (best is None or (u, v) < best[1]) and (is_edge or self._may_join(u, v)):
                best = (gain if best is None else best[0]), (u, v)
        return None if best is None else best[1]

    def _open_pairs(self) -> Iterator[tuple[int, int, int]]:
        """Yield the pairs that may still be joined, with their common neighbours."""
        for v, near in enumerate(self._near):
            for u in range(v):
                if not near >> u & 1 and (u, v) not in self._closed:
                    yield u, v, self._near[u] & near

    def _count_ahead(self) -> None:
        """Count in one batch what the gains of new moves need."""
        sets: set[VariableSet] = set()
        for u, v, common in self._open_pairs():
            if (u, v, common) not in self._gains and self._may_join(u, v):
                masks = (common, common | 1 << u, common | 1 << v, common | 1 << u | 1 << v)
                sets.update(tuple(members(mask)) for mask in masks)
        self._families.count_ahead(sorted(sets - {()}))

    def _additions(self) -> Iterator[tuple[float, Move]]:
        """Yield the gain of joining each pair that may be joined."""
        for u, v, common in self._open_pairs():
            yield self._gain(u, v, common), (u, v)

    def _removals(self) -> Iterator[tuple[float, Move]]:
        """Yield the gain of removing each edge that is in one maximal clique only."""
        for v, near in enumerate(self._near):
            for u in members(near & ((1 << v) - 1)):
                common = near & self._near[u]
                if is_complete(common, self._near):
                    yield -self._gain(u, v, common), (u, v)

    def _may_join(self, u: int, v: int) -> bool:
        """Return whether an edge keeps the graph chordal and cliques small; else close the pair."""
        common = self._near[u] & self._near[v]
        if common.bit_count() + 2 <= self._most and separates(common, u, v, self._near):
            return True
        self._closed.add((u, v))
        return False

    def _toggle(self, u: int, v: int) -> None:
        """Add or remove an edge."""
        joins = not self._near[u] >> v & 1
        self._near[u] ^= 1 << v
        self._near[v] ^= 1 << u
        if joins:
            self._check_size(self._near[u] & self._near[v] | 1 << u | 1 << v)
            self._closed = {pair for pair in self._closed if u not in pair and v not in pair}
        else:
            self._closed.clear()

    def _check_size(self, clique: int) -> None:
        cells = self._families.configurations(members(clique))
        if cells > _MOST_CELLS:
            raise InputError(
                f"a clique of {clique.bit_count()} variables would have {cells:,} joint states; "
                f"set max_clique, lower max_nodes, or choose a score with a penalty"
            )

    def _gain(self, u: int, v: int, common: int) -> float:
        """Return how much better v is explained by u in addition to their common neighbours."""
        known = self._gains.get((u, v, common))
        if known is None:
            given, larger = tuple(members(common)), tuple(members(common | 1 << u))
            known = self._families.family(v, larger) - self._families.family(v, given)
            self._gains[u, v, common] = known
        return known
