"""Soak test: jobs under faults must still produce the correct result.

``python -m pgm_explainer_lab.benchmarks.soak --minutes 30`` runs at least one round of one job. In
every round all of these happen, in random order: the job is killed, stopped and interrupted, its
workers are killed, a finished file is truncated, another removed, the journal is truncated, the
disk is full. The round ends when the job does. Its data set must then be byte-identical to that of
an undisturbed job.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from .jobs import digest, family

_TARGETS, _SHARD, _SAMPLES = 400, 20, 200


def make_explainer() -> object:
    """Return the explainer of every round: three layers in NumPy on a graph of 2,000 nodes."""
    from pgm_explainer import PGMExplainer

    from .growth import circulant, three_layers

    return PGMExplainer(three_layers, *circulant(2000), num_layers=1, num_samples=_SAMPLES)


class Round:
    """One job, restarted until it finishes."""

    num_targets, shard_size, longest_wait = _TARGETS, _SHARD, 4.0
    engines: tuple[tuple[str, ...], ...] = (("local",), ("processes", "--workers", "2"))

    def __init__(self, folder: Path, targets: Path, chance: random.Random) -> None:
        self.folder, self.targets, self.chance = folder, targets, chance
        self.happened: Counter[str] = Counter()

    def start(self, file_limit: int | None = None) -> subprocess.Popen[bytes]:
        engine = self.chance.choice(self.engines)
        command = [
            "--model",
            "pgm_explainer_lab.benchmarks.soak:make_explainer",
            "--output",
            str(self.folder),
        ]
        targets = ["--targets-file", str(self.targets)]
        options = [*targets, "--shard-size", str(self.shard_size), "--engine", *engine]

        def limited() -> None:
            # Background jobs of a shell ignore interrupts, and so do all processes they start.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

        return subprocess.Popen(
            [sys.executable, "-m", "pgm_explainer", "run", *command, *options],
            start_new_session=True,
            preexec_fn=limited,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def run(self, *faults: str) -> None:
        """Cause faults, then let the job finish."""
        for name in faults:
            FAULTS[name](self)
            self.happened[name] += 1
        job = self.start()
        errors = job.communicate()[1].decode()
        if job.returncode:
            raise SystemExit(f"the job could not be finished after {dict(self.happened)}: {errors}")

    def later(self, job: subprocess.Popen[bytes]) -> None:
        """Wait until the job has locked its folder, then a little longer."""
        while job.poll() is None and str(self.folder / "lock") not in _open_files(job.pid):
            time.sleep(0.05)
        time.sleep(self.chance.uniform(0.0, self.longest_wait))

    def signalled(self, number: int) -> None:
        job = self.start()
        self.later(job)
        if job.poll() is None:
            os.killpg(job.pid, number)
        code, errors = job.wait(), job.communicate()[1].decode()
        if "Traceback" in errors or code not in (0, -number, 128 + number):
            raise SystemExit(f"signal {number} ended in code {code}: {errors}")

    def worker_killed(self) -> None:
        job = self.start()
        self.later(job)
        for child in list(family(job.pid))[1:]:
            os.kill(child, signal.SIGKILL)
        errors = job.communicate()[1].decode()
        if job.returncode:
            raise SystemExit(f"a killed worker ended the job in {job.returncode}: {errors}")

    def disk_full(self) -> None:
        job = self.start(file_limit=4096)
        errors = job.communicate()[1].decode()
        if "Traceback" in errors or job.returncode not in (0, 2):
            raise SystemExit(f"a full disk ended in code {job.returncode}: {errors}")

    def damaged(self, damage: Callable[[Path], None]) -> None:
        files = sorted(self.folder.glob("shards/*.parquet"))
        if files:
            damage(self.chance.choice(files))

    def journal_cut(self) -> None:
        journal = self.folder / "journal.jsonl"
        if journal.exists():
            _halve(journal)


def _open_files(pid: int) -> set[str]:
    try:
        return {os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")}
    except OSError:  # the process, or the file, has just gone
        return set()


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


FAULTS: dict[str, Callable[[Round], None]] = {
    "killed": lambda job: job.signalled(signal.SIGKILL),
    "terminated": lambda job: job.signalled(signal.SIGTERM),
    "interrupted": lambda job: job.signalled(signal.SIGINT),
    "worker killed": Round.worker_killed,
    "disk full": Round.disk_full,
    "file cut": lambda job: job.damaged(_halve),
    "file removed": lambda job: job.damaged(Path.unlink),
    "journal cut": Round.journal_cut,
}


def undisturbed(place: Path, kind: type[Round] = Round) -> tuple[Path, str]:
    """Run a job without any fault; return the file of its targets, and its checksum."""
    targets = place / "targets.txt"
    targets.write_text("\n".join(map(str, range(kind.num_targets))))
    whole = kind(place / "whole", targets, random.Random(0))
    whole.run()
    return targets, digest(whole.folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    place = Path(tempfile.mkdtemp())
    targets, right = undisturbed(place)
    end = time.monotonic() + 60 * options.minutes
    rounds, happened = 0, Counter[str]()
    while not rounds or time.monotonic() < end:
        job = Round(place / f"round-{rounds}", targets, chance)
        job.run(*chance.sample(list(FAULTS), len(FAULTS)))
        if digest(job.folder) != right:
            print(f"round {rounds} is NOT the same after {dict(job.happened)}: see {job.folder}")
            return 1
        shutil.rmtree(job.folder)
        rounds, happened = rounds + 1, happened + job.happened
        print(f"round {rounds}: byte-identical after {dict(job.happened)}", flush=True)
    shutil.rmtree(place)
    counts = ", ".join(f"{name} {count}" for name, count in happened.most_common())
    print(f"{rounds} rounds, {happened.total()} faults ({counts}): all byte-identical")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
