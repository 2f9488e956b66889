"""This process: nothing to start, nothing to serve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .base import Answer, Prepare, Task

__all__ = ["LocalEngine"]


@dataclass(frozen=True)
class LocalEngine:
    """Does one task after the other, here.

    Examples:
        >>> list(LocalEngine().map(lambda: lambda task: task + 1, [1, 2]))
        [2, 3]
    """

    def map(self, prepare: Prepare[Task, Answer], tasks: Iterable[Task]) -> Iterator[Answer]:
        return map(prepare(), tasks)
