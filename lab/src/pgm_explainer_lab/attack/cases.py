"""Run numbered cases in other processes, which may hang or die, and collect what they find.

A case is a function of a seed and a number. It returns None, or describes what is wrong. It
runs in a separate process together with the cases before it, so that a case that never ends,
kills its process or fills the memory is a finding as well, and the next case goes on.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from ..benchmarks.jobs import family

_TICK = os.sysconf("SC_CLK_TCK")

Case = Callable[[int, int], str | None]


class Part(Protocol):
    """A module with numbered cases."""

    case: Case
    FULL: int
    """Number of cases of a full round."""
    MOST_CPU: float
    """Seconds of CPU time that a case may take."""
    MOST_WALL: float
    """Seconds that it may take in all, without those in which it waits for a processor."""
    MOST_MEMORY: int
    """Megabytes by which it may raise the peak memory of its process."""


@dataclass(frozen=True)
class Finding:
    """Something that should not have happened."""

    part: str
    seed: int
    number: int
    what: str

    def __str__(self) -> str:
        part = self.part.rpartition(".")[2]
        again = f"python -m {__package__} --seed {self.seed} --only {part} {self.number}"
        return f"FOUND {part} {self.number}: {self.what}\n  again: {again}"


def run_cases(part: str, seed: int, numbers: range) -> Iterator[Finding]:
    """Run the cases of a module in other processes, one after the other."""
    at = numbers.start
    while at < numbers.stop:
        worker = _Worker(part, seed, range(at, numbers.stop, numbers.step))
        for number, what in worker.answers():
            if what:
                yield Finding(part, seed, number, what)
            at = number + numbers.step


class _Worker:
    """A process that runs cases until one of them hangs or kills it."""

    def __init__(self, part: str, seed: int, numbers: range) -> None:
        spelled = [str(each) for each in (numbers.start, numbers.stop, numbers.step)]
        self.part = part_named(part)
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by end)
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.cases", part, str(seed), *spelled],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            bufsize=0,  # what is buffered here, select would not see
            start_new_session=True,
        )

    def answers(self) -> Iterator[tuple[int, str | None]]:
        """Yield the number of each case that ended, and what it found."""
        number, started, spent = -1, 0.0, 0.0
        assert self.process.stdout is not None
        try:
            while True:
                late = self._too_late(started, spent) if number >= 0 else None
                if late:
                    yield number, f"{late}: it was stopped"
                    return
                if not select.select([self.process.stdout], [], [], 0.5)[0]:
                    continue
                line = self.process.stdout.readline()
                if not line:
                    if number >= 0:
                        yield number, f"the process ended: {self._last_words()}"
                    elif self.process.wait():
                        raise SystemExit(f"no case could be run: {self._last_words()}")
                    return
                number, what = json.loads(line)
                if what is None:  # it begins
                    started, spent = self._clock(), _cpu(self.process.pid)
                else:
                    yield number, what
                    number = -1
        finally:
            self.end()

    def _too_late(self, started: float, spent: float) -> str | None:
        if _cpu(self.process.pid) - spent > self.part.MOST_CPU:
            return f"more than {self.part.MOST_CPU:.0f} s of CPU time"
        if self._clock() - started > self.part.MOST_WALL:
            return f"more than {self.part.MOST_WALL:.0f} s"
        return None

    def _clock(self) -> float:
        """Return the time in seconds that passes for the process: not while others run instead."""
        try:
            delays = Path(f"/proc/{self.process.pid}/schedstat").read_text().split()
        except OSError:  # it has just ended, or the kernel does not count
            delays = ["0", "0"]
        return time.monotonic() - int(delays[1]) / 1e9

    def _last_words(self) -> str:
        code = self.process.wait()
        self.errors.seek(0)
        return f"exit code {code}; {self.errors.read()[-500:]}"

    def end(self) -> None:
        """Kill the process and those that it started."""
        for pid in list(family(self.process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors.close()


def _cpu(pid: int) -> float:
    """Return the CPU time of all threads of a process in seconds."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICK


def peak_memory() -> int:
    """Return the peak memory of this process in megabytes."""
    status = Path("/proc/self/status").read_text()
    line = next(each for each in status.splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def checked(part: Part, seed: int, number: int) -> str | None:
    """Run a case; any exception that gets out of it is a finding."""
    before = peak_memory()
    started = time.process_time()
    try:
        what = part.case(seed, number)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"
    except SystemExit as leaving:
        return f"SystemExit: {leaving.code}"
    spent, grown = time.process_time() - started, peak_memory() - before
    if what is None and spent > part.MOST_CPU:
        what = f"{spent:.1f} s of CPU time"
    if what is None and grown > part.MOST_MEMORY:
        what = f"{grown} MB of memory"
    return what


def part_named(name: str) -> Part:
    """Return the module of a part."""
    return cast(Part, importlib.import_module(name))


def main(part: str, seed: str, *numbers: str) -> None:
    """Run cases, and report on standard output which one begins and how each has ended."""
    tell = os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # a command may print
    warnings.simplefilter("ignore")
    cases = part_named(part)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # whatever is written by odd names
        for number in range(*map(int, numbers)):
            print(json.dumps([number, None]), file=tell)
            what = checked(cases, int(seed), number)
            print(json.dumps([number, what or ""]), file=tell)


if __name__ == "__main__":
    main(*sys.argv[1:])
