"""How much a Parquet file holds, by its own headers, found out before Arrow reads it.

Arrow takes as much memory as the header of a page asks for, and ends the process over some headers
that are damaged when it is asked for them one by one. So they are read here. They are written in
Thrift's compact protocol: fields with a number and a type, nested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import FileError

__all__ = ["ParquetSizes", "parquet_sizes"]

_MAGIC = b"PAR1"
_DEEPEST = 16
_LONGEST_NUMBER = 70
"""Bits of a number that is written seven at a time."""


@dataclass(frozen=True)
class ParquetSizes:
    """What some columns of a file hold.

    Attributes:
        rows: of the file.
        stored: bytes of all pages once they are decompressed.
        values: numbers and texts in them, those in lists one by one.
    """

    rows: int
    stored: int
    values: int


def parquet_sizes(data: bytes, columns: set[str] | None) -> ParquetSizes:
    """Return what the named columns of a file hold, or all of them.

    Raises:
        FileError: the file is not Parquet, or its headers contradict each other.
    """
    try:
        return _sizes(data, columns)
    except FileError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"its headers are damaged ({error})") from None


def _sizes(data: bytes, columns: set[str] | None) -> ParquetSizes:
    length = int.from_bytes(data[-8:-4], "little")
    if len(data) < 12 or data[-4:] != _MAGIC or length > len(data) - 12:
        raise FileError("it does not end as Parquet does: was it cut short?")
    footer = _Reader(data, len(data) - 8 - length).struct()
    stored = values = seen = 0
    for group in footer.get(4, []):
        for chunk in group[1]:
            about = chunk[3]
            name = bytes(about[3][0]).decode(errors="replace")
            if columns is None or name in columns:
                for header, length in _pages(data, about):
                    seen += length
                    if seen > len(data):
                        raise FileError("its pages lie over each other")
                    stored += _size(header[2])
                    held = header.get(5) or header.get(8)  # of the first or the second version
                    values += _size(held[1]) if held else 0
    return ParquetSizes(_size(footer[3]), stored, values)


def _pages(data: bytes, about: dict[int, Any]) -> Iterator[tuple[dict[int, Any], int]]:
    """The headers of the pages of a column, one after the other, and how long each page is."""
    starts = [about[field] for field in (9, 11) if about.get(field, 0) > 0]
    at = min(starts)
    end = at + _size(about[7])
    while at < end:
        reader = _Reader(data, at)
        header = reader.struct()
        after = reader.at + _size(header[3])
        yield header, after - at
        at = after
    if at > len(data):
        raise FileError("a page does not fit into the file")


def _size(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise FileError(f"its headers are damaged (a size of {number!r:.40})")
    return number


class _Reader:
    """Reads Thrift's compact protocol, from a place on."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self.at = data, at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a struct by their numbers."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = self._value(head & 15, depth + 1)
        return fields

    def _value(self, kind: int, depth: int, in_list: bool = False) -> Any:
        if depth > _DEEPEST:
            raise FileError("its headers are nested too deep")
        match kind:
            case 1 | 2:  # a field is its own value, an item takes a byte
                return self._byte() == 1 if in_list else kind == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                return self._bytes(8)
            case 8:
                return self._bytes(self._unsigned())
            case 9 | 10:
                head = self._byte()
                count = head >> 4 if head >> 4 < 15 else self._unsigned()
                return [self._value(head & 15, depth + 1, in_list=True) for _ in range(count)]
            case 12:
                return self.struct(depth)
        raise FileError(f"its headers are damaged (a field of kind {kind})")

    def _byte(self) -> int:
        if not 0 <= self.at < len(self._data):
            raise FileError("its headers leave the file")
        self.at += 1
        return self._data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self._data):
            raise FileError("its headers leave the file")
        return self._data[self.at - count : self.at]

    def _unsigned(self) -> int:
        number = 0
        for shift in range(0, _LONGEST_NUMBER, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise FileError("its headers are damaged (a number without an end)")

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
