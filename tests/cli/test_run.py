"""``pgm-explainer run`` in a separate process that is stopped in various ways."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from job_models import NODES, explainer, ring

from pgm_explainer.cli import main
from pgm_explainer.dataset import ExplanationDataset, explain_dataset
from pgm_explainer.dataset.folder import DatasetFolder

from .conftest import NAMES

IMPORTABLE = Path(__file__).parents[1] / "importable"
OPTIONS = ["--num-layers", "2", "--set", "num_samples=60", "--shard-size", "10"]


def content(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "shards").iterdir())}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "graph.npz"
    x, edge_index = ring()
    np.savez(path, x=x, edge_index=edge_index)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    explain_dataset(explainer(), None, folder, shard_size=10)
    return folder


def heed_interrupts():
    """A shell's background jobs ignore interrupts, and so would all that they start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Command:
    """The command, running; slowed down so that there is something to stop."""

    def __init__(self, graph, folder, *options, sleep=0.0, **popen):
        paths = [str(IMPORTABLE), *filter(None, sys.path)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "JOB_MODELS_SLEEP": str(sleep),
        }
        command = [
            "--model",
            "job_models:gnn",
            "--graph",
            graph,
            "--output",
            folder,
            *OPTIONS,
            *options,
        ]
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pgm_explainer", "run", *map(str, command)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **{"preexec_fn": heed_interrupts, **popen},
        )

    def after_shards(self, count):
        """Wait until some shards are written and entered, and more are to come."""
        deadline = time.monotonic() + 300
        while len(DatasetFolder(self.folder).journal()) < count:
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return self

    def end(self):
        output, errors = self.process.communicate(timeout=300)
        return self.process.returncode, output, errors


def finish(graph, folder):
    """The same command in this very process, which is quicker to start."""
    arguments = ["--model", "job_models:gnn", "--graph", str(graph), "--output", str(folder)]
    assert main(["run", *arguments, *OPTIONS]) == 0


