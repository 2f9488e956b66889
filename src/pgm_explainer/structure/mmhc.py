"""Max-min hill climbing (MMHC): hill climbing restricted to the edges that tests keep."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from .dag import DAG
from .hill_climb import hill_climb
from .skeleton import TestOptions, Tests, parents_and_children

__all__ = ["mmhc"]


def mmhc(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    score: Any = "bic",
    max_parents: int | None = None,
    test: object = "g",
    significance: float = 0.05,
    max_condition: int = 3,
) -> DAG:
    """Return a network found by hill climbing over edges between parents and children.

    Tsamardinos, Brown and Aliferis, 2006: first the neighbours of each variable are found by tests
    of conditional independence, then :func:`hill_climb` may connect only neighbours.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: a name in :data:`SCORES` or an object like those.
        max_parents: the maximum number of parents of a variable; None for no limit.
        test, significance, max_condition: as in :func:`pc`.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> cause = rng.integers(0, 2, 500)
        >>> data = np.stack([cause, cause, rng.integers(0, 2, 500)], axis=1)
        >>> mmhc(data, [2, 2, 2]).edges
        ((0, 1),)
    """
    options = TestOptions(test, significance, max_condition)
    neighbours = parents_and_children(Tests(data, cardinalities, options.test), options)
    size = range(len(neighbours))
    forbidden = [(u, v) for v in size for u in size if u != v and u not in neighbours[v]]
    how: dict[str, Any] = {"score": score, "max_parents": max_parents, "forbidden": forbidden}
    return hill_climb(data, cardinalities, **how)
