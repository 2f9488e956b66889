"""Sums over samples of products of perturbation bits, computed for a range of samples at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .bits import PerturbedSamples

__all__ = ["CELLS_AT_ONCE", "Design", "joint_sums", "sample_ranges"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]

CELLS_AT_ONCE = 1 << 21
"""The number of cells of a design in memory, at 8 bytes each."""


def sample_ranges(num_samples: int, width: int) -> list[slice]:
    """Return ranges of samples such that ``width`` columns have at most CELLS_AT_ONCE cells.

    The rounding of a sum depends on the ranges. So that results can be reproduced, the ranges
    depend only on the size of the problem, and not on ``max_memory``.
    """
    if num_samples * width <= CELLS_AT_ONCE:
        return [slice(0, num_samples)]
    step = max(8, CELLS_AT_ONCE // width // 8 * 8)
    return [slice(at, min(at + step, num_samples)) for at in range(0, num_samples, step)]


class Design:
    """The terms of several least-squares fits: bits of columns, and products of two of them.

    Iterating yields each range of samples with the terms ``[fits, m, samples]``. Together the
    ranges cover all samples. If there is only one range, its terms are computed once; several
    ranges are computed anew in each iteration, to save memory.

    Args:
        bits: the samples in which each node is perturbed.
        first, second: the columns ``[fits, m]`` to multiply; the same column for a single bit.
    """

    def __init__(self, bits: PerturbedSamples, first: Integers, second: Integers) -> None:
        self._bits, self._first, self._second = bits, first, second
        self._ranges = sample_ranges(bits.num_samples, first.size)
        self._whole = self._part(self._ranges[0]) if len(self._ranges) == 1 else None

    def __iter__(self) -> Iterator[tuple[slice, Vector]]:
        for samples in self._ranges:
            yield samples, self._part(samples) if self._whole is None else self._whole

    def _part(self, samples: slice) -> Vector:
        rows = self._bits.rows(self._first, samples)
        rows &= self._bits.rows(self._second, samples)
        return rows.astype(np.float64)


def joint_sums(
    bits: PerturbedSamples, columns: Integers, values: Sequence[Vector]
) -> tuple[Vector, ...]:
    """Count and add up the samples in which two columns are both perturbed.

    Args:
        bits: the samples in which each node is perturbed.
        columns: some columns ``[fits, k]`` of each fit.
        values: arrays ``[fits, n]``.

    Returns:
        The number of samples ``[fits, k, k]`` of each pair, and the sum over them of each array.
        On the diagonal, those of single columns.
    """
    fits, size = columns.shape
    first, second = np.triu_indices(size)
    found = np.zeros((1 + len(values), fits * len(first)))
    for samples in sample_ranges(bits.num_samples, columns.size):
        rows = bits.rows(columns, samples)
        both = rows[:, first] & rows[:, second]
        # Few samples have both bits, so that these are found once and used for all sums.
        pair, sample = np.divmod(np.flatnonzero(both), both.shape[2])
        fit = pair // len(first)
        weights = [None, *(each[fit, samples.start + sample] for each in values)]
        for total, its in zip(found, weights, strict=True):
            total += np.bincount(pair, its, len(total))
    sums = np.empty((len(found), fits, size, size))
    sums[..., first, second] = sums[..., second, first] = found.reshape(-1, fits, len(first))
    return tuple(sums)
