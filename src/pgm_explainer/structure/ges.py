"""Greedy equivalence search (GES) over classes of networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .dag import DAG, Constraints, dag_of_masks, is_complete, members
from .equivalence import Pattern
from .families import FamilyScores, family_scores
from .hill_climb import climb
from .scores import PenalisedLikelihood, as_score

__all__ = ["ges"]

_TIE = 1e-9
"""Relative tolerance of ties, as gains of equivalent moves differ by rounding."""

Move = tuple[float, int, int, int]
"""The gain, the ends X and Y of the edge, and the mask T or H of Chickering's operators."""


def ges(data: ArrayLike, cardinalities: ArrayLike, *, score: Any = "bic") -> DAG:
    """Return a network of the class that a greedy search over equivalence classes finds.

    From the empty class, the edge whose insertion improves the score most is inserted, until none
    does; then edges are deleted in the same way. With enough samples, the class of the true network
    is found (Chickering, *Optimal structure identification with greedy search*, 2002). With fewer,
    an edge may have the wrong direction; so the edge whose turning improves the score most is
    turned (Hauser and Bühlmann, *Characterization and greedy learning of interventional Markov
    equivalence classes*, 2012). The phases are repeated while they improve the score. Ties are
    broken by the smaller variables. The same is done from the class of the network that hill
    climbing finds, and the better class is returned.

    Some scores differ between the networks of a class. The search then compares one network of each
    class, so that every move is an improvement and the search ends.

    A limit on the number of parents is not a property of a class, so there is none.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: a name in :data:`SCORES` or an object like those; it must have a penalty, and should
            be the same for equivalent networks (``bic``, ``aic``, ``bdeu``, ``qnml``,
            ``held_out``).

    Raises:
        InputError: the score is the log-likelihood, which improves with every edge.

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
    size = families.num_variables
    starts = (DAG(size), climb(families, Constraints.of(size))[0])
    first, second = (_Search(families, start).run() for start in starts)
    return dag_of_masks(second.parents if second.score > _beyond(first.score) else first.parents)


def _beyond(score: float) -> float:
    """Return what a better score must exceed, as scores of equal classes differ by rounding."""
    return score + _TIE * abs(score)


class _Search:
    """The current class, one of its networks with its score, and the moves from it."""

    def __init__(self, families: FamilyScores, start: DAG) -> None:
        self._families = families
        self._size = families.num_variables
        self._every = (1 << self._size) - 1
        self._known: dict[tuple[int, int], NDArray[np.float64]] = {}
        self.parents, pattern = _completed(Pattern.of(start))
        self.score = self._score_of(self.parents)
        self._become(pattern)

    def run(self) -> _Search:
        """Repeat the phases while they improve the score."""
        moved = True
        while moved:
            inserted = self._repeat(self._insertions, self._with_edge)
            deleted = self._repeat(self._deletions, self._without_edge)
            moved = (inserted and deleted) or self._turn()
        return self

    def _repeat(self, moves: Any, after: Any) -> bool:
        """Make the best move until none improves the score; return whether any was made."""
        moved = False
        while any(self._take(after(*move[1:])) for move in self._from_best(list(moves()))):
            moved = True
        return moved

    def _from_best(self, moves: list[Move]) -> Iterator[Move]:
        """Yield the valid moves, the largest gain first; of ties, the smallest variables."""
        moves.sort(key=lambda move: -move[0])
        start = 0
        while start < len(moves):
            least = moves[start][0] * (1 - _TIE)
            stop = start + 1
            while stop < len(moves) and moves[stop][0] >= least:
                stop += 1
            yield from filter(self._is_valid, sorted(moves[start:stop], key=lambda move: move[1:]))
            start = stop

    def _insertions(self) -> Iterator[Move]:
        """Yield the insertions X -> Y that improve the score; T are neighbours that turn to Y."""
        for y in range(self._size):
            beside, into = self.pattern.beside[y], self.pattern.into[y]
            groups: dict[int, int] = {}  # the variables X by their common neighbours with Y
            for x in members(self._every & ~(self._adjacent[y] | 1 << y)):
                common = beside & self._adjacent[x]
                groups[common] = groups.get(common, 0) | 1 << x
            for common, group in groups.items():
                if not is_complete(common, self._adjacent):
                    continue
                for turned in self._cliques(common, beside & ~common):
                    gains = self._gains(y, common | turned | into)
                    for x in np.flatnonzero(gains > _TIE).tolist():
                        if group >> x & 1:
                            yield float(gains[x]), x, y, turned

    def _deletions(self, least: float = _TIE) -> Iterator[Move]:
        """Yield the deletions of X -> Y or X - Y that gain more than this."""
        for y in range(self._size):
            beside, into = self.pattern.beside[y], self.pattern.into[y]
            for x in members(beside | into):
                common = beside & self._adjacent[x]
                for kept in self._cliques(0, common):
                    gain = -float(self._gains(y, (kept | into) & ~(1 << x))[x])
                    if gain > least:
                        yield gain, x, y, common & ~kept

    def _turn(self) -> bool:
        """Delete an edge and insert it again, if that improves the score; return whether it does.

        Every network of the class and every edge of it is considered, since each change of one edge
        of a network is among the deletions or insertions of its class.
        """
        now, found = self.pattern, []
        for loss, *edge, apart in list(self._deletions(-np.inf)):
            x, y = edge
            self._become(_completed(self._without_edge(x, y, apart))[1])
            moves = [*self._insertions_of(x, y), *self._insertions_of(y, x)]
            found += [
                (loss + move[0], self._with_edge(*move[1:]))
                for move in moves
                if loss + move[0] > _TIE and self._is_valid(move)
            ]
            self._become(now)
        found.sort(key=lambda turned: -turned[0])
        return any(self._take(pattern) for _, pattern in found)

    def _insertions_of(self, x: int, y: int) -> Iterator[Move]:
        beside, into = self.pattern.beside[y], self.pattern.into[y]
        common = beside & self._adjacent[x]
        if is_complete(common, self._adjacent):
            for turned in self._cliques(common, beside & ~common):
                yield float(self._gains(y, common | turned | into)[x]), x, y, turned

    def _with_edge(self, x: int, y: int, turned: int) -> Pattern:
        pattern = self.pattern.copy()
        for t in members(turned):
            pattern.orient(t, y)
        pattern.into[y] |= 1 << x
        return pattern

    def _without_edge(self, x: int, y: int, turned: int) -> Pattern:
        pattern = self.pattern.copy()
        for masks in (pattern.into, pattern.beside):
            masks[y] &= ~(1 << x)
            masks[x] &= ~(1 << y)
        for h in members(turned):
            if pattern.beside[h] >> y & 1:
                pattern.orient(y, h)
            if pattern.beside[h] >> x & 1:
                pattern.orient(x, h)
        return pattern

    def _take(self, pattern: Pattern) -> bool:
        """Make the class of this pattern the current one if its score is better."""
        parents, completed = _completed(pattern)
        score = self._score_of(parents)
        if not score > _beyond(self.score):
            return False
        self.parents, self.score = parents, score
        self._become(completed)
        return True

    def _become(self, pattern: Pattern) -> None:
        self.pattern, self._adjacent = pattern, pattern.adjacent()

    def _score_of(self, parents: list[int]) -> float:
        families = enumerate(parents)
        return sum(self._families.family(v, tuple(members(its))) for v, its in families)

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


def _completed(pattern: Pattern) -> tuple[list[int], Pattern]:
    """Return a network with these edges, as masks of parents, and its class."""
    parents = pattern.extension()
    assert parents is not None  # Chickering's conditions guarantee it
    completed = Pattern.of_parents(parents)
    canonical = completed.extension()
    assert canonical is not None  # a class has a network
    return canonical, completed
