"""The parents of each variable of a dependency network, found for each variable separately.

Cycles are allowed, so the best parents of a variable do not depend on those of the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import check_whole_number
from .dag import members
from .families import FamilyScores, VariableSet, family_scores
from .scores import Score

__all__ = ["local_search"]

_TIE = 1e-9


def local_search(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    score: str | Score = "bic",
    max_parents: int | None = None,
) -> list[tuple[int, ...]]:
    """Return the parents of each variable that score highest.

    For a few variables all sets of parents are compared. For more, one parent is added or removed
    at a time while that improves the score. Ties go to fewer parents, then to smaller ones.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: as in :func:`~pgm_explainer.structure.hill_climb`.
        max_parents: the maximum number of parents of a variable; None for no limit.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> cause = rng.integers(0, 2, 500)
        >>> data = np.stack([cause, cause, rng.integers(0, 2, 500)], axis=1)
        >>> local_search(data, [2, 2, 2])
        [(1,), (0,), ()]
    """
    families = family_scores(data, cardinalities, score)
    count = families.num_variables
    most = count - 1
    if max_parents is not None:
        most = min(most, check_whole_number(max_parents, "max_parents", at_least=1))
    every = families.every_family()
    if every is None:
        return [_climb(families, child, most) for child in range(count)]
    masks = np.arange(1 << count)
    sizes = np.array([int(mask).bit_count() for mask in masks])
    in_order = np.lexsort((masks, sizes))
    in_order = in_order[sizes[in_order] <= most]
    return [_best(every[child][in_order], in_order, child) for child in range(count)]


def _best(scores: NDArray[np.float64], masks: NDArray[np.int64], child: int) -> VariableSet:
    possible = masks >> child & 1 == 0
    scores, masks = scores[possible], masks[possible]
    highest = float(scores.max())
    first = int(np.argmax(scores >= highest - _TIE * max(1.0, abs(highest))))
    return tuple(members(int(masks[first])))


def _climb(families: FamilyScores, child: int, most: int) -> VariableSet:
    parents: VariableSet = ()
    value = families.family(child, parents)
    while True:
        scores = families.toggled(child, parents).copy()
        scores[child] = -np.inf
        if len(parents) >= most:
            added = np.ones(len(scores), dtype=bool)
            added[list(parents)] = False
            scores[added] = -np.inf
        best = float(scores.max(initial=-np.inf))
        tie = _TIE * max(1.0, abs(value))
        if best <= value + tie:
            return parents
        at = int(np.argmax(scores >= best - tie))
        parents = tuple(sorted({*parents} ^ {at}))
        value = best
