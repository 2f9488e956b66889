"""Work that is done once: each piece is kept as a file, and found again after a stop.

A file's name says what its piece depends on. So a run with other settings finds nothing of this
one's and mixes nothing in, and a run with the same settings does only what is missing.
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
    """Where things are: results in ``folder``, real data in ``data`` (None: the usual folder)."""

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
        """Make the folders that are not there yet."""
        try:
            for folder in (self.cells, self.models, self.figures):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{self.folder} cannot hold the results: {error}") from error


@dataclass(frozen=True)
class Job:
    """A piece of work: a function of a module, and everything that its answer depends on.

    Attributes:
        name: what its file is called, before a code for the rest.
        work: called as ``work(place, **inputs)``; answers with plain values.
        inputs: plain values, or objects with a unique ``repr``.
        rests_on: what it depends on besides.
    """

    name: str
    work: Callable[..., Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    rests_on: str = ""

    @property
    def file(self) -> str:
        known_by = json.dumps(
            [__version__, self.work.__name__, self.inputs, self.rests_on], default=repr
        )
        return f"{self.name}-{hashlib.sha256(known_by.encode()).hexdigest()[:12]}.json"


def compute(
    jobs: Sequence[Job], place: Place, workers: int = 1, what: str = "reproducing"
) -> list[Any]:
    """Return the answers to jobs, in their order; only those that are not kept are computed.

    Stopped by anything, it has kept what was done.

    Raises:
        JobError: the process over a job died, or the job failed there.
    """
    place.make()
    missing = {job.file: job for job in jobs if not (place.cells / job.file).is_file()}
    with closing(_answers(list(missing.values()), place, workers)) as done:
        # A bar in a terminal; elsewhere nothing.
        for _ in tqdm(done, what, len(missing), leave=False, disable=None, delay=1):
            pass
    return [json.loads((place.cells / job.file).read_text())["answer"] for job in jobs]


def _answers(jobs: Sequence[Job], place: Place, workers: int) -> Generator[None, None, None]:
    crew = min(workers, len(jobs))
    engine: Engine = ProcessEngine(crew) if crew > 1 else LocalEngine()
    for answer in engine.map(partial(_worker, place), jobs):
        if isinstance(answer, Lost):
            raise JobError(f"the process over {answer.task.name} ended {answer.reason}")
        yield


def _worker(place: Place) -> Callable[[Job], None]:
    return partial(_do, place)


def _do(place: Place, job: Job) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the processes share the cores
    try:
        with warnings.catch_warnings():
            # What weakens single explanations of hundreds is in the figures already.
            warnings.simplefilter("ignore", PGMExplainerWarning)
            answer = job.work(place, **job.inputs)
    finally:
        torch.set_num_threads(threads)
    kept = {"name": job.name, "inputs": job.inputs, "answer": answer}
    write_text(place.cells / job.file, json.dumps(kept, indent=1, default=repr))
