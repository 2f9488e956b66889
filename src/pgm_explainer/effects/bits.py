"""Perturbation bits: the samples in which each node is perturbed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import IntArray
from ..sampling import SampleTable

__all__ = ["PerturbedSamples"]

_CELLS_AT_ONCE = 1 << 23
"""The number of cells of the sample table that are unpacked at once."""


class PerturbedSamples:
    """The perturbation bits ``[n, V]`` of some columns of a sample table.

    With the default ``perturb_probability`` one bit in ten is set, so sums over samples use a
    sparse matrix.

    Attributes:
        count: the number of samples in which each column is perturbed, ``[V]``.
        variance: the sum of squares of each centred column; infinite if it is constant.
    """

    def __init__(self, table: SampleTable, columns: IntArray) -> None:
        self._table, self._columns = table, columns
        self.num_samples = table.num_samples
        self._step = max(1, _CELLS_AT_ONCE // table.num_samples)
        self._kept = self._sparse(columns) if len(columns) <= self._step else None
        counts = [np.diff(block.indptr) for block in self._blocks()]
        self.count = np.concatenate([np.empty(0), *counts])
        variance = self.count * (1 - self.count / self.num_samples)
        self.variance = np.where(variance > 0, variance, np.inf)

    def __len__(self) -> int:
        return len(self._columns)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums ``[V, k]`` of ``values [n, k]`` over each column's perturbed samples.

        The sums of a column are bitwise independent of the other columns and values.
        """
        return np.concatenate([block @ values for block in self._blocks()])

    def rows(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the bits ``[len(places), n]`` of a few columns as floats."""
        if self._kept is None:
            bits = self._bits(self._columns[places]).T
            return np.ascontiguousarray(bits, dtype=np.float64)
        starts, samples = self._kept.indptr, self._kept.indices
        counts = starts[places + 1] - starts[places]
        row = np.repeat(np.arange(len(places)), counts)
        first = np.repeat(starts[places] - np.cumsum(counts) + counts, counts)
        rows = np.zeros((len(places), self.num_samples))
        rows[row, samples[first + np.arange(len(row))]] = 1.0
        return rows

    def centred(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the bits ``[len(places), n]`` minus the mean of each row."""
        rows = self.rows(places)
        rows -= (self.count[places] / self.num_samples)[:, None]
        return rows

    def _blocks(self) -> Iterator[sp.csr_array]:
        if self._kept is not None:
            yield self._kept
            return
        for at in range(0, len(self), self._step):
            yield self._sparse(self._columns[at : at + self._step])

    def _bits(self, columns: IntArray) -> NDArray[np.bool_]:
        return self._table.codes(columns) >= self._table.levels[columns].astype(np.uint8)

    def _sparse(self, columns: IntArray) -> sp.csr_array:
        bits = np.ascontiguousarray(self._bits(columns).T)
        samples = np.nonzero(bits)[1].astype(np.int32)
        starts = np.concatenate(([0], np.cumsum(np.count_nonzero(bits, axis=1)))).astype(np.int32)
        return sp.csr_array((np.ones(len(samples)), samples, starts), bits.shape)
