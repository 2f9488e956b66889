"""Which variables are adjacent, by tests of conditional independence: for PC and MMHC."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import check_whole_number, is_number
from ..errors import InputError
from ..independence import (
    IndependenceTest,
    as_test,
    conditional_tests,
    stratified_counts,
)
from ..limits import brief
from .scores import check_data

__all__ = ["Skeleton", "TestOptions", "Tests", "parents_and_children", "pc_skeleton", "subsets"]

_MOST_STATES = 256
_MOST_TESTS = 100_000
"""Conditioning sets of a size that would need more tests than this are not tried."""
_MOST_SUBSETS = 300
_AT_ONCE = 512
_PER_CELL = 2
"""Strata with fewer samples per cell are left out of a test.

A search tests each pair given many sets, and an edge is removed by any of them. Leaving out more
strata costs true edges: of 100 networks of 8 variables with 4 states, 35 edges are missing with 5
samples per cell, and 8 with 2.
"""

Pair = tuple[int, int]


@dataclass(frozen=True)
class TestOptions:
    """How variables are tested.

    Attributes:
        test: the independence test, ``g`` or ``chi_square``, or an object like those.
        significance: the significance level; edges whose p-value is above it are removed.
        max_condition: the largest number of variables that a test conditions on.
    """

    test: Any = "g"
    significance: float = 0.05
    max_condition: int = 3

    __test__ = False  # not a test of pytest

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", as_test(self.test))
        if not is_number(self.significance) or not 0 < self.significance < 1:
            raise InputError(
                f"significance must be a number between 0 and 1, not {brief(self.significance)}"
            )
        most = check_whole_number(self.max_condition, "max_condition", at_least=0)
        object.__setattr__(self, "max_condition", most)


class Tests:
    """Tests of conditional independence on a data set; each is computed once."""

    def __init__(self, data: ArrayLike, cardinalities: ArrayLike, test: IndependenceTest) -> None:
        codes, sizes = check_data(data, cardinalities)
        if max(sizes, default=1) > _MOST_STATES:
            raise InputError(
                f"tests support at most {_MOST_STATES} states of a variable, not {max(sizes)}"
            )
        self.num_variables = len(sizes)
        self._codes = codes.astype(np.uint8)
        self._states = max(sizes, default=1)
        self._test = test
        self._known: dict[tuple[int, int, tuple[int, ...]], float] = {}

    def log_p(self, wanted: Sequence[tuple[int, int, tuple[int, ...]]]) -> NDArray[np.float64]:
        """Return log p of each ``(x, y, given)``; 0 if no test is possible."""
        ordered = [(min(x, y), max(x, y), given) for x, y, given in wanted]
        new = [each for each in dict.fromkeys(ordered) if each not in self._known]
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            tables = [self._table(*each) for each in some]
            found = conditional_tests(tables, self._test, _PER_CELL)
            self._known.update(zip(some, found.tolist(), strict=True))
        return np.array([self._known[each] for each in ordered])

    def _table(self, x: int, y: int, given: tuple[int, ...]) -> NDArray[np.float64]:
        least = 4 * _PER_CELL if given else 1  # a tested stratum has at least 2 by 2 cells
        columns = self._codes[:, list(given)]
        codes = self._codes
        return stratified_counts(codes[:, x], codes[:, y], columns, self._states, least)

    def twins(self) -> dict[int, int]:
        """Return variables whose state determines, and is determined by, that of an earlier one."""
        first: dict[bytes, int] = {}
        found = {}
        for at, column in enumerate(self._codes.T):
            _, order, codes = np.unique(column, return_index=True, return_inverse=True)
            if len(order) == 1:
                continue  # constant
            by_appearance = np.argsort(np.argsort(order))[codes]
            key = by_appearance.astype(np.uint8).tobytes()
            if key in first:
                found[at] = first[key]
            else:
                first[key] = at
        return found


@dataclass(frozen=True)
class Skeleton:
    """Undirected edges, and why the others are missing.

    Attributes:
        adjacent: the neighbours of each variable.
        separators: for each missing pair, the set given which the two are independent.
        log_p: the logarithm of the p-value of that test.
    """

    adjacent: list[set[int]]
    separators: dict[Pair, tuple[int, ...]]
    log_p: dict[Pair, float]


def pc_skeleton(tests: Tests, options: TestOptions) -> Skeleton:
    """Return the skeleton of PC-stable (Colombo and Maathuis, 2014).

    Conditioning sets grow by one variable at a time, and edges are removed only after all sets of
    a size were tried, so the result does not depend on the order of the variables. Of several
    separating sets, the one with the largest p-value is kept.
    """
    level = log(options.significance)
    twins = tests.twins()
    kept = [v for v in range(tests.num_variables) if v not in twins]
    adjacent: list[set[int]] = [set() for _ in range(tests.num_variables)]
    for v in kept:
        adjacent[v] = set(kept) - {v}
    found = Skeleton(adjacent, {}, {})
    for size in range(options.max_condition + 1):
        pairs = [(x, y) for x in kept for y in sorted(adjacent[x]) if x < y]
        number = sum(comb(len(adjacent[a]) - 1, size) for x, y in pairs for a in (x, y))
        if number == 0 or number > _MOST_TESTS:
            break
        _remove(found, {pair: _sets(adjacent, pair, size) for pair in pairs}, tests, level)
    for twin, first in twins.items():
        adjacent[twin].add(first)
        adjacent[first].add(twin)
    return found


def _sets(adjacent: list[set[int]], pair: Pair, size: int) -> list[tuple[int, ...]]:
    """Return the sets of neighbours of either variable, without the other."""
    x, y = pair
    both = (combinations(sorted(adjacent[a] - {b}), size) for a, b in ((x, y), (y, x)))
    return list(dict.fromkeys(chain.from_iterable(both)))


def _remove(
    found: Skeleton, sets: dict[Pair, list[tuple[int, ...]]], tests: Tests, level: float
) -> None:
    """Remove the edges of pairs that are independent given one of their sets."""
    log_p = iter(
        tests.log_p([(*pair, given) for pair, conditions in sets.items() for given in conditions])
    )
    removed = []
    for pair, conditions in sets.items():
        values = [next(log_p) for _ in conditions]
        if not conditions or max(values) < level:
            continue
        best = int(np.argmax(values))
        found.separators[pair], found.log_p[pair] = conditions[best], values[best]
        removed.append(pair)
    for x, y in removed:
        found.adjacent[x].discard(y)
        found.adjacent[y].discard(x)


def parents_and_children(tests: Tests, options: TestOptions) -> list[set[int]]:
    """Return the neighbours of each variable by max-min parents and children (MMPC).

    Tsamardinos, Brown and Aliferis, *The max-min hill-climbing Bayesian network structure learning
    algorithm*, 2006. Two variables are neighbours only if each is found for the other.
    """
    twins = tests.twins()
    kept = [v for v in range(tests.num_variables) if v not in twins]
    found: list[set[int]] = [set() for _ in range(tests.num_variables)]
    for v in kept:
        found[v] = _candidates(v, [other for other in kept if other != v], tests, options)
    neighbours = [{u for u in selected if v in found[u]} for v, selected in enumerate(found)]
    for twin, first in twins.items():
        neighbours[twin].add(first)
        neighbours[first].add(twin)
    return neighbours


def _candidates(target: int, others: list[int], tests: Tests, options: TestOptions) -> set[int]:
    """Return the variables that no set of the others found makes independent of the target."""
    level = log(options.significance)
    chosen: list[int] = []
    largest = dict(zip(others, tests.log_p([(target, x, ()) for x in others]), strict=True))
    while True:
        # The least association of a variable is its largest p-value over all sets tried so far.
        largest = {x: value for x, value in largest.items() if value < level}
        if not largest:
            break
        best = min(largest, key=lambda x: (largest[x], x))
        del largest[best]
        with_best = [(*given, best) for given in subsets(chosen, options.max_condition - 1)]
        chosen.append(best)
        if options.max_condition:
            for x in largest:
                values = tests.log_p([(target, x, tuple(sorted(given))) for given in with_best])
                largest[x] = max(largest[x], values.max())
    for x in chosen.copy():
        rest = [other for other in chosen if other != x]
        wanted = [(target, x, tuple(sorted(s))) for s in subsets(rest, options.max_condition)]
        if tests.log_p(wanted).max() >= level:
            chosen.remove(x)
    return set(chosen)


def subsets(variables: Sequence[int], most: int) -> Iterable[tuple[int, ...]]:
    """Return the subsets of up to ``most`` variables, the small ones if there are too many."""
    total, sets = 1, list[tuple[int, ...]]([()])
    for size in range(1, most + 1):
        total += comb(len(variables), size)
        if total > _MOST_SUBSETS and size > 1:
            break
        sets += combinations(variables, size)
    return sets
