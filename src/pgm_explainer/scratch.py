"""Large arrays that stay within a memory bound: beyond it they live in temporary files.

The files have no name and are gone with the arrays in them. They lie in the folder that
:func:`tempfile.gettempdir` names (set ``TMPDIR`` for another), which should be on a disk.
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
from .memory import readable

__all__ = ["Room", "Scratch", "Shelf"]

_logger = logging.getLogger(__name__)

_SMALL = 16 << 20
"""Bytes that are kept in memory whatever the bound: a file for less is not worth it."""
_LARGE = 1 << 30
"""Bytes in a file that a user may want to know of."""
_CHUNK = 64 << 20
_WORTH_STORING = 256
_TOUCHED_AT_ONCE = 8 << 20
_HAS_FILES = hasattr(os, "posix_fallocate") and hasattr(os, "preadv")
"""Elsewhere than on Linux everything is kept in memory."""


class Room:
    """A matrix of zeros, in memory or in a file, that is written and read by rows.

    A file is not mapped but written and read: to touch one byte of a map may take megabytes.
    """

    def __init__(self, rows: int, width: int, dtype: DTypeLike, file: int | None = None) -> None:
        self.shape, self._dtype, self._file = (rows, width), np.dtype(dtype), file
        self._array = np.zeros(self.shape, self._dtype) if file is None else None
        if file is not None:
            weakref.finalize(self, os.close, file)

    @property
    def in_file(self) -> bool:
        return self._file is not None

    def put(self, first: int, rows: NDArray[Any]) -> None:
        """Store rows from ``first`` onward."""
        if self._file is None:
            self._whole[first : first + len(rows)] = rows
            return
        data = _octets(np.ascontiguousarray(rows, self._dtype))
        at = first * self._row_bytes
        while data:
            written = os.pwrite(self._file, data, at)
            data, at = data[written:], at + written

    def run(self, first: int, stop: int) -> NDArray[Any]:
        """Return the rows ``first`` to ``stop``, which must not be written to."""
        if self._file is None:
            return self._whole[first:stop]
        rows = np.empty((stop - first, self.shape[1]), self._dtype)
        data, at = _octets(rows), first * self._row_bytes
        while data:
            read = os.preadv(self._file, [data], at)
            data, at = data[read:], at + read
        return rows

    def rows(self, chosen: IntArray) -> NDArray[Any]:
        """Return a copy of some rows."""
        if self._file is None:
            return self._whole[chosen]
        ends = np.flatnonzero(np.diff(chosen) != 1) + 1  # what lies together is read together
        runs = np.split(chosen, ends) if len(chosen) else []
        parts = [self.run(int(run[0]), int(run[-1]) + 1) for run in runs]
        return np.concatenate([np.empty((0, self.shape[1]), self._dtype), *parts])

    @property
    def _whole(self) -> NDArray[Any]:
        assert self._array is not None
        return self._array

    @property
    def _row_bytes(self) -> int:
        return self.shape[1] * self._dtype.itemsize

    def __getstate__(self) -> dict[str, Any]:
        # In the process that it is sent to it is in memory.
        return {**vars(self), "_array": self.run(0, self.shape[0]), "_file": None}


class Scratch:
    """Gives room to matrices, in memory while they fit together, else in a file each.

    Args:
        limit: how many bytes may be in memory.
        what: what the matrices hold, for messages.

    Examples:
        >>> room = Scratch(limit=2**30, what="samples").room(2, 3, np.uint8)
        >>> room.put(1, np.array([[7, 8, 9]]))
        >>> room.run(0, 2).tolist()
        [[0, 0, 0], [7, 8, 9]]
    """

    def __init__(self, limit: int, what: str) -> None:
        self._left = max(limit, _SMALL)
        self._what = what

    def room(self, rows: int, width: int, dtype: DTypeLike) -> Room:
        """Return a matrix of zeros.

        Raises:
            FileError: there is no room in a file either.
        """
        size = rows * width * np.dtype(dtype).itemsize
        if size <= self._left or not _HAS_FILES:
            self._left -= size
            return Room(rows, width, dtype)
        level = logging.WARNING if size >= _LARGE else logging.INFO
        _logger.log(
            level,
            "%s of %s are kept in a temporary file in %s: max_memory leaves no room for them",
            *(readable(size), self._what, _folder()),
        )
        with _reserved(size, self._what) as file:
            return Room(rows, width, dtype, os.dup(file))


class Shelf:
    """Keeps arrays in files, once those in memory have reached a limit.

    Arrays in files are mapped, and take memory as they are read.

    Args:
        limit: how many bytes may be in memory.
        what: what the arrays hold, for messages.
    """

    def __init__(self, limit: int, what: str) -> None:
        self._left = max(limit, _SMALL)
        self._what = what
        self._pages: mmap.mmap | None = None
        self._octets = np.empty(0, np.uint8)
        self._used = self._touched = 0

    def leaves(self, size: int) -> bool:
        """Say whether arrays of so many bytes together can stay in memory; then they count."""
        self._left -= size
        return self._left >= 0 or not _HAS_FILES

    def store(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy in a file; of an array so small that it is not worth it, the array."""
        if array.nbytes < _WORTH_STORING:
            return array
        if self._used + array.nbytes > len(self._octets):
            self._release()
            with _reserved(max(_CHUNK, array.nbytes), self._what) as file:
                self._pages = mmap.mmap(file, 0)
            self._octets, self._used = np.frombuffer(self._pages, np.uint8), 0
        place = self._octets[self._used : self._used + array.nbytes]
        copy = place.view(array.dtype).reshape(array.shape)
        copy[...] = array
        self._used += -(-array.nbytes // 8) * 8  # so that the next one begins at a whole word
        self._touched += array.nbytes
        if self._touched >= _TOUCHED_AT_ONCE:
            self._release()
        return copy

    def _release(self) -> None:
        """Give the memory of written pages back; what is in them stays in the file."""
        self._touched = 0
        if self._pages is not None:
            self._pages.madvise(mmap.MADV_DONTNEED)


@contextmanager
def _reserved(size: int, what: str) -> Iterator[int]:
    """Open a file of zeros, for which the disk has the space: no later write can fail for that."""
    try:
        with tempfile.TemporaryFile() as file:
            os.posix_fallocate(file.fileno(), 0, size)
            yield file.fileno()
    except (OSError, OverflowError) as error:
        raise FileError(
            f"{readable(size)} of {what} do not fit into a temporary file in {_folder()} "
            f"({error}): make room there, set TMPDIR to a folder on another disk, raise "
            f"max_memory, or lower num_samples"
        ) from error


def _octets(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _folder() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:  # there is none that can be written to
        return "the folder for temporary files"
