"""Exact search: the best network of all, by dynamic programming over orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .constraints import Constraints
from .dag import DAG
from .families import FamilyScores, VariableSet, family_scores

__all__ = ["MAX_EXACT_VARIABLES", "exact_search"]

MAX_EXACT_VARIABLES = 20
"""Beyond this, the table of all subsets no longer fits an ordinary machine."""


def exact_search(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    score: Any = "bic",
    max_parents: int | None = None,
    forbidden: Iterable[Iterable[int]] = (),
    required: Iterable[Iterable[int]] = (),
) -> DAG:
    """Return a network that no other network scores higher than.

    Every network has a variable without children, so the best one over a set of variables is the
    best over the set without some last variable, plus that variable's best parents within it.
    Parent sets whose penalty alone exceeds the score of a smaller set are never scored, which for
    BIC leaves few. Of networks that score the same, ties go to the last variable with the larger
    number and to fewer, smaller parents.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: ``bic``, ``aic``, ``bdeu``, ``log_likelihood`` or an object like them.
        max_parents: the most parents a variable may have; None for no limit but the score's own.
        forbidden, required: pairs (parent, child).

    Raises:
        InputError: more than :data:`MAX_EXACT_VARIABLES` variables.
    """
    families = family_scores(data, cardinalities, score)
    size = families.num_variables
    if size > MAX_EXACT_VARIABLES:
        raise InputError(
            f"exact search takes at most {MAX_EXACT_VARIABLES} variables, not {size}: it looks at "
            f"2**{size} subsets; use hill_climb, or explain with a smaller max_nodes"
        )
    limits = Constraints.of(size, max_parents, forbidden, required)
    choices = [dict(_parent_sets(families, limits, child)) for child in range(size)]
    return _best_dag(size, choices)


def _parent_sets(
    families: FamilyScores, limits: Constraints, child: int
) -> Iterator[tuple[int, float]]:
    """Yield the parent sets worth considering, as bit masks, with their scores."""
    required = limits.required.parents(child)
    optional = [
        int(parent) for parent in np.flatnonzero(limits.allowed[:, child]) if parent not in required
    ]
    bests: dict[VariableSet, float] = {}
    for extra in range(min(len(optional), limits.max_parents - len(required)) + 1):
        promising = []
        for chosen in combinations(optional, extra):
            # The best score among its subsets, which a set must beat to be of any use; the fit
            # is never better than perfect, so the penalty alone may show that it cannot.
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
                yield _mask(parents), value


def _best_dag(size: int, choices: list[dict[int, float]]) -> DAG:
    subsets = 1 << size
    best_parents = np.full((size, subsets), -np.inf)
    for child, sets in enumerate(choices):
        best_parents[child, list(sets)] = list(sets.values())
        _spread_to_supersets(best_parents[child], size)
    total = np.full(subsets, -np.inf)
    total[0] = 0.0
    last = np.zeros(subsets, dtype=np.int8)
    members = np.array([mask.bit_count() for mask in range(subsets)])
    for count in range(1, size + 1):
        masks = np.flatnonzero(members == count)
        for child in range(size):
            having = masks[(masks >> child) & 1 == 1]
            before = having & ~(1 << child)
            value = total[before] + best_parents[child, before]
            better = value >= total[having]
            total[having[better]] = value[better]
            last[having[better]] = child
    return DAG(size, _trace_back(subsets - 1, last, choices))


def _spread_to_supersets(values: NDArray[np.float64], size: int) -> None:
    """Make every entry the maximum over its subsets."""
    for bit in range(size):
        halves = values.reshape(-1, 2, 1 << bit)
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])


def _trace_back(
    remaining: int, last: NDArray[np.int8], choices: list[dict[int, float]]
) -> Iterator[tuple[int, int]]:
    while remaining:
        child = int(last[remaining])
        remaining &= ~(1 << child)
        within = {mask: value for mask, value in choices[child].items() if not mask & ~remaining}
        parents = max(within, key=lambda mask: (within[mask], -mask.bit_count(), -mask))
        yield from ((bit, child) for bit in range(len(choices)) if parents >> bit & 1)


def _mask(variables: Iterable[int]) -> int:
    return sum(1 << variable for variable in variables)
