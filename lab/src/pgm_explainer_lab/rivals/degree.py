"""A ranking by degree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from .base import Queries
from .case import Case

__all__ = ["Degree"]


@dataclass(frozen=True)
class Degree:
    """Ranks candidates by their number of edges, in and out, without calling the model."""

    name: str = "degree"

    @property
    def queries(self) -> Queries:
        return Queries(forwards=0)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        degrees = np.bincount(case.edge_index.ravel(), minlength=len(case.x)).astype(float)
        for target in targets:
            yield case.among_candidates(target, degrees)
