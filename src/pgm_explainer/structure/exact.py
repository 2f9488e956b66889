"""Exact structure search by dynamic programming over subsets of variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .dag import DAG, Constraints, dag_of_masks, mask_of
from .families import FamilyScores, VariableSet, family_scores, score_all_families

__all__ = ["MAX_EXACT_VARIABLES", "exact_search", "exact_search_many"]

_CELLS_AT_ONCE = 1 << 20

MAX_EXACT_VARIABLES = 20
"""With more variables, the table of all subsets needs too much memory."""


def exact_search(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    score: Any = "bic",
    max_parents: int | None = None,
    forbidden: Iterable[Iterable[int]] = (),
    required: Iterable[Iterable[int]] = (),
) -> DAG:
    """Return a network of maximum score.

    Every network has a variable without children. So the best network of a set of variables is the
    best network without some last variable, plus the best parents of that variable in the rest.
    Parent sets whose penalty alone exceeds the score of a subset are not scored, which leaves few
    of them for BIC. Ties are broken in favour of the larger last variable, and of fewer and smaller
    parents.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: a name in :data:`SCORES` or an object like those.
        max_parents: the maximum number of parents of a variable; None for no limit.
        forbidden, required: pairs (parent, child).

    Raises:
        InputError: there are more than 20 variables.

    Examples:
        >>> from pgm_explainer.structure import exact_search
        >>> exact_search([[0, 0], [1, 1]] * 50, [2, 2]).edges
        ((0, 1),)
    """
    families = family_scores(data, cardinalities, score)
    size = families.num_variables
    if size > MAX_EXACT_VARIABLES:
        raise InputError(
            f"exact search supports at most {MAX_EXACT_VARIABLES} variables, not {size}, as it "
            f"needs memory for 2**{size} subsets; use hill_climb or a smaller max_nodes"
        )
    if size < 2:
        return DAG(size)
    limits = Constraints.of(size, max_parents, forbidden, required)
    every = families.every_family()
    if every is None:
        every = _promising_families(families, limits)
    else:
        every = np.where(_legal(limits, size), every, -np.inf)
    return _best_dags(every[None])[0]


def exact_search_many(
    data: Sequence[NDArray[np.integer[Any]]],
    cardinalities: tuple[int, ...],
    *,
    score: Any,
    max_parents: int | None = None,
) -> list[DAG]:
    """Return the result of :func:`exact_search` for several data sets at once, which is faster.

    Args:
        data: validated states ``[n, V]`` of each data set.
        cardinalities: the same for all data sets; :func:`are_few` must be True for them.
    """
    size = len(cardinalities)
    legal = _legal(Constraints.of(size, max_parents), size)
    at_once = max(1, _CELLS_AT_ONCE // prod(each + 1 for each in cardinalities))
    found = []
    for start in range(0, len(data), at_once):
        codes = np.stack(data[start : start + at_once]).astype(np.int64)
        families = score_all_families(codes, cardinalities, score)
        found += _best_dags(np.where(legal, families, -np.inf))
    return found


def _legal(limits: Constraints, size: int) -> NDArray[np.bool_]:
    """Return which sets of parents each variable may have, as ``[child, bit mask]``."""
    masks = np.arange(1 << size)
    bits = 1 << np.arange(size)
    required = np.array([mask_of(limits.required.parents(child)) for child in range(size)])
    allowed = (limits.allowed * bits[:, None]).sum(axis=0)
    legal = (masks & ~allowed[:, None] == 0) & (masks & required[:, None] == required[:, None])
    if limits.max_parents < size - 1:
        legal &= _members(size) <= limits.max_parents
    return legal


def _promising_families(families: FamilyScores, limits: Constraints) -> NDArray[np.float64]:
    """Return the scores of families that may be optimal, -inf for the others."""
    size = families.num_variables
    scores = np.full((size, 1 << size), -np.inf)
    for child in range(size):
        for mask, value in _parent_sets(families, limits, child):
            scores[child, mask] = value
    return scores


def _parent_sets(
    families: FamilyScores, limits: Constraints, child: int
) -> Iterator[tuple[int, float]]:
    """Yield the parent sets that may be optimal, as bit masks, with their scores."""
    required = limits.required.parents(child)
    optional = [
        int(parent) for parent in np.flatnonzero(limits.allowed[:, child]) if parent not in required
    ]
    bests: dict[VariableSet, float] = {}
    for extra in range(min(len(optional), limits.max_parents - len(required)) + 1):
        promising = []
        for chosen in combinations(optional, extra):
            # A set is useful only if it scores higher than all its subsets. The fit is at most 0,
            # so a large penalty rules a set out without scoring it.
            subsets = (chosen[:at] + chosen[at + 1 :] for at in range(extra))
            to_beat = bests[chosen] = max((bests[each] for each in subsets), default=-np.inf)
            parents = tuple(sorted((*required, *chosen)))
            cost = families.penalty(child, parents)
            if cost <= 0 or -cost > to_beat:
                promising.append((chosen, parents))
        if not promising:
            break
        families.count_ahead(parents for _, parents in promising)
        families.count_ahead(tuple(sorted((*parents, child))) for _, parents in promising)
        for chosen, parents in promising:
            value = families.family(child, parents)
            if value > bests[chosen]:
                bests[chosen] = value
                yield mask_of(parents), value


def _best_dags(families: NDArray[np.float64]) -> list[DAG]:
    """Return the best network of each problem.

    Args:
        families: the score of each family ``[problem, child, bit mask of parents]``.
    """
    problems, size, subsets = families.shape
    within = _best_subsets(families)
    total = np.zeros((problems, subsets))
    last = np.zeros((problems, subsets), dtype=np.int64)
    children = np.arange(size)[:, None]
    for layer in _layers(size):
        values = total[:, layer.before] + within[:, children, layer.before]
        values[:, ~layer.has] = -np.inf
        # The last maximum, so that later variables become children in ties.
        best = size - 1 - values[:, ::-1].argmax(axis=1)
        total[:, layer.masks] = np.take_along_axis(values, best[:, None], axis=1)[:, 0]
        last[:, layer.masks] = best
    return [_cached_dag(tuple(masks)) for masks in _trace_back(families, last).tolist()]


@dataclass(frozen=True)
class _Layer:
    """All sets of one size: their masks, whether each has a variable, and the masks without it."""

    masks: NDArray[np.int64]
    has: NDArray[np.bool_]
    before: NDArray[np.int64]


@lru_cache(maxsize=32)
def _layers(size: int) -> list[_Layer]:
    members, bits = _members(size), 1 << np.arange(size)[:, None]
    layers = []
    for count in range(1, size + 1):
        masks = np.flatnonzero(members == count)
        layers.append(_Layer(masks, masks & bits > 0, masks & ~bits))
    return layers


def _best_subsets(families: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each child and set the best score of any parents within the set."""
    best = families.copy()
    for bit in range(families.shape[1]):
        halves = best.reshape(-1, 2, 1 << bit)
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    return best


def _trace_back(families: NDArray[np.float64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the parents ``[problem, child]`` of the best networks, as bit masks."""
    problems, size, subsets = families.shape
    # Among equal scores, take the first: fewer parents, then smaller ones.
    masks = np.lexsort((np.arange(subsets), _members(size)))
    each = np.arange(problems)
    remaining = np.full(problems, subsets - 1)
    parents = np.empty((problems, size), dtype=np.int64)
    for _ in range(size):
        child = last[each, remaining]
        remaining &= ~(1 << child)
        scores = families[each, child][:, masks]
        scores[masks & ~remaining[:, None] > 0] = -np.inf
        parents[each, child] = masks[scores.argmax(axis=1)]
    return parents


_cached_dag = lru_cache(maxsize=1024)(dag_of_masks)
"""Small networks recur."""


@lru_cache(maxsize=32)
def _members(size: int) -> NDArray[np.int64]:
    """Return the number of variables in each bit mask."""
    counts = np.zeros(1, dtype=np.int64)
    for _ in range(size):
        counts = np.concatenate((counts, counts + 1))
    return counts
