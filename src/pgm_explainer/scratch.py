"""Large arrays within a memory limit; beyond it they are stored in temporary files.

The files are unlinked and are freed with their arrays. They are created in
:func:`tempfile.gettempdir` (set ``TMPDIR`` to change it), which should be on a disk.
"""

from __future__ import annotations

import logging
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arrays import IntArray
from .errors import FileError
from .execution import readable

__all__ = ["ArrayStore", "Record", "Scratch", "ScratchMatrix"]

_logger = logging.getLogger(__name__)

_SMALL = 16 << 20
"""The minimum memory limit in bytes; smaller files would not save enough memory."""
_LARGE = 1 << 30
"""Files that are larger than this, in bytes, are logged as a warning."""
_CHUNK = 64 << 20
_SMALLEST_STORED = 256
_RELEASED_AFTER = 8 << 20
_HAS_FILES = hasattr(os, "posix_fallocate") and hasattr(os, "preadv")
"""On systems other than Linux everything stays in memory."""
_CELLS_AT_ONCE = 1 << 19


class ScratchMatrix:
    """A matrix, initially zero, in memory or in a file, that is written and read by rows.

    The file is not memory-mapped, because touching one byte of a map can take megabytes.
    """

    def __init__(self, rows: int, width: int, dtype: DTypeLike, file: int | None = None) -> None:
        self.shape, self._dtype, self._file = (rows, width), np.dtype(dtype), file
        self._array = np.zeros(self.shape, self._dtype) if file is None else None
        if file is not None:
            weakref.finalize(self, os.close, file)

    @property
    def in_file(self) -> bool:
        return self._file is not None

    def write(self, first: int, rows: NDArray[Any]) -> None:
        """Write rows from row ``first`` on."""
        if self._file is None:
            self._whole[first : first + len(rows)] = rows
            return
        data = _bytes_of(np.ascontiguousarray(rows, self._dtype))
        at = first * self._row_bytes
        while data:
            written = os.pwrite(self._file, data, at)
            data, at = data[written:], at + written

    def read(self, first: int, stop: int) -> NDArray[Any]:
        """Return the rows ``first`` to ``stop - 1``, possibly a view: do not write to it."""
        if self._file is None:
            return self._whole[first:stop]
        rows = np.empty((stop - first, self.shape[1]), self._dtype)
        data, at = _bytes_of(rows), first * self._row_bytes
        while data:
            read = os.preadv(self._file, [data], at)
            data, at = data[read:], at + read
        return rows

    def take(self, rows: IntArray, columns: slice = slice(None)) -> NDArray[Any]:
        """Return a copy of some rows, or of a range of their columns."""
        if self._file is None:
            return self._whole[:, columns][rows]
        ends = np.flatnonzero(np.diff(rows) != 1) + 1  # consecutive rows are read at once
        runs = np.split(rows, ends) if len(rows) else []
        width = len(range(*columns.indices(self.shape[1])))
        taken, at = np.empty((len(rows), width), self._dtype), 0
        for run in runs:
            taken[at : at + len(run)] = self.read(int(run[0]), int(run[-1]) + 1)[:, columns]
            at += len(run)
        return taken

    @property
    def _whole(self) -> NDArray[Any]:
        assert self._array is not None
        return self._array

    @property
    def _row_bytes(self) -> int:
        return self.shape[1] * self._dtype.itemsize

    def __getstate__(self) -> dict[str, Any]:
        # Unpickled in another process, the matrix is in memory.
        return {**vars(self), "_array": self.read(0, self.shape[0]), "_file": None}


class Scratch:
    """Allocates matrices in memory up to a limit, and in a file each beyond it.

    Args:
        limit: the memory limit in bytes.
        what: the content of the matrices, for messages.

    Examples:
        >>> matrix = Scratch(limit=2**30, what="samples").zeros(2, 3, np.uint8)
        >>> matrix.write(1, np.array([[7, 8, 9]]))
        >>> matrix.read(0, 2).tolist()
        [[0, 0, 0], [7, 8, 9]]
    """

    def __init__(self, limit: int, what: str) -> None:
        self._left = max(limit, _SMALL)
        self._what = what

    def zeros(self, rows: int, width: int, dtype: DTypeLike) -> ScratchMatrix:
        """Return a matrix of zeros.

        Raises:
            FileError: the disk is full.
        """
        size = rows * width * np.dtype(dtype).itemsize
        if size <= self._left or not _HAS_FILES:
            self._left -= size
            return ScratchMatrix(rows, width, dtype)
        level = logging.WARNING if size >= _LARGE else logging.INFO
        _logger.log(
            level,
            "%s of %s are kept in a temporary file in %s, as they exceed max_memory",
            *(readable(size), self._what, _folder()),
        )
        with _reserved(size, self._what) as file:
            return ScratchMatrix(rows, width, dtype, os.dup(file))


class ArrayStore:
    """Stores arrays in memory-mapped files once a memory limit is reached.

    Args:
        limit: the memory limit in bytes.
        what: the content of the arrays, for messages.
    """

    def __init__(self, limit: int, what: str) -> None:
        self._left = max(limit, _SMALL)
        self._what = what
        self._pages: mmap.mmap | None = None
        self._chunk = np.empty(0, np.uint8)
        self._used = self._unreleased = 0

    def fits(self, size: int) -> bool:
        """Count arrays of ``size`` bytes, and return whether they can stay in memory."""
        self._left -= size
        return self._left >= 0 or not _HAS_FILES

    def store(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy that is in a file; a small array is returned unchanged."""
        if array.nbytes < _SMALLEST_STORED:
            return array
        if self._used + array.nbytes > len(self._chunk):
            self._release()
            with _reserved(max(_CHUNK, array.nbytes), self._what) as file:
                self._pages = mmap.mmap(file, 0)
            self._chunk, self._used = np.frombuffer(self._pages, np.uint8), 0
        buffer = self._chunk[self._used : self._used + array.nbytes]
        copy = buffer.view(array.dtype).reshape(array.shape)
        copy[...] = array
        self._used += -(-array.nbytes // 8) * 8  # aligns the next array to 8 bytes
        self._unreleased += array.nbytes
        if self._unreleased >= _RELEASED_AFTER:
            self._release()
        return copy

    def _release(self) -> None:
        """Free the memory of written pages; their content stays in the file."""
        self._unreleased = 0
        if self._pages is not None:
            self._pages.madvise(mmap.MADV_DONTNEED)


@contextmanager
def _reserved(size: int, what: str) -> Iterator[int]:
    """Open a file of zeros with its disk space allocated, so that later writes cannot fail."""
    try:
        with tempfile.TemporaryFile() as file:
            os.posix_fallocate(file.fileno(), 0, size)
            yield file.fileno()
    except (OSError, OverflowError) as error:
        raise FileError(
            f"{readable(size)} of {what} do not fit into a temporary file in {_folder()} "
            f"({error}); free disk space there, set TMPDIR to a folder on another disk, raise "
            f"max_memory or lower num_samples"
        ) from error


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _folder() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:  # no temporary folder is writable
        return "the folder for temporary files"


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
