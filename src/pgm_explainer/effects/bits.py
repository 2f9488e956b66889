"""Which samples each part is perturbed in, for sums over them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import IntArray
from ..sampling import SampleTable

__all__ = ["PerturbedSamples"]

_CELLS_AT_ONCE = 1 << 23
"""Cells of the sample table that are unpacked at once; a larger table is read block by block."""


class PerturbedSamples:
    """The perturbation bits ``[n, V]`` of some columns of a sample table.

    One in ten is set by default, so sums over samples go through a sparse matrix.

    Attributes:
        count: in how many samples each column is perturbed, ``[V]``.
    """

    def __init__(self, table: SampleTable, columns: IntArray) -> None:
        self._table, self._columns = table, columns
        self.num_samples = table.num_samples
        self._step = max(1, _CELLS_AT_ONCE // table.num_samples)
        whole = len(columns) <= self._step
        self._kept = self._sparse(columns) if whole else None
        self.count = self.sums(np.ones((self.num_samples, 1)))[:, 0]

    def __len__(self) -> int:
        return len(self._columns)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums ``[V, k]`` of ``values [n, k]`` over each column's perturbed samples.

        A column's sums have the same bits whatever other columns there are.
        """
        if self._kept is not None:
            return np.asarray(self._kept @ values)
        blocks = [
            self._sparse(self._columns[at : at + self._step]) @ values
            for at in range(0, len(self), self._step)
        ]
        return np.concatenate(blocks)

    def dense(self, places: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the bits ``[n, len(places)]`` of a few columns as numbers."""
        return self._bits(self._columns[places]).astype(np.float64)

    def _bits(self, columns: IntArray) -> NDArray[np.bool_]:
        return self._table.codes(columns) >= self._table.levels[columns].astype(np.uint8)

    def _sparse(self, columns: IntArray) -> sp.csr_array:
        bits = self._bits(columns)
        samples = np.nonzero(bits.T)[1].astype(np.int32)
        starts = np.concatenate(([0], np.cumsum(np.count_nonzero(bits, axis=0))))
        return sp.csr_array((np.ones(len(samples)), samples, starts), (len(columns), len(bits)))
