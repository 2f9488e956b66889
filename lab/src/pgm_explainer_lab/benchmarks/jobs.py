"""Run jobs in separate processes: measure time and memory, and kill them."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOK = 0.2


@dataclass(frozen=True)
class Ran:
    """How a job ended, its time, and the peak memory of all its processes together."""

    code: int
    seconds: float
    peak: float
    errors: str


def run_job(arguments: Sequence[object], kill_after: float | None = None) -> Ran:
    """Run ``pgm-explainer run`` with these arguments; kill (-9) its processes after a time."""
    command = [sys.executable, "-m", "pgm_explainer", "run", *map(str, arguments)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Workers provide the parallelism.
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    started, peak = time.monotonic(), 0.0
    while process.poll() is None:
        time.sleep(_LOOK)
        peak = max(peak, sum(map(_held, family(process.pid))))
        if kill_after is not None and time.monotonic() - started > kill_after:
            os.killpg(process.pid, signal.SIGKILL)
            break
    errors = process.communicate()[1]
    return Ran(process.returncode, time.monotonic() - started, peak, errors)


def family(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has just ended
        return
    for child in children:
        yield from family(int(child))


def _held(pid: int) -> float:
    """Return the memory of a process in megabytes; shared memory is divided among its users."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def digest(folder: Path) -> str:
    """Return a checksum over all result files of a data set."""
    total = hashlib.sha256()
    for path in sorted((folder / "shards").glob("*.parquet")):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()
