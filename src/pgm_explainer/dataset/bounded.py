"""Reading Parquet within memory limits: a small file can expand to more than the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import FileError
from ..limits import EXPANDED_BYTES, EXPANSION, SHARD_ROWS, as_size
from .parquet_sizes import parquet_sizes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_parquet"]

_NUMBER_BYTES = 8
_MOST_AT_ONCE = 1 << 14
_PARTS = 4


def read_parquet(data: bytes, columns: list[str] | None = None) -> pa.Table:
    """Return the table in a Parquet file, or some columns of it.

    The sizes in all page headers are checked first. The file is then read in batches, because a
    text that is stored once may occur in every row.

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
