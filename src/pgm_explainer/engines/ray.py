"""The engine that runs tasks on a Ray cluster, local or remote."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..arrays import check_whole_number
from ..errors import InputError, JobError
from ..limits import brief
from .base import Answer, Lost, Prepare, Task, available_cores
from .ray_head import Head, check_address

__all__ = ["RayEngine"]

_POLL_SECONDS = 2.0
"""Seconds to wait for a result before checking that the cluster is still alive."""


@dataclass(frozen=True)
class RayEngine:
    """Distributes tasks over Ray actors (worker processes).

    The graph and the model are put into Ray's object store once, for all actors.

    Attributes:
        workers: number of actors; None for as many as the cluster has resources for.
        address: address of the cluster, such as ``"auto"`` or ``"ray://head:10001"``; None uses
            the cluster this process is connected to, or starts one on this machine.
        gpus: the number of GPUs for each actor; with a fraction such as 0.5, actors share a GPU.
            The function that creates the explainer must move the model to the GPU.

    Examples:
        >>> from pgm_explainer import RayEngine
        >>> RayEngine(workers=64, gpus=0.5).workers
        64
    """

    workers: int | None = None
    address: str | None = None
    gpus: float = 0

    def __post_init__(self) -> None:
        if self.workers is not None:
            check_whole_number(self.workers, "workers", at_least=1)
        if not isinstance(self.gpus, (int, float)) or not 0 <= self.gpus < float("inf"):
            raise InputError(f"gpus must be a number of at least 0, not {brief(self.gpus)}")

    def map(
        self, prepare: Prepare[Task, Answer], tasks: Iterable[Task]
    ) -> Iterator[Answer | Lost[Task]]:
        with self.cluster() as ray:
            try:
                stored = _put(ray, prepare)
                remote = ray.remote(num_cpus=1, num_gpus=self.gpus)(_Worker)
                # A reference is kept, for actors that replace dead ones.
                yield from _run(ray, lambda: remote.remote(stored), iter(tasks), self._count(ray))
            except (ray.exceptions.RayError, ConnectionError) as error:
                raise JobError(
                    f"the Ray cluster failed ({type(error).__name__}: {error}). Finished work "
                    f"is saved: run the job again"
                ) from error

    @contextmanager
    def cluster(self) -> Iterator[Any]:
        """Connect to the cluster, and stay connected for later jobs.

        Raises:
            JobError: Ray is not installed, does not start, or there is no cluster at the address.
        """
        try:
            import ray
        except ImportError as error:
            raise JobError(
                "the engine 'ray' needs Ray: pip install 'pgm-explainer[ray]'"
            ) from error
        if ray.is_initialized():
            yield ray
            return
        options: dict[str, Any] = {"address": self.address}
        if self.address is None:
            cores = max(self.workers or 0, available_cores())
            # Local workers get the import path of this process.
            paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            options = {"address": "local", "num_cpus": cores, "runtime_env": {"env_vars": paths}}
        else:
            check_address(self.address)
        try:
            ray.init(**options, include_dashboard=False, log_to_driver=False, logging_level="error")
        except Exception as error:  # a start that takes over 30 seconds is a plain Exception
            raise JobError(self._why_not_connected(error)) from error
        try:
            yield ray
        finally:
            ray.shutdown()

    def _why_not_connected(self, error: Exception) -> str:
        if self.address is not None:
            return f"no Ray cluster at {brief(self.address)}: {error}"
        return (
            f"Ray did not start on this machine ({error}). If the machine was busy, run the job "
            f"again; engine='processes' needs no Ray"
        )

    def _count(self, ray: Any) -> int:
        if self.workers is not None:
            return self.workers
        has = ray.cluster_resources()
        cores = has.get("CPU", 1)
        return max(1, int(min(cores, has.get("GPU", 0) / self.gpus) if self.gpus else cores))


class _Worker:
    """The code of an actor."""

    def __init__(self, prepare: Callable[[], Callable[[Any], Any]]) -> None:
        self._work = prepare()

    def work(self, task: Any) -> Any:
        return self._work(task)


def _put(ray: Any, prepare: Callable[[], Any]) -> Any:
    try:
        return ray.put(prepare)
    except (TypeError, ValueError, AttributeError) as error:
        raise JobError(
            f"the explainer cannot be sent to a cluster ({error}); pass a function that creates "
            f"it, such as 'my_module:make_explainer'"
        ) from error


def _run(
    ray: Any, create: Callable[[], Any], tasks: Iterator[Any], workers: int
) -> Iterator[Any | Lost[Any]]:
    pending: dict[Any, tuple[Any, Any]] = {}

    def submit(actor: Any, task: Any) -> None:
        actor = actor or create()
        pending[actor.work.remote(task)] = (actor, task)

    for _, task in zip(range(workers), tasks, strict=False):
        submit(None, task)
    head = Head.of(ray)
    while pending:
        answered = _first(ray, list(pending), head)
        actor, task = pending.pop(answered)
        answer = _answer(ray, answered, task)
        yield answer
        if isinstance(answer, Lost):
            actor = None
        for task in tasks:  # at most one
            submit(actor, task)
            break


def _first(ray: Any, pending: list[Any], head: Head) -> Any:
    """Return the first result, checking meanwhile that the cluster is alive."""
    while True:
        answered, _ = ray.wait(pending, num_returns=1, timeout=_POLL_SECONDS)
        if answered:
            return answered[0]
        head.check()


def _answer(ray: Any, answered: Any, task: Any) -> Any:
    errors = ray.exceptions
    try:
        return ray.get(answered)
    except errors.ActorDiedError as error:
        if "creation task" in str(error):
            raise JobError(f"a worker cannot be set up on the cluster: {error}") from error
        return Lost(task, "with its Ray actor")
    except (errors.ActorUnavailableError, errors.ObjectLostError, errors.NodeDiedError):
        return Lost(task, "with its machine of the Ray cluster")
    except errors.RayTaskError as error:
        raise JobError(f"the work failed on the cluster: {error}") from error
