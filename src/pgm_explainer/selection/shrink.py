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
    back, so columns should come most dependent first. Where samples are too few to test given all
    the others, variables leave from the back until they suffice.

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
        worst = max(range(len(kept)), key=lambda at: (log_p[at], at))
        if log_p[worst] < np.log(significance):
            break
        del kept[worst]
    return kept
