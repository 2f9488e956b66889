"""The sizes of a Parquet file by its headers; for valid files they match those of Arrow."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pgm_explainer import FileError
from pgm_explainer.dataset.bounded import parquet_sizes, read_parquet


def written(table, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    lists = [rng.integers(9, size=at % 5).tolist() for at in range(3000)]
    texts = [None if at % 7 == 0 else f"text {at}" for at in range(3000)]
    return pa.table({"numbers": rng.normal(size=3000), "lists": lists, "texts": texts})


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["zstd", "none"])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_sizes_match_those_of_arrow(table, version, compression, use_dictionary):
    data = written(
        table,
        data_page_version=version,
        compression=compression,
        use_dictionary=use_dictionary,
        row_group_size=1000,
        data_page_size=2000,
    )
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    for names in (["numbers"], ["lists", "texts"], ["numbers", "lists", "texts"]):
        chunks = [
            metadata.row_group(group).column(column)
            for group in range(metadata.num_row_groups)
            for column in range(metadata.num_columns)
        ]
        chosen = [each for each in chunks if each.path_in_schema.split(".")[0] in names]
        sizes = parquet_sizes(data, set(names))
        assert sizes.rows == 3000
        assert sizes.values == sum(each.num_values for each in chosen)
        # Arrow counts the headers among the bytes of a column.
        reported = sum(each.total_uncompressed_size for each in chosen)
        assert 0.8 * reported < sizes.stored <= reported


def test_all_columns_are_all(table):
    data = written(table)
    assert parquet_sizes(data, None) == parquet_sizes(data, {"numbers", "lists", "texts"})


def test_a_file_without_rows_is_empty(table):
    data = written(table.slice(0, 0))
    assert parquet_sizes(data, None).rows == 0
    assert read_parquet(data, ["texts", "numbers"]).num_rows == 0


def test_a_page_larger_than_the_footer_says_is_counted(table):
    """The size in its header is what Arrow takes memory for."""
    data = written(table.select(["numbers"]), compression="none", use_dictionary=False)
    header = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0).data_page_offset
    assert data[header : header + 3] == b"\x15\x00\x15", "a page of data, then its size"
    start = end = header + 3
    while data[end] > 127:  # seven bits in each byte, the last below 128
        end += 1
    largest = b"\xfe" + b"\xff" * (end - start - 1) + b"\x7f"
    forged = data[:start] + largest + data[end + 1 :]
    assert parquet_sizes(data, None).stored < 30_000
    assert parquet_sizes(forged, None).stored > 1_000_000


@pytest.mark.parametrize("cut", [0, 3, 4, 8, 11, 12, 50, 200])
def test_a_truncated_file_is_refused(table, cut):
    with pytest.raises(FileError):
        parquet_sizes(written(table)[:cut], None)
    with pytest.raises(FileError):
        parquet_sizes(written(table)[cut + 1 :][: -cut - 1], None)


def test_overlapping_pages_are_refused():
    """A column of a group listed a hundred times would be read a hundred times."""
    column = pa.array(np.arange(20_000))
    data = written(pa.table({"a": column}), compression="none", use_dictionary=False)
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - length : -8]
    # Change the number of row groups from one to three, all the same.
    at = footer.index(b"\x19\x1c\x19\x1c")
    group_end = _end_of_struct(footer, at + 2)
    group = footer[at + 2 : group_end]
    forged = footer[:at] + b"\x19\x3c" + 3 * group + footer[group_end:]
    document = data[: -8 - length] + forged + len(forged).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(FileError, match="its pages overlap"):
        parquet_sizes(document, None)


def _end_of_struct(data, at):
    from pgm_explainer.dataset.bounded import _Reader

    reader = _Reader(data, at)
    reader.struct()
    return reader.at
