"""The engine that runs tasks in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .base import Answer, Prepare, Task

__all__ = ["LocalEngine"]


@dataclass(frozen=True)
class LocalEngine:
    """Runs tasks one after the other in this process.

    Examples:
        >>> list(LocalEngine().map(lambda: lambda task: task + 1, [1, 2]))
        [2, 3]
    """

    def map(self, prepare: Prepare[Task, Answer], tasks: Iterable[Task]) -> Iterator[Answer]:
        return map(prepare(), tasks)
