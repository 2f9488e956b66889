"""A Markov network's graph from the neighbours of each variable, found by independence tests.

For each variable, the variable with the smallest p-value of the conditional G test is added to the
neighbours, as long as it is significant. Then every neighbour that is independent given the others
is removed. There is an edge between two variables if each is a neighbour of the other (``and``), or
if at least one is (``or``).
"""

from __future__ import annotations

from math import log

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ..arrays import check_fraction, check_name
from .families import FamilyScores, family_scores
from .undirected import UndirectedGraph

__all__ = ["RULES", "neighbourhood_search"]

RULES = ("and", "or")
_PER_CELL = 5
"""The minimum number of samples per joint state; with fewer, no test is made."""


def neighbourhood_search(
    data: ArrayLike, cardinalities: ArrayLike, *, significance: float = 0.01, rule: str = "and"
) -> UndirectedGraph:
    """Join the variables that are dependent given the other neighbours of either variable.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        significance: the level of each test.
        rule: ``and`` or ``or``.

    Raises:
        InputError: invalid data or option.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> a = rng.integers(0, 2, 2000)
        >>> b, c = ((a + (rng.random((2, 2000)) < 0.1)) % 2)
        >>> neighbourhood_search(np.stack([a, b, c], axis=1), [2, 2, 2]).edges
        ((0, 1), (0, 2))
    """
    check_name(rule, "rule", RULES)
    check_fraction(significance, "significance")
    level = log(significance)
    families = family_scores(data, cardinalities, "log_likelihood")
    count = families.num_variables
    found = [_neighbours(families, variable, level) for variable in range(count)]
    joined = all if rule == "and" else any
    edges = [
        (u, v) for v in range(count) for u in range(v) if joined((u in found[v], v in found[u]))
    ]
    return UndirectedGraph(count, tuple(edges))


def _neighbours(families: FamilyScores, variable: int, level: float) -> set[int]:
    """Grow and shrink the neighbours of a variable."""
    chosen: list[int] = []
    others = [each for each in range(families.num_variables) if each != variable]
    while True:
        tests = {each: _test(families, variable, each, chosen) for each in others}
        best = min(others, key=lambda each: (*tests[each], each), default=None)
        if best is None or tests[best][0] >= level:
            break
        chosen.append(best)
        others.remove(best)
    for each in list(chosen):
        rest = [other for other in chosen if other != each]
        if _test(families, variable, each, rest)[0] >= level:
            chosen.remove(each)
    return set(chosen)


def _test(families: FamilyScores, one: int, other: int, given: list[int]) -> tuple[float, float]:
    """Return the log p-value of the G test of two variables given others, and minus its statistic.

    The p-value is 1 if there are too few samples for the table, so that tables never grow large.
    Both are rounded, so that ties do not depend on the processor.
    """
    states = families.cardinalities
    freedom = (states[one] - 1) * (states[other] - 1) * families.configurations(given)
    cells = families.configurations((one, other, *given))
    if freedom == 0 or (given and cells * _PER_CELL > families.num_samples):
        return 0.0, 0.0
    parents, larger = tuple(sorted(given)), tuple(sorted((*given, other)))
    statistic = 2 * (families.family(one, larger) - families.family(one, parents))
    with np.errstate(divide="ignore"):  # p-values that underflow are compared by G
        log_p = float(np.log(scipy.special.chdtrc(freedom, max(statistic, 0.0))))
    return round(log_p, 6), round(-statistic, 6)
