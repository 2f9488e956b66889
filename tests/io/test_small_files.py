"""A small file cannot take much memory: its claims are checked before memory is allocated."""

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pgm_explainer import FileError
from pgm_explainer.cli.inputs import read_graph
from pgm_explainer.dataset import bounded
from pgm_explainer.dataset.rows import parquet_bytes, read_table
from pgm_explainer.storage import array_file
from pgm_explainer.storage.array_file import parse_npy
from pgm_explainer.storage.files import read_bytes

GB = 1 << 30


def peak(code, *arguments):
    """Run some lines in a separate process; return its output and its peak memory in MB."""
    # Not by getrusage: its peak counts from the parent that a process was forked from.
    measured = (
        "import sys\n"
        f"{code}\n"
        "status = open('/proc/self/status').read().split('VmHWM:')[1].split()[0]\n"
        "print(int(status) // 1024)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", measured, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *printed, size = done.stdout.splitlines()
    return " ".join(printed), int(size)


READ_GRAPH = """
from pathlib import Path
from pgm_explainer.cli.inputs import read_graph
try:
    graph = read_graph(Path(sys.argv[1]), trust=False)
    print(graph.inputs_for(None), graph.x.shape)
except Exception as error:
    print(type(error).__name__, error)
"""


def large_member(archive, name, gigabytes):
    """An array of zeros, a thousand times smaller once compressed."""
    block = bytes(1 << 24)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (int(gigabytes * GB),)}
    )
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        file.write(header.getvalue())
        for _ in range(int(gigabytes * GB) >> 24):
            file.write(block)


def test_unused_arrays_of_an_archive_are_not_read(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, x=np.ones((3, 1)), edge_index=np.array([[0, 1], [1, 2]]))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        large_member(archive, "unused", 1)
    assert path.stat().st_size < 8 << 20
    printed, size = peak(READ_GRAPH, path)
    assert printed == "{} (3, 1)"
    assert size < 400


def test_an_array_larger_than_memory_is_refused_by_its_header(tmp_path, monkeypatch):
    path = tmp_path / "graph.npz"
    np.savez_compressed(path, x=np.zeros((1000, 1000)), edge_index=np.array([[0], [1]]))
    monkeypatch.setattr(array_file, "available_memory", lambda: 10**7)
    with pytest.raises(
        FileError,
        match=r"'x': it takes 7\.63 MB of memory, .* may take at most 4.77 MB, half of the free",
    ):
        read_graph(path, trust=False)


@pytest.mark.parametrize("shape", [(10**12,), (10**6, 10**6), (-1,), (3, -5, 10**9)], ids=str)
def test_an_array_that_claims_more_than_it_holds_is_refused(tmp_path, shape):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    document = header.getvalue() + bytes(80)
    with pytest.raises(FileError, match=r"declares the shape .* more than the file contains"):
        parse_npy(document)
    path = tmp_path / "graph.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", document)
        archive.writestr("edge_index.npy", document)
    with pytest.raises(FileError, match=r"graph\.npz: the array 'x': it declares the shape"):
        read_graph(path, trust=False)


def parquet_of(column, rows, **options):
    table = pa.table({"target": pa.array(range(rows), pa.int64()), "explanation": column})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", store_schema=False, **options)
    return sink.getvalue()


READ_PARQUET = """
from pathlib import Path
from pgm_explainer.dataset.rows import read_table
data = Path(sys.argv[1]).read_bytes()
try:
    print(len(read_table(data, "shard", ["target", "explanation"])))
except Exception as error:
    print(type(error).__name__, error)
"""


def one_text_in_every_row():
    codes = pa.array([0] * 2000, pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 2_000_000])), 2000


def one_long_text():
    return pa.array(["x" * 300_000_000]), 1


def one_list_of_many():
    values = pa.array(np.zeros(40_000_000, np.int64))
    return pa.ListArray.from_arrays([0, len(values)], values), 1


@pytest.mark.parametrize("make", [one_text_in_every_row, one_long_text, one_list_of_many])
def test_a_parquet_file_that_expands_is_refused_before_it_does(tmp_path, make):
    """It would be 4 GB, 300 MB and 320 MB, from 20 kB."""
    column, rows = make()
    data = parquet_of(column, rows)
    del column
    assert len(data) < 30_000
    path = tmp_path / "small.parquet"
    path.write_bytes(data)
    printed, size = peak(READ_PARQUET, path)
    assert "FileError shard: this expands to" in printed
    assert "may expand to at most 256 MB" in printed
    assert size < 900, "256 MB twice, and what Python and Arrow take"


def test_rows_are_counted_before_they_are_read(monkeypatch):
    monkeypatch.setattr(bounded, "SHARD_ROWS", 10)
    with pytest.raises(FileError, match="has 11 rows, and a file may have at most 10"):
        read_table(parquet_of(pa.array(["a"] * 11), 11), "shard")


def test_invalid_text_arrays_are_refused():
    bytes_of = pa.array([b"\xc3("]).buffers()
    text = pa.StringArray.from_buffers(1, bytes_of[1], bytes_of[2])
    with pytest.raises(FileError, match=r"not a Parquet file of a data set.*UTF8"):
        read_table(parquet_of(text, 1), "shard")


def test_incremental_reading_gives_the_same_data(monkeypatch):
    table = pa.table({"a": list(range(100)), "b": [["x"] * (at % 3) for at in range(100)]})
    data = parquet_bytes(table)
    assert read_table(data, "here").equals(table)
    monkeypatch.setattr(bounded, "_MOST_AT_ONCE", 7)
    assert read_table(data, "here").equals(table)
    assert read_table(data, "here", ["b", "a"]).equals(table.select(["b", "a"]))


def test_a_tensor_that_repeats_itself_is_refused(tmp_path):
    torch = pytest.importorskip("torch")
    from torch_geometric.data import Data

    edge_index = torch.tensor([[0, 1], [1, 2]])
    path = tmp_path / "graph.pt"
    torch.save(Data(x=torch.ones(1, 1).expand(10**6, 4000), edge_index=edge_index), path)
    assert path.stat().st_size < 4000
    with pytest.raises(FileError, match=r"x repeats 4 bytes of data to 14\.9 GB"):
        read_graph(path, trust=False)
    torch.save(Data(x=torch.ones(1, 1).expand(10**3, 4), edge_index=edge_index), path)
    assert read_graph(path, trust=False).x.num_nodes == 1000


def test_an_archive_of_torch_that_expands_is_refused(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    path = tmp_path / "graph.pt"
    torch.save([torch.zeros(10**6)], path)
    monkeypatch.setattr(array_file, "available_memory", lambda: 10**6)
    with pytest.raises(FileError, match=r"graph\.pt: it takes 3\.8\d MB of memory"):
        read_graph(path, trust=False)


def test_a_file_beyond_its_limit_is_refused_by_its_size(tmp_path):
    """It takes no room on the disk, since it has nothing but a hole in it."""
    path = tmp_path / "hole.json"
    with path.open("wb") as file:
        file.truncate(3 * GB)
    with pytest.raises(
        FileError, match="it has 3 GB, and a file of this kind may have at most 1 GB"
    ):
        read_bytes(path)


def test_deep_json_in_a_row_is_refused(tmp_path, explanations):
    from pgm_explainer.dataset.rows import as_explanation

    for text in ("[" * 100_000, '{"a":' * 100_000, json.dumps([float("nan")]), "", None):
        with pytest.raises(FileError, match="target 3: this is not JSON, or is truncated"):
            as_explanation({"error": None, "explanation": text}, "target 3")
