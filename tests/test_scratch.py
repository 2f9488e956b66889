"""Arrays beyond the memory bound live in temporary files, and nothing else changes."""

from __future__ import annotations

import errno
import mmap
import os
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest

from pgm_explainer import FileError, PGMExplainer, batching, scratch
from pgm_explainer.scratch import ArrayStore, Scratch

OPTIONS = {"num_layers": 2, "num_samples": 200, "perturb_probability": 0.25}


@pytest.fixture
def in_files(monkeypatch, tmp_path):
    """As if the smallest array were too large for memory."""
    monkeypatch.setattr(scratch, "_SMALL", 0)
    monkeypatch.setattr(scratch, "_SMALLEST_STORED", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def is_in_file(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array is not None and isinstance(memoryview(array).obj, mmap.mmap)


def test_what_fits_is_in_memory_and_the_rest_in_files(in_files):
    given = Scratch(limit=100, what="samples")
    matrices = [given.zeros(1, size, np.uint8) for size in (60, 50, 40, 1)]
    assert [matrix.in_file for matrix in matrices] == [False, True, False, True]
    assert not any(matrix.read(0, 1).any() for matrix in matrices)


def test_small_arrays_are_in_memory_whatever_the_bound():
    assert not Scratch(limit=1, what="samples").zeros(1000, 1000, np.float64).in_file


@pytest.mark.parametrize("limit", [0, 2**20])
def test_rows_are_read_as_they_were_written(in_files, limit):
    matrix = Scratch(limit, what="samples").zeros(50, 7, np.float32)
    assert matrix.in_file == (limit == 0)
    written = np.random.default_rng(0).random((50, 7)).astype(np.float32)
    matrix.write(20, written[20:])
    matrix.write(0, written[:20].astype(np.float64))
    np.testing.assert_array_equal(matrix.read(3, 30), written[3:30])
    for chosen in ([4], [7, 8, 9, 3, 3, 49, 0, 1], [], range(50)):
        rows = matrix.take(np.array(chosen, dtype=np.int64))
        np.testing.assert_array_equal(rows, written[list(chosen)])
        assert rows.dtype == np.float32


def test_files_have_no_name_and_are_closed_with_the_matrix(in_files):
    before = _open_files()
    matrix = Scratch(limit=0, what="samples").zeros(5, 5, np.uint8)
    assert list(in_files.iterdir()) == []
    assert _open_files() == before + 1
    del matrix
    assert _open_files() == before


def _open_files():
    return len(os.listdir("/proc/self/fd"))


def test_a_copy_in_another_process_is_in_its_memory(in_files):
    matrix = Scratch(limit=0, what="samples").zeros(1, 3, np.int64)
    matrix.write(0, np.array([[1, 2, 3]]))
    copy = pickle.loads(pickle.dumps(matrix))
    assert copy.read(0, 1).tolist() == [[1, 2, 3]]
    assert not copy.in_file
    copy.write(0, np.array([[4, 5, 6]]))
    assert matrix.read(0, 1).tolist() == [[1, 2, 3]]


def test_a_full_disk_is_an_error_before_anything_is_written(in_files, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(FileError, match=rf"3\.0 GB of samples .*{in_files}.*No space left.*TMPDIR"):
        Scratch(limit=0, what="samples").zeros(3, 2**30, np.uint8)


def test_a_missing_temporary_folder_is_an_error(in_files, monkeypatch):
    def nowhere():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: nowhere())
    with pytest.raises(FileError, match="No usable temporary directory"):
        Scratch(limit=0, what="samples").zeros(1, 3, np.uint8)


@pytest.mark.parametrize(("size", "level"), [(10, "INFO"), (2**30, "WARNING")])
def test_going_to_a_file_is_logged_and_a_large_one_is_shown(in_files, caplog, size, level):
    with caplog.at_level("INFO", "pgm_explainer"):
        Scratch(limit=0, what="samples").zeros(1, size, np.uint8)
    (record,) = caplog.records
    assert record.levelname == level
    assert f"of samples are kept in a temporary file in {in_files}" in record.message


def test_an_array_store_stores_copies_in_files(in_files, monkeypatch):
    monkeypatch.setattr(scratch, "_CHUNK", 100)
    store, rng = ArrayStore(limit=0, what="rankings"), np.random.default_rng(0)
    arrays = [rng.random(9), rng.random(3) < 0.5, rng.random((50, 2)), rng.integers(0, 9, 8)]
    copies = [store.store(array) for array in arrays]
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(copy, array)
        assert copy.dtype == array.dtype
        assert is_in_file(copy)
    assert list(in_files.iterdir()) == []


def test_an_array_store_leaves_in_memory_what_fits_and_what_is_tiny():
    store = ArrayStore(limit=2**25, what="rankings")
    assert [store.fits(size) for size in (2**24, 2**24, 1, 1)] == [True, True, False, False]
    tiny = np.arange(5)
    assert store.store(tiny) is tiny


def test_files_of_an_array_store_go_with_the_last_array(in_files):
    copies = [ArrayStore(limit=0, what="rankings").store(np.arange(5)) for _ in range(2)]
    assert _mapped(in_files) == 2
    del copies[0]
    assert _mapped(in_files) == 1
    assert copies[0].tolist() == [0, 1, 2, 3, 4]
    del copies
    assert _mapped(in_files) == 0


def _mapped(folder):
    return Path("/proc/self/maps").read_text().count(str(folder))


# Explanations


@pytest.mark.parametrize("form", ["whole", "part"])
@pytest.mark.parametrize("change", ["auto", "fall", "levels"])
def test_explanations_do_not_depend_on_where_they_are_kept(toy, form, change, in_files):
    arguments = (getattr(toy, form), toy.x, toy.edge_index)
    in_memory = PGMExplainer(*arguments, change=change, **OPTIONS)
    in_file = PGMExplainer(*arguments, change=change, max_memory=1, **OPTIONS)
    many = in_file.explain_many([3, 8, 14])
    for one, other in zip(in_memory.explain_many([3, 8, 14]), many, strict=True):
        assert one == other
        assert one.warnings == other.warnings
        assert is_in_file(other.ranking.log_p)
        assert is_in_file(other.ranking.selected)
        assert is_in_file(other.node_classes)
        first = other.network.nodes[0]
        assert is_in_file(other.network.cpt(first).values)
        assert is_in_file(other.effects.log_p)
        assert not is_in_file(one.ranking.log_p)
    assert in_file.samples([3]).table.in_file
    copies = pickle.loads(pickle.dumps(many))
    assert copies == many
    assert not is_in_file(copies[0].ranking.log_p)


def test_nor_do_those_of_graphs_and_pairs(toy, in_files):
    def pairs_model(x, pairs):
        scores = toy.whole(x)
        return scores[:, pairs[0]] * scores[:, pairs[1]]

    for model, task, target in (
        (toy.graph_level, "graph", None),
        (pairs_model, "edge", (3, 8)),
    ):
        one, other = (
            PGMExplainer(model, toy.x, toy.edge_index, task=task, max_memory=bound, **OPTIONS)
            for bound in (None, 1)
        )
        assert one.explain(target) == other.explain(target)


def test_nor_do_the_effects_of_features(toy, in_files):
    one, other = (
        PGMExplainer(toy.whole, toy.x, toy.edge_index, max_memory=bound, **OPTIONS)
        for bound in (None, 1)
    )
    explanation = one.explain(14)
    effects = [each.explain_features(explanation).log_p for each in (one, other)]
    np.testing.assert_array_equal(*effects)


def test_large_explanations_give_a_warning_beforehand(toy, in_files, caplog, monkeypatch):
    monkeypatch.setattr(batching, "_LARGE", 100)
    logged = []

    def watched(x):
        logged.extend(caplog.records)
        return toy.whole(x)

    PGMExplainer(watched, toy.x, toy.edge_index, max_memory=1, **OPTIONS).explain_many([3, 8])
    assert logged[0].levelname == "WARNING"
    assert "2 explanations with 6 candidates in total will take about 900 B" in logged[0].message
    assert "explain_dataset()" in logged[0].message
