"""A matrix that is written by samples and read by columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..scratch import Scratch

__all__ = ["Record"]

_CELLS_AT_ONCE = 1 << 19


class Record:
    """A matrix with a row per sample, in memory or in a temporary file.

    It is stored in contiguous tiles of some columns and all samples. So batches of samples can be
    written, and blocks of columns read, without accessing the rest of the file.

    Examples:
        >>> record = Record(num_samples=3, num_columns=2, dtype=np.uint8, scratch=Scratch(0, "all"))
        >>> record.write(1, np.array([[1, 2], [3, 4]], dtype=np.uint8))
        >>> [record.read(block).tolist() for block in record.blocks()]
        [[[0, 0], [1, 2], [3, 4]]]
    """

    def __init__(
        self, num_samples: int, num_columns: int, dtype: DTypeLike, scratch: Scratch
    ) -> None:
        self.num_columns = num_columns
        self._samples = num_samples
        self._width = max(1, min(num_columns, _CELLS_AT_ONCE // num_samples))
        tiles = -(-num_columns // self._width)
        self._tiles = scratch.zeros(tiles * num_samples, self._width, dtype)
        self._waiting: list[NDArray[Any]] = []
        self._start = self._stop = 0

    def write(self, start: int, rows: NDArray[Any]) -> None:
        """Write the rows ``[B, columns]`` of the samples from ``start`` on."""
        if start != self._stop:
            self._flush()
            self._start = start
        self._waiting.append(rows)
        self._stop = start + len(rows)
        if (self._stop - self._start) * self.num_columns >= _CELLS_AT_ONCE:
            self._flush()

    def blocks(self) -> Iterator[slice]:
        """Return the ranges of columns that are stored together, ascending; they cover all."""
        for first in range(0, self.num_columns, self._width):
            yield slice(first, min(first + self._width, self.num_columns))

    def read(self, block: slice) -> NDArray[Any]:
        """Return the columns ``[samples, columns]`` of a block, which must not be modified."""
        self._flush()
        first = block.start // self._width * self._samples
        return self._tiles.read(first, first + self._samples)[:, : block.stop - block.start]

    def column(self, at: int) -> NDArray[Any]:
        """Return one column ``[samples]``."""
        self._flush()
        first = at // self._width * self._samples
        return self._tiles.read(first, first + self._samples)[:, at % self._width].copy()

    def _flush(self) -> None:
        """Write pending rows; they are collected, because few large writes are faster."""
        if self._waiting:
            rows = np.concatenate(self._waiting)
            for tile, block in enumerate(self.blocks()):
                part = rows[:, block]
                if part.shape[1] < self._width:
                    part = np.pad(part, ((0, 0), (0, self._width - part.shape[1])))
                self._tiles.write(tile * self._samples + self._start, part)
        self._waiting, self._start = [], self._stop
