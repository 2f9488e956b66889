"""The engine that runs tasks in several processes on this machine.

Each process has its own copy of the model, but all share the memory of large arrays. The executors
of the standard library are not used, because one process that dies breaks the whole executor.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection, reduction
from typing import IO, Any, Generic

from ..arrays import check_whole_number
from ..errors import JobError, PGMExplainerError
from .base import Answer, Lost, Prepare, Task, available_cores

__all__ = ["ProcessEngine"]

_ALIGNED = 64
_MAX_FAILED_STARTS = 5
"""After this many processes in a row that died before they were ready, the job ends."""
_JOIN_SECONDS = 2.0
"""How long to wait for a process to end before it is killed."""


@dataclass(frozen=True)
class ProcessEngine:
    """Distributes tasks over processes of this machine; a process that dies is replaced.

    Attributes:
        workers: number of processes; None for one per core.

    Examples:
        >>> from pgm_explainer import ProcessEngine
        >>> ProcessEngine(workers=4)
        ProcessEngine(workers=4)
    """

    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            check_whole_number(self.workers, "workers", at_least=1)

    def map(
        self, prepare: Prepare[Task, Answer], tasks: Iterable[Task]
    ) -> Iterator[Answer | Lost[Task]]:
        workers = self.workers or available_cores()
        with tempfile.TemporaryFile() as file:
            pool: _Pool[Task] = _Pool(_SharedPickle(prepare, file))
            try:
                yield from pool.run(iter(tasks), workers)
            finally:
                pool.stop()


@dataclass
class _Worker(Generic[Task]):
    process: Any
    pipe: Any
    task: Task
    ready: bool = False


@dataclass
class _Pool(Generic[Task]):
    """The running processes, each with one task; a process without a task is stopped."""

    setup: _SharedPickle
    busy: dict[Any, _Worker[Task]] = field(default_factory=dict)
    failed_starts: int = 0

    def run(self, tasks: Iterator[Task], workers: int) -> Iterator[Any]:
        for _, task in zip(range(workers), tasks, strict=False):
            self.start(task)
        while self.busy:
            for pipe in connection.wait(list(self.busy)):
                worker = self.busy[pipe]
                answer = self.receive(worker)
                if answer is _READY:
                    continue
                yield answer
                for task in tasks:  # at most one
                    self.assign(worker, task)
                    break
                else:
                    self.finish(worker)

    def start(self, task: Task) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self.setup), daemon=True)
        # The new process inherits the blocked signal, so that Ctrl-C reaches only this process.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self.busy[ours] = _Worker(process, ours, task)
        with suppress(OSError):  # it has already died; this is handled when receiving its result
            ours.send(task)

    def assign(self, worker: _Worker[Task], task: Task) -> None:
        """Give the next task to a worker, or to its replacement if it has died."""
        if worker.pipe not in self.busy:
            self.start(task)
            return
        worker.task = task
        with suppress(OSError):
            worker.pipe.send(task)

    def receive(self, worker: _Worker[Task]) -> Any:
        """Return the result of a worker, ``_READY`` if it is set up, or its lost task."""
        try:
            kind, answer = worker.pipe.recv()
        except (EOFError, OSError):
            return self.remove(worker)
        if kind == "failed":
            raise JobError(f"the work failed in another process: {answer}")
        if kind == "ready":
            worker.ready, self.failed_starts = True, 0
            return _READY
        return answer

    def remove(self, worker: _Worker[Task]) -> Lost[Task]:
        """Remove a worker that has died, and return its task."""
        del self.busy[worker.pipe]
        worker.pipe.close()
        worker.process.join()
        reason = _exit_words(worker.process.exitcode)
        self.failed_starts += not worker.ready
        if self.failed_starts >= _MAX_FAILED_STARTS:
            raise JobError(
                f"{_MAX_FAILED_STARTS} processes in a row died during start-up, the last one "
                f"{reason}. Check that there is enough memory for one model per process. A script "
                f"that starts a job must do so under if __name__ == '__main__', because the "
                f"processes import it"
            )
        return Lost(worker.task, reason)

    def finish(self, worker: _Worker[Task]) -> None:
        """End a worker for which there is no task."""
        if self.busy.pop(worker.pipe, None):
            worker.pipe.close()  # signals that there are no more tasks
            worker.process.join(_JOIN_SECONDS)

    def stop(self) -> None:
        """Terminate all running processes and wait for them."""
        for worker in self.busy.values():
            worker.process.terminate()
        for worker in self.busy.values():
            worker.process.join(_JOIN_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.pipe.close()


_READY = object()


def _exit_words(exitcode: int) -> str:
    if exitcode >= 0:
        return f"by exit code {exitcode}"
    return f"by signal {-exitcode} ({signal.Signals(-exitcode).name})"


class _SharedPickle:
    """The setup function, with its arrays in one file that all processes map into memory.

    The file has no name, so the system deletes it when the last process closes it.
    """

    def __init__(self, prepare: Callable[[], Any], file: IO[bytes]) -> None:
        buffers: list[pickle.PickleBuffer] = []
        try:
            self._head = pickle.dumps(prepare, protocol=5, buffer_callback=buffers.append)
        except Exception as error:  # the object's methods may raise anything
            raise JobError(
                f"the explainer cannot be sent to another process ({type(error).__name__}: "
                f"{error}); use functions and classes defined in a module, or give a function "
                f"that makes the explainer, such as 'my_module:make_explainer'"
            ) from error
        self._file = file
        self._places = [_append(file, buffer.raw()) for buffer in buffers]
        file.flush()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # Only pickled when a process is started, because then a file descriptor can be passed on.
        return _unpacked, (self._head, self._places, reduction.DupFd(self._file.fileno()))


def _append(file: IO[bytes], raw: memoryview) -> tuple[int, int]:
    start = -(-file.tell() // _ALIGNED) * _ALIGNED
    file.seek(start)
    file.write(raw)
    return start, start + raw.nbytes


def _unpacked(head: bytes, places: list[tuple[int, int]], handle: Any) -> Any:
    descriptor = handle.detach()
    empty = not any(stop for _, stop in places)
    whole = memoryview(b"" if empty else mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
    os.close(descriptor)
    return pickle.loads(head, buffers=[whole[start:stop] for start, stop in places])


def _serve(pipe: Any, prepare: Callable[[], Callable[[Any], Any]]) -> None:
    """Run the worker: do tasks until there are no more, or the parent process is gone."""
    try:
        work = prepare()
        pipe.send(("ready", None))
        while True:
            pipe.send(("done", work(pipe.recv())))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except PGMExplainerError as error:
        pipe.send(("failed", str(error)))
    except Exception as error:  # an error in the setup is reported to the parent
        pipe.send(("failed", f"{type(error).__name__}: {error}"))
