"""What an engine is: the one thing to write for another kind of machinery."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

__all__ = ["Engine", "Lost", "Prepare", "available_cores"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")

Prepare = Callable[[], Callable[[Task], Answer]]
"""Makes a worker ready, once in each: loads what it needs and returns the work on one task."""


@dataclass(frozen=True)
class Lost(Generic[Task]):
    """A task whose worker died over it; whether it goes to another is not the engine's business.

    Attributes:
        reason: how the worker died, in words.
    """

    task: Task
    reason: str


class Engine(Protocol):
    """Does tasks somewhere. Engines know nothing of explanations."""

    def map(
        self, prepare: Prepare[Task, Answer], tasks: Iterable[Task]
    ) -> Iterator[Answer | Lost[Task]]:
        """Yield the answer to each task as it comes, in any order; each once, or as lost.

        Tasks are taken up as workers become free, so there may be any number of them. A worker
        that dies is replaced. Closing the iterator stops all workers.

        Raises:
            JobError: the work cannot be sent to the workers, or cannot be made ready there.
        """
        ...


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
