"""Perturbation bits, and sums over samples of products of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import IntArray
from ..sampling import SampleTable

__all__ = ["CELLS_AT_ONCE", "Design", "PerturbedSamples", "joint_sums", "sample_ranges"]

Bits = NDArray[np.bool_]
Vector = NDArray[np.float64]
Integers = NDArray[np.int64]

CELLS_AT_ONCE = 1 << 21
"""The number of cells of a design in memory, at 8 bytes each."""
_UNPACKED = 1 << 20
"""The number of cells of the sample table that are unpacked at once."""
_KEPT = 1 << 20
"""The number of perturbed cells that are kept in memory, at 12 bytes each."""
_MANY_SAMPLES = 1 << 17
"""With at least this many samples, values are summed one at a time, to avoid copies."""
_ALL = slice(None)


class PerturbedSamples:
    """The perturbation bits ``[V, n]`` of V columns of a sample table with n samples.

    With the default ``perturb_probability`` only one bit in ten is 1, so a sparse matrix is used
    for sums over samples.

    Attributes:
        count: the number of samples in which each column is perturbed, ``[V]``.
        mean: the same as a fraction of all samples.
        variance: the sum of squares of each column minus its mean; infinite for a constant column.
    """

    def __init__(self, table: SampleTable, columns: IntArray) -> None:
        self._table, self._columns = table, columns
        self.num_samples = table.num_samples
        self._step = max(1, _UNPACKED // table.num_samples)
        self._kept: tuple[Bits, scipy.sparse.csr_array] | None = None
        kept: list[Bits] = []
        counts, size = [np.empty(0)], 0
        for rows in self._blocks():
            counts.append(np.count_nonzero(rows, axis=1))
            kept.append(rows)
            size += int(counts[-1].sum())
            if size > _KEPT or len(columns) * self.num_samples > 8 * _KEPT:
                kept.clear()
        if kept:
            whole = kept[0] if len(kept) == 1 else np.concatenate(kept)
            self._kept = (whole, _sparse(whole))
        self.count = np.concatenate(counts)
        self.mean = self.count / self.num_samples
        variance = self.count * (1 - self.mean)
        self.variance = np.where(variance > 0, variance, np.inf)

    def __len__(self) -> int:
        return len(self._columns)

    def sums(self, values: Iterable[Vector]) -> Vector:
        """Return the sums ``[V, k]`` of ``values [k, n]`` over each column's perturbed samples.

        Each sum is added up in the order of the samples. So it does not depend on the other columns
        and values, not even by rounding.
        """
        rows = list(values)
        if not len(self):
            return np.empty((0, len(rows)))
        if self._kept is None:
            blocks: Iterable[scipy.sparse.csr_array] = map(_sparse, self._blocks())
        else:
            blocks = [self._kept[1]]
        if self.num_samples < _MANY_SAMPLES:
            across = np.stack(rows, axis=1)
            return np.concatenate([block @ across for block in blocks])
        sums = [np.stack([block @ row for row in rows], axis=1) for block in blocks]
        return np.concatenate(sums)

    def rows(self, places: Integers, samples: slice = _ALL) -> Bits:
        """Return the bits ``[*places.shape, n]`` of some columns, in all or some samples."""
        if self._kept is None:
            rows = self._bits(self._columns[places.ravel()], samples)
            return rows.reshape(*places.shape, -1)
        # Unlike an index, take always returns the same memory layout, on which rounding depends.
        return np.take(self._kept[0][:, samples], places, axis=0)

    def _blocks(self) -> Iterator[Bits]:
        for at in range(0, len(self), self._step):
            yield self._bits(self._columns[at : at + self._step])

    def _bits(self, columns: IntArray, samples: slice = _ALL) -> Bits:
        codes = self._table.codes(columns, samples).T
        return np.asarray(codes >= self._table.levels[columns, None].astype(np.uint8))


def _sparse(rows: Bits) -> scipy.sparse.csr_array:
    row, sample = np.nonzero(rows)
    starts = np.searchsorted(row, np.arange(len(rows) + 1)).astype(np.int32)
    return scipy.sparse.csr_array((np.ones(len(row)), sample.astype(np.int32), starts), rows.shape)


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
    ranges are computed again in each iteration, to save memory.

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
        The diagonal has those of single columns.
    """
    fits, size = columns.shape
    first, second = np.triu_indices(size)
    found = np.zeros((1 + len(values), fits * len(first)))
    for samples in sample_ranges(bits.num_samples, columns.size):
        rows = bits.rows(columns, samples)
        both = rows[:, first] & rows[:, second]
        # Few samples have both bits, so they are found once and used for all sums.
        pair, sample = np.divmod(np.flatnonzero(both), both.shape[2])
        fit = pair // len(first)
        weights = [None, *(each[fit, samples.start + sample] for each in values)]
        for total, weight in zip(found, weights, strict=True):
            total += np.bincount(pair, weight, len(total))
    sums = np.empty((len(found), fits, size, size))
    sums[..., first, second] = sums[..., second, first] = found.reshape(-1, fits, len(first))
    return tuple(sums)
