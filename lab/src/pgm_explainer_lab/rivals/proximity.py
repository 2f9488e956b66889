"""A ranking by proximity to the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from .base import Queries
from .case import Case

__all__ = ["Proximity"]


@dataclass(frozen=True)
class Proximity:
    """Ranks candidates by visits of random walks from the target, without calling the model."""

    name: str = "proximity"

    @property
    def queries(self) -> Queries:
        return Queries(forwards=0)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        for target in targets:
            importance = np.full(len(case.x), -np.inf)
            importance[case.candidates(target)] = case.visits(target)
            yield importance
