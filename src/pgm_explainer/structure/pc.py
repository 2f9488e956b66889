"""The PC algorithm: a class of networks from tests of conditional independence."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike

from .dag import DAG, dag_of_masks, mask_of, members
from .equivalence import Pattern
from .skeleton import Skeleton, TestOptions, Tests, pc_skeleton, subsets

__all__ = ["pc"]

Triple = tuple[int, int, int]


def pc(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    test: object = "g",
    significance: float = 0.05,
    max_condition: int = 3,
) -> DAG:
    """Return a network of the class that PC-stable finds.

    Edges are removed between variables that are independent given some of their neighbours. If two
    variables are not adjacent, and a common neighbour is not in the set of neighbours given which
    they are most independent, both edges point to it (the largest p-value decides, as in Ramsey,
    *Improving accuracy and scalability of the PC algorithm by maximizing p-value*, 2016). The rest
    of the directions follows from Meek's rules, or is not determined by the data. If the tests
    contradict each other, the directions with the largest p-values are kept. A variable that is a
    copy of another, up to the names of its states, is connected to that one only.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        test: the independence test, ``g`` or ``chi_square``.
        significance: the significance level.
        max_condition: the largest number of variables that a test conditions on. Sizes that need
            more than 100,000 tests are not tried.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a, b = rng.integers(0, 2, (2, 500))
        >>> pc(np.stack([a, a & b, b], axis=1), [2, 2, 2]).edges
        ((0, 1), (2, 1))
    """
    options = TestOptions(test, significance, max_condition)
    tests = Tests(data, cardinalities, options.test)
    skeleton = _with_best_separators(pc_skeleton(tests, options), tests, options.max_condition)
    return dag_of_masks(_directed(skeleton))


def _with_best_separators(skeleton: Skeleton, tests: Tests, most: int) -> Skeleton:
    """Return the skeleton with the separators of the largest p-value, of all sets of neighbours."""
    adjacent, best = skeleton.adjacent, dict(skeleton.separators)
    log_p = dict(skeleton.log_p)
    for x, y in skeleton.separators:
        if not adjacent[x] & adjacent[y]:
            continue  # no triple needs it
        both = chain(subsets(sorted(adjacent[x]), most), subsets(sorted(adjacent[y]), most))
        sets = list(dict.fromkeys(both))
        values = tests.log_p([(x, y, given) for given in sets])
        at = int(np.argmax(values))
        best[x, y], log_p[x, y] = sets[at], float(values[at])
    return Skeleton(adjacent, best, log_p)


def _directed(skeleton: Skeleton) -> list[int]:
    """Return the masks of parents of a network with this skeleton and its v-structures."""
    triples = _v_structures(skeleton)
    while True:
        pattern = _pattern(skeleton, triples)
        parents = pattern.extension()
        if parents is not None:
            return parents
        if not triples:
            # A cycle without chord has a v-structure, whichever way it is directed.
            return [
                mask_of(u for u in neighbours if u < v)
                for v, neighbours in enumerate(skeleton.adjacent)
            ]
        triples = triples[:-1]


def _v_structures(skeleton: Skeleton) -> list[Triple]:
    """Return the triples x -> z <- y, those with the largest p-value first."""
    found: list[tuple[float, Triple]] = []
    for z, neighbours in enumerate(skeleton.adjacent):
        for x, y in combinations(sorted(neighbours), 2):
            separator = skeleton.separators.get((x, y))
            if y not in skeleton.adjacent[x] and separator is not None and z not in separator:
                found.append((-skeleton.log_p[x, y], (x, z, y)))
    return [triple for _, triple in sorted(found)]


def _pattern(skeleton: Skeleton, triples: list[Triple]) -> Pattern:
    """Direct the edges of the triples, without reversing an edge or closing a cycle."""
    beside = [mask_of(neighbours) for neighbours in skeleton.adjacent]
    pattern = Pattern([0] * len(beside), beside)
    for x, z, y in triples:
        against = pattern.into[x] >> z & 1 or pattern.into[y] >> z & 1
        if not against and not any(_reaches(pattern, z, end) for end in (x, y)):
            for end in (x, y):
                if pattern.beside[z] >> end & 1:
                    pattern.orient(end, z)
    pattern.close()
    return pattern


def _reaches(pattern: Pattern, start: int, end: int) -> bool:
    """Whether directed edges lead from one variable to another."""
    seen, waiting = 1 << end, [end]
    while waiting:
        before = pattern.into[waiting.pop()] & ~seen
        if before >> start & 1:
            return True
        seen |= before
        waiting += members(before)
    return False
