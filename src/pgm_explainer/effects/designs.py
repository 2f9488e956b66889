"""The columns of a least-squares fit, computed for a range of samples at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .bits import PerturbedSamples

__all__ = ["CELLS_AT_ONCE", "Design", "sample_ranges"]

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
