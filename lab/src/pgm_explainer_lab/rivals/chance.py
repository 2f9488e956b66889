"""A random ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from .base import Queries
from .case import Case

__all__ = ["Chance"]


@dataclass(frozen=True)
class Chance:
    """Ranks candidates in a random order that depends only on the seed and the target."""

    seed: int = 0
    name: str = "random"

    @property
    def queries(self) -> Queries:
        return Queries(forwards=0)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        for target in targets:
            place = () if target is None else (int(target),)
            rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=place))
            yield case.among_candidates(target, rng.random(len(case.x)))
