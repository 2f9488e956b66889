"""Perturbation bits, and the columns of least-squares fits that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import IntArray
from ..sampling import SampleTable

__all__ = ["CELLS_AT_ONCE", "Design", "PerturbedSamples", "sample_ranges"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]

_UNPACKED = 1 << 20
"""The number of cells of the sample table that are unpacked at once."""
_KEPT = 1 << 20
"""The number of perturbed cells that are kept in memory, at 12 bytes each."""
_MANY_SAMPLES = 1 << 17
"""With at least this many samples, values are summed one at a time, to avoid copies."""
_ALL = slice(None)
CELLS_AT_ONCE = 1 << 21
"""The number of cells of a design in memory, at 8 bytes each."""


class PerturbedSamples:
    """The perturbation bits ``[n, V]`` of V columns of a sample table with n samples.

    With the default ``perturb_probability`` only one bit in ten is 1, so a sparse matrix is used
    for sums over samples.

    Attributes:
        count: the number of samples in which each column is perturbed, ``[V]``.
        variance: the sum of squares of each column minus its mean; infinite for a constant column.
    """

    def __init__(self, table: SampleTable, columns: IntArray) -> None:
        self._table, self._columns = table, columns
        self.num_samples = table.num_samples
        self._step = max(1, _UNPACKED // table.num_samples)
        self._kept: sp.csr_array | None = None
        blocks, counts, size = [], [np.empty(0)], 0
        for block in self._blocks():
            counts.append(np.diff(block.indptr))
            blocks.append(block)
            size += block.nnz
            if size > _KEPT:
                blocks.clear()
        self._kept = _stacked(blocks) if blocks else None
        self.count = np.concatenate(counts)
        variance = self.count * (1 - self.count / self.num_samples)
        self.variance = np.where(variance > 0, variance, np.inf)

    def __len__(self) -> int:
        return len(self._columns)

    def sums(self, values: Iterable[Vector]) -> Vector:
        """Return the sums ``[V, k]`` of ``values [k, n]`` over each column's perturbed samples.

        Each sum is added up in the order of the samples. So it is exactly the same, to the last
        bit, whatever the other columns and values are.
        """
        rows = list(values)
        if not len(self):
            return np.empty((0, len(rows)))
        if self.num_samples < _MANY_SAMPLES:
            across = np.stack(rows, axis=1)
            return np.concatenate([block @ across for block in self._blocks()])
        sums = [np.stack([block @ row for row in rows], axis=1) for block in self._blocks()]
        return np.concatenate(sums)

    def rows(self, places: NDArray[np.int64], samples: slice = _ALL) -> Vector:
        """Return the bits ``[len(places), n]`` of a few columns as floats, in some samples."""
        if self._kept is None or samples != _ALL:
            bits = self._bits(self._columns[places], samples).T
            return np.ascontiguousarray(bits, dtype=np.float64)
        starts, found = self._kept.indptr, self._kept.indices
        counts = starts[places + 1] - starts[places]
        row = np.repeat(np.arange(len(places)), counts)
        first = np.repeat(starts[places] - np.cumsum(counts) + counts, counts)
        rows = np.zeros((len(places), self.num_samples))
        rows[row, found[first + np.arange(len(row))]] = 1.0
        return rows

    def centred(self, places: NDArray[np.int64], samples: slice = _ALL) -> Vector:
        """Return the bits ``[len(places), n]`` minus the mean of each, in some samples."""
        rows = self.rows(places, samples)
        rows -= (self.count[places] / self.num_samples)[:, None]
        return rows

    def _blocks(self) -> Iterator[sp.csr_array]:
        if self._kept is not None:
            yield self._kept
            return
        for at in range(0, len(self), self._step):
            yield self._sparse(self._columns[at : at + self._step])

    def _bits(self, columns: IntArray, samples: slice = _ALL) -> NDArray[np.bool_]:
        codes = self._table.codes(columns, samples)
        return codes >= self._table.levels[columns].astype(np.uint8)

    def _sparse(self, columns: IntArray) -> sp.csr_array:
        bits = np.ascontiguousarray(self._bits(columns).T)
        samples = np.nonzero(bits)[1].astype(np.int32)
        starts = np.concatenate(([0], np.cumsum(np.count_nonzero(bits, axis=1)))).astype(np.int32)
        return sp.csr_array((np.ones(len(samples)), samples, starts), bits.shape)


def _stacked(blocks: Sequence[sp.csr_array]) -> sp.csr_array:
    return blocks[0] if len(blocks) == 1 else sp.csr_array(sp.vstack(blocks, format="csr"))


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
    """Centred bits of some columns, and centred products of pairs of columns, for several fits.

    Iterating yields each range of samples with its columns ``[fits, m, samples]``. Together the
    ranges cover all samples. If there is only one range, its columns are computed once; several
    ranges are computed anew in each iteration, to save memory.

    Args:
        bits: the samples in which each node is perturbed.
        columns: the columns ``[fits, m]`` of the bits.
        pairs: the pairs of columns to multiply, ``[fits, pairs, 2]``, as positions in ``columns``.

    Attributes:
        width: the number of columns and products, m.
    """

    def __init__(
        self, bits: PerturbedSamples, columns: Integers, pairs: Integers | None = None
    ) -> None:
        self._bits, self._columns, self._pairs = bits, columns, pairs
        self.width = columns.shape[1] + (0 if pairs is None else pairs.shape[1])
        self._ranges = sample_ranges(bits.num_samples, len(columns) * self.width)
        self._whole: Vector | None = None
        self._means: Vector | None = None
        if len(self._ranges) == 1:
            self._whole = self._part(slice(None))
        elif pairs is not None:
            sums = [
                _products(self._single(samples), pairs).sum(axis=2, keepdims=True)
                for samples in self._ranges
            ]
            self._means = np.sum(sums, axis=0) / bits.num_samples

    def __iter__(self) -> Iterator[tuple[slice, Vector]]:
        if self._whole is not None:
            yield self._ranges[0], self._whole
            return
        for samples in self._ranges:
            yield samples, self._part(samples)

    def _part(self, samples: slice) -> Vector:
        single = self._single(samples)
        if self._pairs is None:
            return single
        products = _products(single, self._pairs)
        if self._means is None:  # these are all samples
            products -= products.mean(axis=2, keepdims=True)
        else:
            products -= self._means
        return np.concatenate((single, products), axis=1)

    def _single(self, samples: slice) -> Vector:
        rows = self._bits.centred(self._columns.ravel(), samples)
        return rows.reshape(*self._columns.shape, -1)


def _products(single: Vector, pairs: Integers) -> Vector:
    every = np.arange(len(single))[:, None]
    return np.asarray(single[every, pairs[:, :, 0]] * single[every, pairs[:, :, 1]])
