"""Resumable jobs: each result is stored in a file and reused by the next run.

The name of a file contains a hash of everything the result depends on. A run with the same
settings computes only what is missing; a run with other settings reuses nothing.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from pgm_explainer import FileError, JobError, PGMExplainerWarning, __version__
from pgm_explainer.engines import Engine, LocalEngine, Lost, ProcessEngine

from ..files import write_text

__all__ = ["Job", "Place", "compute"]


@dataclass(frozen=True)
class Place:
    """The folders: results in ``folder``, real data in ``data`` (None: the default folder)."""

    folder: Path
    data: Path | None = None

    @property
    def cells(self) -> Path:
        return self.folder / "cells"

    @property
    def models(self) -> Path:
        return self.folder / "models"

    @property
    def figures(self) -> Path:
        return self.folder / "figures"

    def make(self) -> None:
        """Create the folders that do not exist yet."""
        try:
            for folder in (self.cells, self.models, self.figures):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{self.folder} cannot hold the results: {error}") from error


@dataclass(frozen=True)
class Job:
    """A function and everything that its result depends on.

    Attributes:
        name: start of the file name; a hash of the rest follows.
        work: a module-level function, called as ``work(place, **inputs)``; returns plain values.
        inputs: plain values, or objects with a unique ``repr``.
        depends_on: anything else the result depends on.
    """

    name: str
    work: Callable[..., Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    depends_on: str = ""

    @property
    def file(self) -> str:
        key = json.dumps(
            [__version__, self.work.__name__, self.inputs, self.depends_on], default=repr
        )
        return f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"


def compute(
    jobs: Sequence[Job], place: Place, workers: int = 1, what: str = "reproducing"
) -> list[Any]:
    """Return the results of the jobs in order; results that are already stored are not recomputed.

    Each result is stored as soon as it is computed, so that an interrupted run can be resumed.

    Raises:
        JobError: a worker process died or the job failed in it.
    """
    place.make()
    missing = {job.file: job for job in jobs if not (place.cells / job.file).is_file()}
    with closing(_answers(list(missing.values()), place, workers)) as done:
        # Shows a progress bar only in a terminal.
        for _ in tqdm(done, what, len(missing), leave=False, disable=None, delay=1):
            pass
    return [json.loads((place.cells / job.file).read_text())["answer"] for job in jobs]


def _answers(jobs: Sequence[Job], place: Place, workers: int) -> Generator[None, None, None]:
    crew = min(workers, len(jobs))
    engine: Engine = ProcessEngine(crew) if crew > 1 else LocalEngine()
    for answer in engine.map(partial(_worker, place), jobs):
        if isinstance(answer, Lost):
            raise JobError(f"the process that ran {answer.task.name} ended {answer.reason}")
        yield


def _worker(place: Place) -> Callable[[Job], None]:
    return partial(_do, place)


def _do(place: Place, job: Job) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the processes share the cores
    try:
        with warnings.catch_warnings():
            # Warnings about single explanations do not help when hundreds are averaged.
            warnings.simplefilter("ignore", PGMExplainerWarning)
            answer = job.work(place, **job.inputs)
    finally:
        torch.set_num_threads(threads)
    kept = {"name": job.name, "inputs": job.inputs, "answer": answer}
    write_text(place.cells / job.file, json.dumps(kept, indent=1, default=repr))
