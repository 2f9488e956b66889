"""After a failure at any moment, existing files are valid and jobs can be finished."""

import errno
import os
import random
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from faulty_disk import FaultyDisk, Killed, leftovers
from job_models import NODES, exact_explainer

from pgm_explainer import Explanation, FileError, PGMExplainer, PGMExplainerError
from pgm_explainer.dataset import ExplanationDataset, explain_dataset
from pgm_explainer.io import save_explanations

NAMES = [f"account {number}" for number in range(NODES)]
FAULTS = {"full": errno.ENOSPC, "broken": errno.EIO, "killed": None}
MOST = 200


@pytest.fixture(scope="module", autouse=True)
def remembered():
    """Explain the same targets together only once: what is tested here is the files.

    The explainers are new ones, but equal, and equal explainers give equal explanations.
    """
    known, explain_all = {}, PGMExplainer._explain_all

    def remembering(explainer, targets, with_features):
        asked = (repr(explainer.settings), *targets, with_features)
        if asked not in known:
            known[asked] = explain_all(explainer, targets, with_features)
        return known[asked]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PGMExplainer, "_explain_all", remembering)
        yield known
    assert len(known) < 20, "the jobs are all the same"


def run(folder):
    return explain_dataset(exact_explainer(), range(6), folder, shard_size=2, names=NAMES)


def content(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "shards").glob("*.parquet"))}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run(folder)
    return folder


@pytest.fixture(scope="module")
def right(whole):
    return {each.target: each for each in ExplanationDataset(whole)}


def crashed(folder, at, error, half=True):
    """A job during which a fault happens; returns the events there were."""
    with pytest.MonkeyPatch.context() as patch:
        disk = FaultyDisk(folder, at, error, half).installed(patch)
        with suppress(PGMExplainerError, Killed):
            run(folder)
    return disk.events


def check_readable(folder, right):
    """Check that the existing files are valid, or that there are none yet."""
    if not (folder / "job.json").exists():
        with pytest.raises(FileError, match="is not a data set"):
            ExplanationDataset(folder)
        return
    data = ExplanationDataset(folder)
    read = list(data)
    assert len(read) == len(data) <= 6
    assert all(each == right[each.target] for each in read)
    assert data.failures() == {}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_job_survives_a_fault_at_every_write(tmp_path, whole, right, fault):
    for at in range(MOST):
        folder = tmp_path / str(at)
        events = crashed(folder, at, FAULTS[fault], half=at % 2 == 0)
        check_readable(folder, right)
        failed = events[at] if at < len(events) else ""
        if FAULTS[fault] is not None and not failed.startswith("unlink"):
            assert not leftovers(folder), failed
        run(folder)
        assert content(folder) == content(whole), failed
        assert not leftovers(folder), failed
        if not failed:
            break
    assert 30 < at < MOST, "all events of a job have had their fault"


def test_a_job_survives_fault_after_fault(tmp_path, whole, right):
    chance = random.Random(0)
    for round_number in range(15):
        folder = tmp_path / str(round_number)
        for _ in range(4):
            error = chance.choice([None, errno.ENOSPC, errno.EIO])
            crashed(folder, chance.randrange(25), error, half=chance.random() < 0.5)
            check_readable(folder, right)
        run(folder)
        assert content(folder) == content(whole)
        assert not leftovers(folder)


REALLY_KILLED = """
import os, sys
import pytest
import faulty_disk
from test_crashes import run

class Now(faulty_disk.FaultyDisk):
    def happens(self, what, path):
        super().happens(what, path)
        if len(self.events) == self.at:
            os._exit(9)

Now(sys.argv[1], int(sys.argv[2])).installed(pytest.MonkeyPatch())
run(sys.argv[1])
"""


@pytest.mark.parametrize("at", [3, 9, 14, 21, 28])
def test_a_process_that_really_ends_there_is_no_different(tmp_path, whole, right, at):
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", REALLY_KILLED, str(tmp_path), str(at)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 9, done.stderr
    check_readable(tmp_path, right)
    run(tmp_path)
    assert content(tmp_path) == content(whole)
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("many", [False, True])
def test_a_file_is_the_old_one_or_the_new_one(tmp_path, right, fault, many):
    old, new = right["account 1"], right["account 2"]
    path = tmp_path / "why.json"
    old.save(path)
    path.chmod(0o640)
    written = {}
    for at in range(MOST):
        with pytest.MonkeyPatch.context() as patch:
            disk = FaultyDisk(tmp_path, at, FAULTS[fault]).installed(patch)
            with suppress(PGMExplainerError, Killed):
                save_explanations(path, [new]) if many else new.save(path)
        found = Explanation.load(path)
        assert found in (old, new)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        failed = disk.events[at].split()[0] if at < len(disk.events) else "nothing"
        if FAULTS[fault] is not None and failed != "unlink":
            assert not leftovers(tmp_path)
        written[failed] = found == new
        for each in leftovers(tmp_path):
            assert stat.S_IMODE(each.stat().st_mode) & ~0o640 == 0, "nobody else may read it"
            each.unlink()
        if failed == "nothing":
            break
        old.save(path)
    assert {"open", "fchmod", "write", "fsync", "replace", "nothing"} <= written.keys()
    assert (written["write"], written["replace"], written["nothing"]) == (False, False, True)
