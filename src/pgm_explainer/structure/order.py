"""Order-based search: the best order of the variables, for networks of 30 variables and more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import check_whole_number
from ..limits import REPETITIONS
from .dag import DAG, Constraints, mask_of, members
from .families import FamilyScores, family_scores
from .hill_climb import climb

__all__ = ["order_search"]

_TIE = 1e-9
_MOST_PARENTS = 8
_PATIENCE = 5


def order_search(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    score: Any = "bic",
    max_parents: int | None = None,
    beam: int = 10,
    restarts: int = 5,
    seed: int = 0,
) -> DAG:
    """Search for a network by its order: every variable takes its best parents among earlier ones.

    For each variable, promising sets of parents are scored first: the best ``beam`` sets of each
    size are extended by one more variable. The search then moves one variable at a time to its best
    place in the order while that improves the score (Teyssier and Koller, 2005, with the moves of
    Alonso-Barba et al., 2011). It starts from the order of the network that hill climbing finds,
    and again from random orders. The best network found is improved by hill climbing.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: a name in :data:`SCORES` or an object like those.
        max_parents: the maximum number of parents of a variable; None for 8.
        beam: how many sets of parents of each size are extended.
        restarts: the number of random orders.
        seed: seed of the random orders.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> cause = rng.integers(0, 2, 500)
        >>> data = np.stack([cause, cause, rng.integers(0, 2, 500)], axis=1)
        >>> order_search(data, [2, 2, 2]).edges
        ((0, 1),)
    """
    families = family_scores(data, cardinalities, score)
    size = families.num_variables
    if size < 2:
        return DAG(size)
    limits = Constraints.of(size, max_parents)
    beam = check_whole_number(beam, "beam", at_least=1, at_most=REPETITIONS)
    restarts = check_whole_number(restarts, "restarts", at_least=0, at_most=REPETITIONS)
    rng = np.random.default_rng(check_whole_number(seed, "seed", at_least=0))
    most = _MOST_PARENTS if max_parents is None else limits.max_parents
    sets = [_ParentSets(families, child, min(most, size - 1), beam) for child in range(size)]
    found, best = climb(families, limits)
    starts = [found.order, *(tuple(rng.permutation(size).tolist()) for _ in range(restarts))]
    for start in starts:
        dag = _Orders(sets, list(start)).search()
        dag, value = climb(families, limits, start=dag, patience=_PATIENCE)
        if value > best + _TIE * abs(best):
            found, best = dag, value
    return found


class _ParentSets:
    """The promising sets of parents of a variable, the best first."""

    def __init__(self, families: FamilyScores, child: int, most: int, beam: int) -> None:
        scores = {0: families.family(child, ())}
        level = [0]
        for _ in range(most):
            larger: dict[int, float] = {}
            for mask in level:
                toggled = families.toggled(child, tuple(members(mask)))
                for other in np.flatnonzero(toggled > scores[mask]).tolist():
                    if other != child and not mask >> other & 1:
                        larger[mask | 1 << other] = float(toggled[other])
            level = sorted(larger, key=lambda mask: (-larger[mask], mask))[:beam]
            if not level:
                break
            # All sets that were scored can be used; the best of them are extended.
            scores.update(larger)
        ranked = sorted(scores, key=lambda mask: (-scores[mask], mask.bit_count(), mask))
        stop = ranked.index(0) + 1  # no set is worse than no parents
        self.masks = ranked[:stop]
        self.scores = [scores[mask] for mask in self.masks]
        words = -(-families.num_variables // 63)
        parts = [[mask >> 63 * at & (1 << 63) - 1 for at in range(words)] for mask in self.masks]
        self._parts = np.array(parts, dtype=np.int64)
        self._words = range(words)

    def best(self, before: int) -> int:
        """Return the position of the best set within a mask of variables."""
        outside = self._parts & [~(before >> 63 * at) & (1 << 63) - 1 for at in self._words]
        return int(np.argmin(outside.any(axis=1)))


class _Orders:
    """An order of the variables and its moves."""

    def __init__(self, sets: list[_ParentSets], order: list[int]) -> None:
        self._sets, self._order = sets, order
        self._known: dict[tuple[int, int], float] = {}

    def search(self) -> DAG:
        """Move one variable at a time to its best place until no move improves the score."""
        waiting = list(self._order)
        while waiting:
            variable = waiting.pop(0)
            if self._place(variable):
                waiting = [v for v in self._order if v != variable]
        before, edges = 0, []
        for child in self._order:
            sets = self._sets[child]
            edges += [(p, child) for p in members(sets.masks[sets.best(before)])]
            before |= 1 << child
        return DAG(len(self._order), edges)

    def _place(self, variable: int) -> bool:
        """Move a variable to its best place; return whether that improved the score."""
        order = self._order
        at = order.index(variable)
        gains = np.zeros(len(order))
        for step in (-1, 1):
            before = mask_of(order[:at])
            total, place = 0.0, at
            while 0 <= place + step < len(order):
                other = order[place + step]
                if step > 0:  # the other variable moves before this one
                    total += self._score(other, before) - self._score(other, before | 1 << variable)
                    after = before | 1 << other
                else:
                    after = before & ~(1 << other)
                    total += self._score(other, after | 1 << variable) - self._score(other, after)
                total += self._score(variable, after) - self._score(variable, before)
                before, place = after, place + step
                gains[place] = total
        best = int(np.argmax(gains))
        if gains[best] <= _TIE * max(1.0, abs(self._sets[variable].scores[0])):
            return False
        order.insert(best, order.pop(at))
        return True

    def _score(self, child: int, before: int) -> float:
        """Return the score of the variable's best parents among those before it."""
        before &= ~(1 << child)
        known = self._known.get((child, before))
        if known is None:
            sets = self._sets[child]
            known = self._known[child, before] = sets.scores[sets.best(before)]
        return known
