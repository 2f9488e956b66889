"""Timing, and rows of the table of results."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")
_CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Row:
    """What was measured, and the result."""

    what: str
    measured: str

    def __str__(self) -> str:
        return f"| {self.what} | {self.measured} |"


def processor() -> str:
    """Return the name of the processor, as the system gives it."""
    lines = _CPUINFO.read_text().splitlines() if _CPUINFO.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown processor")


def timed(function: Callable[[], Result]) -> tuple[float, Result]:
    """Return the time of one run, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def seconds(function: Callable[[], Any], repeats: int = 1) -> float:
    """Return the median time of some runs."""
    return statistics.median(timed(function)[0] for _ in range(repeats))
