"""The interface of an engine, to implement for other kinds of clusters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

__all__ = ["Engine", "Lost", "Prepare", "available_cores"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")

Prepare = Callable[[], Callable[[Task], Answer]]
"""A function that sets up a worker. It is called once in each worker, and returns the function that
does one task."""


@dataclass(frozen=True)
class Lost(Generic[Task]):
    """A task whose worker died; the caller decides whether to retry it.

    Attributes:
        reason: how the worker died, as text.
    """

    task: Task
    reason: str


class Engine(Protocol):
    """Runs tasks on workers. Engines are independent of explanations."""

    def map(
        self, prepare: Prepare[Task, Answer], tasks: Iterable[Task]
    ) -> Iterator[Answer | Lost[Task]]:
        """Yield the result of each task as it completes.

        If the worker of a task dies, :class:`~pgm_explainer.engines.Lost` is yielded instead, and
        the worker is replaced. A task is taken from ``tasks`` only when a worker is free, so there
        may be any number of tasks. Closing the iterator stops all workers.

        Raises:
            JobError: the work cannot be sent to the workers, or cannot be set up there.
        """
        ...


def available_cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
