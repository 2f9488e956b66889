"""The extent of a reproduction, and the sections of its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .jobs import Job, Place, compute

__all__ = ["Plan", "Section"]


@dataclass(frozen=True)
class Plan:
    """The size of a reproduction, and the folders for its results.

    Attributes:
        seeds: how many seeds of data (Bitcoin: of the split), model and explanations.
        rivals: whether to run the rivals that call the model, which takes most of the time.
        rival_seeds: number of seeds for rivals that call the model often; None for all seeds.
        rival_targets: number of evenly spread targets that these rivals explain. Rivals that call
            the model a few times explain a hundred times as many; the others explain all.
        hops: Bitcoin: maximum distance of candidates, 1 in the paper's protocol and 3 in the
            strict one.
        digits: number of MNIST digits to explain.
        test_digits: number of digits on which the superpixel network is tested.
        epochs: epochs of training.
        workers: number of worker processes.
        bitcoin_ablation: whether the ablation includes the Bitcoin networks, which take long.
        faithful_sets: faithfulness: the sets to explain; None for all.
        faithful_seeds: faithfulness: number of seeds, each with a separate model.
        targets: faithfulness: number of targets per model and group for all explainers; models:
            number of targets of each set.
        model_seeds: models: number of seeds; the first is for choosing.
    """

    place: Place
    seeds: int = 5
    rivals: bool = True
    rival_seeds: int | None = None
    rival_targets: int = 40
    hops: tuple[int, ...] = (1, 3)
    digits: int = 100
    test_digits: int = 10_000
    epochs: int = 1000
    workers: int = 1
    bitcoin_ablation: bool = True
    faithful_sets: tuple[str, ...] | None = None
    faithful_seeds: int = 1
    targets: int = 8
    model_seeds: int = 2

    @property
    def seeds_of_rivals(self) -> int:
        return min(self.seeds, self.rival_seeds or self.seeds)

    def compute(self, jobs: Sequence[Job], what: str) -> list[Any]:
        """Return the results of jobs; see :func:`~.jobs.compute`."""
        return compute(jobs, self.place, self.workers, what)


@dataclass(frozen=True)
class Section:
    """A section of the page in Markdown, and its results as plain values."""

    markdown: str
    results: Any
