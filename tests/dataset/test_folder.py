"""The folder of a data set: existing files are kept, and damage is reported."""

import json
import os
import shutil
import signal
from contextlib import contextmanager

import pytest
from job_models import NODES, explainer

from pgm_explainer import FileError, InputError, JobError, PGMExplainerError
from pgm_explainer.dataset import ExplanationDataset, explain_dataset, job
from pgm_explainer.storage.files import PART


@contextmanager
def soon(seconds=10):
    """Fail instead of waiting for ever."""

    def late(*_):
        raise AssertionError(f"still at it after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    explain_dataset(explainer(), range(6), folder, shard_size=2, names=range(100, 100 + NODES))
    return folder


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copy")


def run(folder):
    names = range(100, 100 + NODES)
    return explain_dataset(explainer(), range(6), folder, shard_size=2, names=names)


def test_the_users_files_are_kept(tmp_path):
    (tmp_path / "shards").mkdir()
    mine = [tmp_path / ".mine.part", tmp_path / "shards" / ".download.part", tmp_path / "a.txt"]
    for path in mine:
        path.write_text("mine")
    (tmp_path / PART.format("00")).mkdir()
    ours = tmp_path / "shards" / PART.format("0123456789abcdef")
    ours.write_text("half a shard")
    for _ in range(2):
        explain_dataset(explainer(), [1], tmp_path)
    assert [path.read_text() for path in mine] == ["mine"] * 3
    assert (tmp_path / PART.format("00")).is_dir()
    assert not ours.exists()


@pytest.mark.parametrize("text", ["{}", "no JSON", '{"format": "another"}'])
def test_a_folder_without_a_data_set_is_left_unchanged(tmp_path, text):
    (tmp_path / "job.json").write_text(text)
    (tmp_path / PART.format("0123456789abcdef")).write_text("theirs")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    with pytest.raises(FileError, match=r"job\.json"):
        explain_dataset(explainer(), [1], tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_shards_and_names_that_no_job_has_written_are_not_written_over(tmp_path):
    (tmp_path / "names.json").write_text('["mine"]')
    with pytest.raises(JobError, match=r"names\.json already exists.*move it away"):
        explain_dataset(explainer(), [1], tmp_path, names=range(NODES))
    assert (tmp_path / "names.json").read_text() == '["mine"]'
    (tmp_path / "names.json").unlink()
    (tmp_path / "shards" / "000000.parquet").write_text("mine")
    with pytest.raises(JobError, match=r"no job\.json: restore"):
        explain_dataset(explainer(), [1], tmp_path)
    assert (tmp_path / "shards" / "000000.parquet").read_text() == "mine"


def interrupted(*_):
    raise KeyboardInterrupt


def test_names_of_a_killed_job_are_reused(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(job.DatasetFolder, "write_job", interrupted)
        with pytest.raises(KeyboardInterrupt):
            explain_dataset(explainer(), [1], tmp_path, names=range(NODES))
    assert [path.name for path in tmp_path.glob("*.json")] == ["names.json"]
    assert explain_dataset(explainer(), [1], tmp_path, names=range(NODES)).complete


@pytest.mark.parametrize(
    "name", ["job.json", "journal.jsonl", "names.json", "lock", "shards/000001.parquet"]
)
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_path_that_is_not_a_file_is_refused_at_once(copy, name, make):
    (copy / name).unlink()
    make(copy / name)
    with soon():
        if name != "lock":
            with pytest.raises(FileError, match=name):
                list(ExplanationDataset(copy))
        with pytest.raises(PGMExplainerError, match=r"cannot be (read|written)") as caught:
            run(copy)
    assert str(copy) in str(caught.value)


def test_a_name_with_a_null_character_is_an_error(tmp_path):
    with pytest.raises(JobError, match="null"):
        explain_dataset(explainer(), [1], f"{tmp_path}/a\0b")
    with pytest.raises(FileError, match="is not a data set"):
        ExplanationDataset(f"{tmp_path}/a\0b")


def damaged(copy, field, value):
    path = copy / "job.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("fingerprint", [], "fingerprint should be an object"),
        ("fingerprint", "x", "fingerprint should be an object"),
        ("targets", 0, "targets should be a whole number of at least 1"),
        ("targets", 2.5, "targets should be a whole number"),
        ("task", "graphs", "task should be one of node, edge, graph"),
        ("shard_size", -1, "shard_size should be"),
        ("max_memory", "much", "max_memory should be"),
        ("target_type", 5, "target_type should be a string"),
        ("names", {"count": 1}, "names has no field 'sha256'"),
        ("surprise", 1, "surprise"),
    ],
)
def test_a_damaged_job_file_error_names_position_and_solution(copy, field, value, said):
    damaged(copy, field, value)
    for attempt in (lambda: ExplanationDataset(copy), lambda: run(copy)):
        with pytest.raises(FileError, match=rf"job\.json: this is damaged: .*{said}") as caught:
            attempt()
        assert "restore it from a copy, or explain into another folder" in str(caught.value)


@pytest.mark.parametrize(("field", "value"), [("targets", 7), ("shard_size", 3), ("task", "edge")])
def test_an_inconsistent_job_file_is_refused(copy, field, value):
    damaged(copy, field, value)
    with pytest.raises(PGMExplainerError, match=r"is damaged and inconsistent|does not have"):
        run(copy)


@pytest.mark.parametrize("content", ["{", "", "[" * 100_000, '{"format": NaN}', "\udcff"])
def test_an_invalid_job_file_error_suggests_a_solution(copy, content):
    (copy / "job.json").write_bytes(content.encode(errors="surrogateescape"))
    for attempt in (lambda: ExplanationDataset(copy), lambda: run(copy)):
        with pytest.raises(FileError, match=r"job\.json: this is not (JSON.*restore|UTF-8)"):
            attempt()


def last_line(copy, **changed):
    """The last line of the journal, repeated with other values."""
    path = copy / "journal.jsonl"
    lines = path.read_text().split("\n")
    entry = json.dumps({**json.loads(lines[-1]), **changed})
    path.write_text("\n".join([*lines[:-1], entry]))


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": 0},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"seconds": -1.0},
        {"failed": 3},
        {"sha256": "abc"},
        {"shard": -1},
        {"rows": 10**9},
        {"seconds": "1"},
    ],
    ids=str,
)
def test_a_damaged_line_counts_as_none(copy, whole, changed):
    last_line(copy, **changed)
    data = ExplanationDataset(copy)
    assert (len(data), data.complete) == (4, False)
    assert len(data.to_pandas()) == 4
    assert run(copy).complete
    shard = "shards/000002.parquet"
    assert (copy / shard).read_bytes() == (whole / shard).read_bytes()


@pytest.mark.parametrize("changed", [{"shard": 3}, {"shard": 10**30}, {"rows": 1}], ids=str)
def test_a_shard_that_the_job_does_not_have_is_noticed(copy, changed):
    last_line(copy, **changed)
    for attempt in (lambda: ExplanationDataset(copy), lambda: run(copy)):
        with pytest.raises(FileError, match=r"journal\.jsonl names shard .*remove that line"):
            attempt()


def test_a_changed_shard_size_is_the_only_reported_difference(tmp_path):
    explain_dataset(explainer(), None, tmp_path, shard_size=20)
    with pytest.raises(JobError) as caught:
        explain_dataset(explainer(), None, tmp_path, shard_size=10)
    said = str(caught.value)
    assert "different job: storing shard_size was 20 and is 10. Restore" in said


def test_the_number_of_rows_of_a_shard_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "SHARD_ROWS", 3)
    with pytest.raises(InputError, match="shard_size must be at most 3, not 500"):
        explain_dataset(explainer(), range(5), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert explain_dataset(explainer(), range(3), tmp_path / "new").complete
