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

    Examples:
        >>> from pgm_explainer.engines import Lost
        >>> Lost(task=7, reason="the process was killed").reason
        'the process was killed'
    """

    task: Task
    reason: str


class Engine(Protocol):
    """Runs tasks on workers. Engines are independent of explanations.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> import tempfile
        >>> from pgm_explainer import LocalEngine, explain_dataset
        >>> folder = tempfile.mkdtemp()
        >>> engine = LocalEngine()
        >>> found = explain_dataset(explainer, None, f"{folder}/why", engine=engine, progress=False)
        >>> len(found)
        3
    """

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
