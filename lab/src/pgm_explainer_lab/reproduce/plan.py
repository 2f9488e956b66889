"""The extent of a reproduction, and the sections of its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .jobs import Job, Place, compute

__all__ = ["Plan", "Section"]


@dataclass(frozen=True)
class Plan:
    """How much to do, and where it is kept.

    Attributes:
        seeds: how many seeds of data (Bitcoin: of the split), model and explanations.
        rivals: whether those rivals are run that ask the model, which takes most of the time.
        rival_seeds: how many seeds those rivals get that ask often; None for as many.
        rival_targets: how many targets, evenly spread, those rivals explain, and a hundred times as
            many if they ask a few times only; others explain all.
        hops: Bitcoin: how far candidates may be, 1 in the paper's protocol and 3 in the strict one.
        digits: how many digits of MNIST are explained.
        test_digits: how many digits the superpixel network is tested on.
        epochs: of training.
        workers: processes at work.
        bitcoin_ablation: whether the ablation, which is long, takes in the Bitcoin networks.
        faithful_sets: faithfulness: the sets that are explained; None for all.
        faithful_seeds: faithfulness: how many seeds, each with a separate model.
        targets: faithfulness: how many targets of each model and group everyone explains.
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

    @property
    def seeds_of_rivals(self) -> int:
        return min(self.seeds, self.rival_seeds or self.seeds)

    def compute(self, jobs: Sequence[Job], what: str) -> list[Any]:
        """Return the answers to jobs; see :func:`~.jobs.compute`."""
        return compute(jobs, self.place, self.workers, what)


@dataclass(frozen=True)
class Section:
    """A part of the page in Markdown, and its figures as plain values."""

    markdown: str
    results: Any
