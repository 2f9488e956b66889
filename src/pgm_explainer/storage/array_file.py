"""Arrays in NumPy files, read one by one after checking their declared size."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..errors import FileError
from ..execution import available_memory
from ..limits import ARRAYS_SHARE_OF_MEMORY, as_size, brief
from .files import check_file

__all__ = ["NpzArrays", "check_fits_memory", "parse_npy"]

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class NpzArrays(Mapping[str, NDArray[Any]]):
    """The arrays of an ``.npz`` file by name, read on access.

    Raises:
        FileError: the file cannot be read or is not an archive of plain arrays, or an array
            exceeds the memory limit.
    """

    def __init__(self, path: Path) -> None:
        check_file(path)
        self._path = path
        with self._opened() as archive:
            stored = [each for each in archive.namelist() if each.endswith(".npy")]
        self._stored = {each.removesuffix(".npy"): each for each in stored}

    def __len__(self) -> int:
        return len(self._stored)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __getitem__(self, name: str) -> NDArray[Any]:
        stored = self._stored[name]
        with self._opened() as archive:
            try:
                with archive.open(stored) as file:
                    _check_header(file, archive.getinfo(stored).file_size)
                with archive.open(stored) as file:
                    return _checked(npy.read_array(file, allow_pickle=False))
            except FileError as error:
                raise FileError(f"{self._path}: the array {brief(name)}: {error}") from None
            except Exception as error:  # zipfile, zlib and NumPy raise different errors
                raise self._refused(error) from error

    def _opened(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(self._path)
        except Exception as error:
            raise self._refused(error) from error

    def _refused(self, error: Exception) -> FileError:
        return FileError(f"{self._path} is not an .npz file of plain arrays: {error}")


def parse_npy(document: bytes) -> NDArray[Any]:
    """Return the array of an ``.npy`` document.

    Raises:
        FileError: it is not an ``.npy`` document of plain values.
    """
    try:
        _check_header(io.BytesIO(document), len(document))
        return _checked(npy.read_array(io.BytesIO(document), allow_pickle=False))
    except FileError:
        raise
    except Exception as error:  # a damaged header may raise anything
        raise FileError(f"this is not an .npy file of plain values: {error}") from error


def check_fits_memory(size: int) -> None:
    """Check the memory that the arrays of a file would take.

    Raises:
        FileError: they exceed the limit, which the message states.
    """
    free = available_memory()
    allowed = int(ARRAYS_SHARE_OF_MEMORY * free)
    if size > allowed:
        raise FileError(
            f"it takes {as_size(size)} of memory, and the arrays of a file may take at most "
            f"{as_size(allowed)}, half of the free memory"
        )


def _check_header(file: IO[bytes], stored: int) -> None:
    """Compare the declared size of an array with the stored bytes before allocating memory."""
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise FileError(f"its format {version} is unknown")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise FileError("it contains Python objects, which could execute code: save plain arrays")
    if dtype.names is not None:
        raise FileError("it contains records: save plain arrays")
    size = prod(shape) * max(1, dtype.itemsize)  # zero-size items still take memory as a list
    if min(shape, default=0) < 0 or size > stored:
        raise FileError(
            f"it declares the shape {brief(shape)}, which is more than the file contains"
        )
    check_fits_memory(size)


def _checked(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array if its strings are valid Unicode, which NumPy does not check."""
    if array.dtype.kind == "U" and array.dtype.itemsize:
        letters = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.byteorder}u4")
        if letters.max(initial=0) > sys.maxunicode:
            raise FileError("it contains invalid Unicode text")
    return array
