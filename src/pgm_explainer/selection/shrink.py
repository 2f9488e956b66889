"""The shrink step of grow-shrink: drop variables independent of the target given the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..independence import (
    LEAST_PER_STRATUM,
    Counts,
    IndependenceTest,
    conditional_tests,
    stratified_counts,
)
from ..variables import joint_states

__all__ = ["shrink_many"]

_MOST_CELLS = 1 << 13
_MOST_NUMBERS = 1 << 22
"""Maximum size of the target's table given its parents, reached with ten parents of four states."""

Codes = NDArray[np.uint8]


def shrink_many(
    problems: Sequence[tuple[Codes, Codes]],
    states: int,
    significance: float,
    test: IndependenceTest,
    max_kept: int | None = None,
) -> list[list[int]]:
    """Return, for each problem, the columns that the target depends on given all the others.

    Variables are dropped one at a time: the one with the largest p-value, and the last one of ties,
    so the most important columns should come first. If there are too few samples for any test, the
    last variable is dropped; also if the target's table would have more than four million numbers.
    While more than ``max_kept`` are left, the one with the largest p-value is dropped even if it is
    dependent.

    Args:
        problems: states ``[n, V]`` of the candidate parents and ``[n]`` of the target, for each
            problem; the result does not depend on the other problems.
        states: more than any state that occurs.
        significance: the significance level.
        test: the independence test.
        max_kept: the maximum number of columns to return; None for no limit.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.selection import as_test
        >>> rng = np.random.default_rng(0)
        >>> columns = rng.integers(2, size=(500, 3)).astype(np.uint8)
        >>> target = columns[:, 0] ^ (rng.random(500) < 0.1).astype(np.uint8)
        >>> shrink_many([(columns, target)], 2, 0.01, as_test("g"))
        [[0]]
    """
    shrinking = [_Shrinking(codes, target, states, max_kept) for codes, target in problems]
    level = float(np.log(significance))
    active = [each for each in shrinking if each.kept]
    while active:
        tables = [each.tables() for each in active]
        log_p = conditional_tests([table for some in tables for table in some], test)
        ends = np.cumsum([len(some) for some in tables])[:-1]
        parts = np.split(log_p, ends)
        active = [each for each, its in zip(active, parts, strict=True) if each.drop(its, level)]
    return [each.kept for each in shrinking]


class _Shrinking:
    """The remaining candidate parents of one target.

    If there are few joint states, they are counted once. Every stratified table is then a view of
    these counts, and dropping a variable sums over its axis.
    """

    def __init__(self, codes: Codes, target: Codes, states: int, max_kept: int | None) -> None:
        self.kept = list(range(codes.shape[1]))
        self._most = len(self.kept) if max_kept is None else max_kept
        self._codes, self._target, self._states = codes, target, states
        self._joint = self._count() if states ** (codes.shape[1] + 1) <= _MOST_CELLS else None

    def tables(self) -> list[Counts]:
        """Count each kept variable with the target, given all the other kept ones."""
        if self._joint is not None:
            return [self._view(axis) for axis in range(len(self.kept))]
        return [
            stratified_counts(
                self._codes[:, column],
                self._target,
                self._codes[:, [other for other in self.kept if other != column]],
                self._states,
                least=LEAST_PER_STRATUM,
            )
            for column in self.kept
        ]

    def drop(self, log_p: NDArray[np.float64], level: float) -> bool:
        """Drop one variable if any is independent; return whether to continue."""
        removable = [at for at, value in enumerate(log_p.tolist()) if value >= level]
        if not removable and self._states ** (len(self.kept) + 1) > _MOST_NUMBERS:
            removable = [len(self.kept) - 1]
        if not removable and len(self.kept) > self._most:
            removable = list(range(len(self.kept)))
        if not removable:
            return False
        # Variables tested as independent come before untested ones, for which log p = 0.
        leaving = max(removable, key=lambda at: (log_p[at] < 0, log_p[at], at))
        del self.kept[leaving]
        if self._joint is not None:
            self._joint = self._joint.sum(axis=leaving)
        return bool(self.kept)

    def _count(self) -> Counts:
        """Count all joint states, with an axis for each variable and the target last."""
        width = self._codes.shape[1] + 1
        cells, total = joint_states((*self._codes.T, self._target), [self._states] * width)
        counts = np.bincount(cells, minlength=total)
        return counts.astype(np.float64).reshape((self._states,) * width)

    def _view(self, axis: int) -> Counts:
        assert self._joint is not None
        tables = np.moveaxis(self._joint, axis, -2).reshape(-1, self._states**2)
        return tables[tables.any(axis=1)].reshape(-1, self._states, self._states)
