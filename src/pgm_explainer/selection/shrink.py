"""Grow-shrink's shrink step: drop what tells nothing new of the target given the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .counting import stratified_counts
from .independence import IndependenceTest, conditional_tests

__all__ = ["shrink"]


def shrink(
    codes: NDArray[np.uint8],
    target: NDArray[np.uint8],
    states: int,
    significance: float,
    test: IndependenceTest,
) -> list[int]:
    """Return the columns of ``codes`` that the target still depends on given all the others.

    One variable leaves at a time: the one with the largest p-value, and of equals the one furthest
    back, so columns should come most dependent first. Where samples are too few to test any given
    all the others, variables leave from the back until they suffice.

    Args:
        codes: states ``[n, V]`` of the candidate parents.
        target: states ``[n]``.
        states: more than any state that occurs.
    """
    kept = list(range(codes.shape[1]))
    while kept:
        tables = [
            stratified_counts(
                codes[:, column], target, codes[:, [k for k in kept if k != column]], states
            )
            for column in kept
        ]
        log_p = conditional_tests(tables, test)
        removable = [at for at in range(len(kept)) if log_p[at] >= np.log(significance)]
        if not removable:
            break
        # Found independent goes before could not be tested, which is no evidence (log p = 0).
        del kept[max(removable, key=lambda at: (log_p[at] < 0, log_p[at], at))]
    return kept
