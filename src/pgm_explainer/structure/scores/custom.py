"""Custom scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import as_array, call_own, described
from ...choices import UserDefined
from ...errors import InputError
from ...limits import brief
from .base import Counts

__all__ = ["CustomScore"]


@dataclass(frozen=True)
class CustomScore(UserDefined):
    """A custom score with validated outputs."""

    score: Any

    @property
    def name(self) -> str:
        name = getattr(self.score, "name", None)
        return name if isinstance(name, str) else described(self.score)

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        usage = "terms(counts, cells) -> numbers, of the shape of counts"
        return self._numbers(self.score.terms, counts, cells, usage=usage, shape=counts.shape)

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        usage = "penalty(configurations, states, samples) -> numbers, one for each configuration"
        shape = np.broadcast_shapes(np.shape(configurations), np.shape(states))
        arguments = (configurations, states, samples)
        return self._numbers(self.score.penalty, *arguments, usage=usage, shape=shape)

    def _numbers(
        self, method: Any, *arguments: Any, usage: str, shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        called = f"the score {brief(self.name)}"
        answer = call_own(method, *arguments, what=called, usage=usage)
        numbers = as_array(answer, f"the output of {called}")
        if numbers.shape not in ((), shape) or not np.isfinite(numbers).all():
            raise InputError(
                f"{called} returned {brief(numbers)}; it is called as {usage}, all finite"
            )
        return np.broadcast_to(numbers.astype(np.float64), shape)
