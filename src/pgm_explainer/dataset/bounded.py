"""Reading Parquet within memory limits: a small file can expand to more than the memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import FileError
from ..limits import EXPANDED_BYTES, EXPANSION, SHARD_ROWS, as_size, brief

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_parquet"]

_NUMBER_BYTES = 8
_MOST_AT_ONCE = 1 << 14
_PARTS = 4
_MAGIC = b"PAR1"
_DEEPEST = 16
_LONGEST_NUMBER = 70
"""Maximum bits of a variable-length integer."""


def read_parquet(data: bytes, columns: list[str] | None = None) -> pa.Table:
    """Return the table in a Parquet file, or some columns of it.

    The sizes in all page headers are checked first. The file is then read in batches, because a
    string that is stored once (dictionary encoding) may occur in every row.

    Raises:
        FileError: it is not a Parquet file, lacks a column, or expands beyond the limit.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    allowed = max(EXPANDED_BYTES, EXPANSION * len(data))
    at_once = _rows_at_once(data, columns, allowed)
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        wanted = file.schema_arrow.names if columns is None else columns
        batches, size = [], 0
        for batch in file.iter_batches(at_once, columns=wanted, use_threads=False):
            size += batch.nbytes
            if size > allowed:
                raise _too_large(size, allowed)
            batches.append(batch)
        empty = pa.schema([file.schema_arrow.field(name) for name in wanted])
        table = pa.Table.from_batches(batches, None if batches else empty).select(wanted)
        table.validate(full=True)  # such as invalid text
        return table
    except FileError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise FileError(f"this is not a Parquet file of a data set: {error}") from None


def _rows_at_once(data: bytes, columns: list[str] | None, allowed: int) -> int:
    """Return a batch size that fits into memory even if each row repeats all stored data.

    Raises:
        FileError: the stored data does not fit.
    """
    try:
        sizes = parquet_sizes(data, None if columns is None else set(columns))
    except FileError as error:
        raise FileError(f"this is not a Parquet file of a data set: {error}") from None
    if sizes.rows > SHARD_ROWS:
        raise FileError(f"this has {sizes.rows:,} rows, and a file may have at most {SHARD_ROWS:,}")
    largest = max(sizes.stored, sizes.values * _NUMBER_BYTES)
    if largest > allowed:
        raise _too_large(largest, allowed)
    return max(1, min(_MOST_AT_ONCE, allowed // (_PARTS * max(sizes.stored, 1))))


def _too_large(size: int, allowed: int) -> FileError:
    return FileError(
        f"this expands to {as_size(size)} or more, and a file of its size may expand to at most "
        f"{as_size(allowed)}"
    )


@dataclass(frozen=True)
class ParquetSizes:
    """The sizes of some columns of a file.

    Attributes:
        rows: the number of rows of the file.
        stored: the decompressed size of all pages, in bytes.
        values: the number of values, counting each item of a list.
    """

    rows: int
    stored: int
    values: int


def parquet_sizes(data: bytes, columns: set[str] | None) -> ParquetSizes:
    """Return the sizes of the named columns of a file, or of all, according to its headers.

    Arrow allocates as much memory as a page header declares, and some damaged headers crash the
    process. So the headers are checked here first. They use Thrift's compact protocol: nested
    fields with a number and a type.

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
        raise FileError("it has no Parquet footer and may be truncated")
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
                        raise FileError("its pages overlap")
                    stored += _size(header[2])
                    held = header.get(5) or header.get(8)  # version 1 or version 2
                    values += _size(held[1]) if held else 0
    return ParquetSizes(_size(footer[3]), stored, values)


def _pages(data: bytes, about: dict[int, Any]) -> Iterator[tuple[dict[int, Any], int]]:
    """Yield the page headers of a column, and the size of each page."""
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
        raise FileError(f"its headers are damaged (a size of {brief(number)})")
    return number


class _Reader:
    """Reads Thrift's compact protocol from a given position."""

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
            raise FileError("its headers are nested too deeply")
        match kind:
            case 1 | 2:  # a Boolean field has no bytes, a list item has one
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
            raise FileError("its headers point outside the file")
        self.at += 1
        return self._data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self._data):
            raise FileError("its headers point outside the file")
        return self._data[self.at - count : self.at]

    def _unsigned(self) -> int:
        number = 0
        for shift in range(0, _LONGEST_NUMBER, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise FileError("its headers are damaged (an unterminated number)")

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
