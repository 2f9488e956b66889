"""Timing, and rows of the table of results."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Row:
    """One claim: the measured value, the required value, and whether it is met."""

    what: str
    measured: str
    required: str
    met: bool

    def __str__(self) -> str:
        return (
            f"| {self.what} | {self.measured} | {self.required} | {'yes' if self.met else 'NO'} |"
        )


def timed(function: Callable[[], Result]) -> tuple[float, Result]:
    """Return the time of one run, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def seconds(function: Callable[[], Any], repeats: int = 1) -> float:
    """Return the median time of some runs."""
    return statistics.median(timed(function)[0] for _ in range(repeats))