def test_the_command_does_the_job(graph, whole, tmp_path, capsys):
    finish(graph, tmp_path)
    assert content(tmp_path) == content(whole)
    output = capsys.readouterr().out
    assert f"{NODES} of {NODES}" in output
    assert (tmp_path / "overview.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_a_stopped_run_ends_at_once_and_can_be_resumed(graph, whole, tmp_path, stop, code):
    job = Command(graph, tmp_path, sleep=0.02).after_shards(2)
    os.killpg(job.process.pid, stop)
    returned, _, errors = job.end()
    assert returned == code
    assert "Traceback" not in errors
    assert 2 <= len(ExplanationDataset(tmp_path).entries) < 6
    finish(graph, tmp_path)
    assert content(tmp_path) == content(whole)


def test_ctrl_c_stops_workers_too_and_a_killed_worker_is_replaced(graph, whole, tmp_path):
    job = Command(graph, tmp_path, "--engine", "processes", "--workers", "2", sleep=0.02)
    job.after_shards(1)
    victims = workers_of(job.process.pid)
    assert len(victims) == 2
    os.kill(victims[0], signal.SIGKILL)
    job.after_shards(3)
    os.killpg(job.process.pid, signal.SIGINT)
    assert job.end()[0] == 130
    assert not any(Path(f"/proc/{pid}").exists() for pid in victims)
    finish(graph, tmp_path)
    assert content(tmp_path) == content(whole)


def workers_of(pid):
    """The processes spawned by one; not the one that looks after what they share."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [
        int(child)
        for child in children
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


@pytest.fixture
def small_disk(tmp_path):
    """A separate file system, which is soon full and can be made read-only."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_stops_a_run_and_space_lets_it_resume(graph, whole, small_disk):
    folder = small_disk / "why"
    code, _, errors = Command(graph, folder).end()
    assert code == 2
    assert "No space left on device" in errors
    assert "Finished work is saved" in errors
    assert "Traceback" not in errors
    assert 0 < len(ExplanationDataset(folder).entries) < 6
    assert not list(folder.glob("shards/.*")), "nothing half-written is left"
    remounted = ["mount", "-o", "remount,size=10m", str(small_disk)]
    subprocess.run(remounted, check=True)
    finish(graph, folder)
    assert content(folder) == content(whole)


def test_a_read_only_folder_is_an_error(graph, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    code, _, errors = Command(graph, small_disk / "why").end()
    assert code == 2
    assert "cannot be written" in errors
    assert "Read-only file system" in errors
    assert "Traceback" not in errors


def test_a_limit_on_files_stops_it_cleanly(graph, tmp_path):
    """Simulates a full disk where none can be mounted."""

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    code, _, errors = Command(graph, tmp_path, preexec_fn=limited).end()
    assert code == 2
    assert "cannot be written" in errors
    assert "Traceback" not in errors
    assert ExplanationDataset(tmp_path).entries == []
    assert not list(tmp_path.glob("shards/*"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["job_models:gnn"], "--graph"),
        (["--graph", "GRAPH"], "no model was given"),
        (["job_models:explainer", "--graph", "GRAPH"], "omit --graph"),
        (["job_models:explainer", "--num-samples", "50"], "omit num_samples"),
        (["job_models:explainer", "--weights", "w.pt"], "needs a PyTorch module"),
        (["job_models:gnn", "--graph", "GRAPH", "--edges", "e.csv"], "give the graph with"),
        (
            ["job_models:gnn", "--graph", "GRAPH", "--undirected"],
            "--undirected applies only to --edges",
        ),
        (["job_models:gnn", "--graph", "GRAPH", "--task", "graph"], "use pgm-explainer explain"),
        (["job_models:gnn", "--graph", "GRAPH", "--target", "60"], "there is no node '60'"),
        (["job_models", "--graph", "GRAPH"], "module:attribute"),
        (["no_such:thing", "--graph", "GRAPH"], "no_such"),
        (["job_models:broken_factory", "--graph", "GRAPH"], "weights are not there"),
        (["job_models:gnn", "--graph", "absent.npz"], "absent.npz"),
        (["job_models:gnn", "--graph", "GRAPH", "--set", "samples=5"], "'samples=5'"),
        (["job_models:gnn", "--graph", "GRAPH", "--set", "num_samples=5"], "num_samples=5"),
        (["job_models:gnn", "--graph", "GRAPH", "--targets", "absent.txt"], "absent.txt"),
        (["job_models:gnn", "--graph", "GRAPH", "--engine", "cloud"], "'cloud'"),
        (["job_models:gnn", "--graph", "GRAPH", "--workers", "2"], "--workers"),
        (["job_models:gnn", "--graph", "GRAPH", "--address", "auto"], "--address"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_invalid_run_is_one_line_of_error(graph, folder, shell, arguments, named):
    arguments = [str(graph) if each == "GRAPH" else each for each in arguments]
    code, out, err = shell("run", *arguments, "--output", "why")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert named in err
    assert err.startswith("pgm-explainer: error: ")
    assert not (folder / "why").exists()


def test_the_graph_may_be_in_tables(folder, shell):
    usual = ("--model", "visits_model:model", "--num-layers", "1", "--num-samples", "60")
    tables = ("--features", "people.csv", "--edges", "friends.csv", "--undirected")
    for name, graph in (("plain", ("--graph", "graph.npz")), ("tables", tables)):
        code, _, err = shell("run", *usual, *graph, "--output", name)
        assert code == 0, err
    one, other = ExplanationDataset("plain"), ExplanationDataset("tables")
    assert sorted(each.target for each in other) == NAMES
    assert [str(one[at].named(NAMES)) for at in range(5)] == [str(other[name]) for name in NAMES]
    _, words, _ = shell("explain", *usual, *tables, "--target", "Bob")
    assert words == f"{other['Bob']}\n"


def test_targets_are_named_as_for_explain(folder, shell):
    usual = ("--model", "visits_model:model", "--num-layers", "1", "--num-samples", "60")
    chosen = ("--target", "Ann", "Cid, Jr", "--graph", "named.npz", "--output", "why")
    assert shell("run", *usual, *chosen)[0] == 0
    assert sorted(each.target for each in ExplanationDataset("why")) == ["Ann", "Cid, Jr"]


def test_the_model_is_named_with_or_without_its_option(graph, folder, shell):
    usual = ("--graph", str(graph), "--num-layers", "2", "--num-samples", "60", "--target", "0-3")
    for number, model in enumerate((["job_models:gnn"], ["--model", "job_models:gnn"])):
        assert shell("run", *model, *usual, "--output", str(number))[0] == 0
    assert content(folder / "0") == content(folder / "1")


def test_targets_are_read_from_a_file_and_explainers_are_used_directly(tmp_path, capsys):
    (tmp_path / "targets.txt").write_text("5\n2\n")
    np.save(tmp_path / "targets.npy", np.array([2, 5]))
    for name in ("targets.txt", "targets.npy"):
        arguments = ["--targets-file", str(tmp_path / name), "--output", str(tmp_path / "why")]
        assert main(["run", "--model", "job_models:explainer", *arguments]) == 0
    data = ExplanationDataset(tmp_path / "why")
    assert sorted(each.target for each in data) == [2, 5]


def test_smallest_changes_are_part_of_a_run(folder, shell):
    usual = ("--model", "visits_model:model", "--num-layers", "1", "--num-samples", "60")
    chosen = ("--target", "Ann", "Bob", "--graph", "named.npz", "--output", "why")
    code, _, err = shell("run", *usual, *chosen, "--counterfactual")
    assert code == 0, err
    assert all(each.smallest_change is not None for each in ExplanationDataset("why"))
    values = ("--set", "scores=values", "--output", "other", "--counterfactual")
    code, _, err = shell("run", *usual, *chosen, *values)
    assert code == 2
    assert "--counterfactual searches for another predicted class" in err
