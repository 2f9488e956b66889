"""Features of many samples in which most rows are equal, stored once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray

__all__ = ["SharedRows"]


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Features ``[B, n, F]``, given as rows of a table.

    Attributes:
        table: rows ``[rows, F]``, each of which may be used many times.
        index: the row of each node in each sample, ``[B, n]``.

    Examples:
        >>> rows = SharedRows(np.eye(3), np.array([[0, 2], [2, 2]]))
        >>> rows.shape, rows.dense()[0].tolist()
        ((2, 2, 3), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    """

    table: FloatArray
    index: IntArray

    @property
    def shape(self) -> tuple[int, int, int]:
        samples, nodes = self.index.shape
        return samples, nodes, self.table.shape[1]

    def __len__(self) -> int:
        return len(self.index)

    def dense(self) -> FloatArray:
        """Return the features as an array that may be modified."""
        return self.table[self.index]

    def compact(self) -> SharedRows:
        """Return the same features with a table of only those rows that are used."""
        used, index = np.unique(self.index, return_inverse=True)
        return SharedRows(self.table[used], index.reshape(self.index.shape))
