"""Parquet read within bounds: a small file may claim, or repeat, more than memory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import FileError
from ..limits import EXPANDED_BYTES, EXPANSION, SHARD_ROWS, as_size

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_parquet"]

_NUMBER_BYTES = 8
_MOST_AT_ONCE = 1 << 14
_PARTS = 4


def read_parquet(data: bytes, columns: list[str] | None = None) -> pa.Table:
    """Return the table in a Parquet file, or some columns of it.

    What the file says of its size is checked first; then it is read by and by, because one text
    that is stored once may stand in every row.

    Raises:
        FileError: it is no such file, lacks a column, or holds more than a file of its size may.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    allowed = max(EXPANDED_BYTES, EXPANSION * len(data))
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        wanted = file.schema_arrow.names if columns is None else columns
        at_once = _rows_at_once(file.metadata, set(wanted), allowed)
        batches, size = [], 0
        for batch in file.iter_batches(at_once, columns=wanted, use_threads=False):
            size += batch.nbytes
            if size > allowed:
                raise _too_large(size, allowed)
            batches.append(batch)
        empty = pa.schema([file.schema_arrow.field(name) for name in wanted])
        return pa.Table.from_batches(batches, None if batches else empty).select(wanted)
    except FileError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise FileError(f"this is no Parquet file of a data set: {error}") from None


def _rows_at_once(metadata: Any, wanted: set[str], allowed: int) -> int:
    """How many rows fit, several times over, even if each repeats all that is stored.

    Raises:
        FileError: not even what is stored fits.
    """
    if metadata.num_rows > SHARD_ROWS:
        raise FileError(f"this has {metadata.num_rows:,} rows, and a file may have {SHARD_ROWS:,}")
    groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
    chunks = [group.column(at) for group in groups for at in range(group.num_columns)]
    read = [each for each in chunks if each.path_in_schema.partition(".")[0] in wanted]
    stored = sum(max(each.total_uncompressed_size, 0) for each in read)
    numbers = sum(max(each.num_values, 0) for each in read) * _NUMBER_BYTES
    if max(stored, numbers) > allowed:
        raise _too_large(max(stored, numbers), allowed)
    return max(1, min(_MOST_AT_ONCE, allowed // (_PARTS * max(stored, 1))))


def _too_large(size: int, allowed: int) -> FileError:
    return FileError(
        f"this expands to {as_size(size)} or more, and a file of its size may expand to "
        f"{as_size(allowed)}"
    )
