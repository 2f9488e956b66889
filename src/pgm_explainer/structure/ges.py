"""Greedy equivalence search (GES) over classes of networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .dag import DAG
from .equivalence import Pattern, dag_of_masks, members
from .families import FamilyScores, family_scores
from .scores import PenalisedLikelihood, as_score

__all__ = ["ges"]

_TIE = 1e-9
"""Relative tolerance of ties, as gains of equivalent moves differ by rounding."""

Move = tuple[float, int, int, int]
"""The gain, the ends X and Y of the edge, and the mask T or H of Chickering's operators."""


def ges(data: ArrayLike, cardinalities: ArrayLike, *, score: Any = "bic") -> DAG:
    """Return a network of the class that a greedy search over equivalence classes finds.

    From the empty class, the edge whose insertion improves the score most is inserted, until none
    does; then edges are deleted in the same way. Both phases are repeated while they improve the
    score. With enough samples, the class of the true network is found (Chickering, *Optimal
    structure identification with greedy search*, 2002). Ties are broken by the smaller variables.

    A limit on the number of parents is not a property of a class, so there is none.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: a name in :data:`SCORES` or an object like those; it must have a penalty, and should
            be the same for equivalent networks (``bic``, ``aic``, ``bdeu``, ``qnml``,
            ``held_out``).

    Raises:
        InputError: the score is the log-likelihood, which never has enough edges.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a, b = rng.integers(0, 2, (2, 500))
        >>> ges(np.stack([a, a & b, b], axis=1), [2, 2, 2]).edges
        ((0, 1), (2, 1))
    """
    chosen = as_score(score)
    if isinstance(chosen, PenalisedLikelihood) and not chosen.per_parameter + chosen.per_log_n:
        raise InputError(
            f"ges needs a score with a penalty, not {chosen.name!r}, which grows with every edge; "
            f"use 'bic', or structure='hill_climb' with max_parents"
        )
    families = family_scores(data, cardinalities, chosen)
    search = _Search(families)
    moved = True
    while moved:
        inserted = search.run(search.insertions, search.insert)
        moved = search.run(search.deletions, search.delete) and inserted
    parents = search.pattern.extension()
    assert parents is not None  # a class has a network
    return dag_of_masks(parents)


class _Search:
    """The present class and its moves."""

    def __init__(self, families: FamilyScores) -> None:
        self._families = families
        self._size = families.num_variables
        self._every = (1 << self._size) - 1
        self._known: dict[tuple[int, int], NDArray[np.float64]] = {}
        self.pattern = Pattern([0] * self._size, [0] * self._size)
        self._adjacent = [0] * self._size

    def run(self, moves: Any, make: Any) -> bool:
        """Make the best move until none improves the score; return whether any was made."""
        moved = False
        while True:
            found = self._best(list(moves()))
            if found is None:
                return moved
            make(*found[1:])
            moved = True

    def _best(self, moves: list[Move]) -> Move | None:
        """Return the valid move of the largest gain; the smallest variables of ties."""
        moves.sort(key=lambda move: -move[0])
        start = 0
        while start < len(moves):
            least = moves[start][0] * (1 - _TIE)
            stop = start
            while stop < len(moves) and moves[stop][0] >= least:
                stop += 1
            for move in sorted(moves[start:stop], key=lambda move: move[1:]):
                if self._is_valid(move):
                    return move
            start = stop
        return None

    def insertions(self) -> Iterator[Move]:
        """Yield the insertions X -> Y that improve the score; T are neighbours that turn to Y."""
        for y in range(self._size):
            beside, into = self.pattern.beside[y], self.pattern.into[y]
            groups: dict[int, int] = {}  # the variables X by their common neighbours with Y
            for x in members(self._every & ~(self._adjacent[y] | 1 << y)):
                common = beside & self._adjacent[x]
                groups[common] = groups.get(common, 0) | 1 << x
            for common, group in groups.items():
                if not self._is_clique(common):
                    continue
                for turned in self._cliques(common, beside & ~common):
                    gains = self._gains(y, common | turned | into)
                    for x in np.flatnonzero(gains > _TIE).tolist():
                        if group >> x & 1:
                            yield float(gains[x]), x, y, turned

    def deletions(self) -> Iterator[Move]:
        """Yield the deletions of X -> Y or X - Y that improve the score."""
        for y in range(self._size):
            beside, into = self.pattern.beside[y], self.pattern.into[y]
            for x in members(beside | into):
                common = beside & self._adjacent[x]
                for kept in self._cliques(0, common):
                    gain = -float(self._gains(y, (kept | into) & ~(1 << x))[x])
                    if gain > _TIE:
                        yield gain, x, y, common & ~kept

    def insert(self, x: int, y: int, turned: int) -> None:
        pattern = self.pattern.copy()
        for t in members(turned):
            pattern.orient(t, y)
        pattern.into[y] |= 1 << x
        self._complete(pattern)

    def delete(self, x: int, y: int, turned: int) -> None:
        pattern = self.pattern.copy()
        for masks in (pattern.into, pattern.beside):
            masks[y] &= ~(1 << x)
            masks[x] &= ~(1 << y)
        for h in members(turned):
            if pattern.beside[h] >> y & 1:
                pattern.orient(y, h)
            if pattern.beside[h] >> x & 1:
                pattern.orient(x, h)
        self._complete(pattern)

    def _complete(self, pattern: Pattern) -> None:
        parents = pattern.extension()
        assert parents is not None  # Chickering's conditions guarantee it
        self.pattern = Pattern.of_parents(parents)
        self._adjacent = self.pattern.adjacent()

    def _is_valid(self, move: Move) -> bool:
        """Whether every semi-directed path from Y to X is blocked; deletions have none to check."""
        _, x, y, turned = move
        if self._adjacent[y] >> x & 1:
            return True
        blocked = self.pattern.beside[y] & self._adjacent[x] | turned
        seen, waiting = 1 << y | blocked, [y]
        while waiting:
            v = waiting.pop()
            ahead = self.pattern.beside[v]
            ahead |= self._adjacent[v] & ~self.pattern.into[v]
            ahead &= ~seen
            if ahead >> x & 1:
                return False
            seen |= ahead
            waiting += members(ahead)
        return True

    def _is_clique(self, mask: int) -> bool:
        return all(mask & ~(self._adjacent[v] | 1 << v) == 0 for v in members(mask))

    def _cliques(self, base: int, others: int) -> Iterator[int]:
        """Yield the subsets of the others that form a clique together with the base."""
        yield 0
        for v in members(others):
            if base & ~self._adjacent[v]:
                continue
            later = others >> v + 1 << v + 1 & self._adjacent[v]
            for more in self._cliques(base | 1 << v, later):
                yield more | 1 << v

    def _gains(self, child: int, parents: int) -> NDArray[np.float64]:
        """Return what each other variable adds to the score of the child with these parents."""
        known = self._known.get((child, parents))
        if known is None:
            its = tuple(members(parents))
            now = self._families.family(child, its)
            known = self._known[child, parents] = self._families.toggled(child, its) - now
        return known
