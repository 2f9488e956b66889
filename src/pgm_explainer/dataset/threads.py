"""Limits torch, and the BLAS of NumPy and SciPy, to one thread.

The last bits of a sum depend on the number of threads, and engines differ in that: Ray sets
``OMP_NUM_THREADS`` for its workers, and a spawned process reads the environment again. Since the
workers run in parallel, each of them computes on one thread.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["blas_threads", "one_thread"]

_LINKED_TO_BLAS = ("numpy.linalg._umath_linalg", "scipy.linalg._fblas")
_BLAS_CALLS = (
    *(
        (f"{prefix}openblas_get_num_threads{suffix}", f"{prefix}openblas_set_num_threads{suffix}")
        for prefix in ("", "scipy_")
        for suffix in ("", "64_")
    ),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
)
"""Functions that get and set the number of threads in builds of OpenBLAS and MKL."""


_lock = threading.Lock()
_jobs = 0
_before: dict[str, int] = {}


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and, if it is loaded, torch to one thread.

    If jobs run in several threads of a process, the limits are lifted when the last one ends.
    """
    global _jobs
    with _lock:
        _jobs += 1
        for name, (get, set_to) in _counts().items():
            _before.setdefault(name, get())
            set_to(1)
    try:
        yield
    finally:
        with _lock:
            _jobs -= 1
            while not _jobs and _before:
                name, threads = _before.popitem()
                _counts()[name][1](threads)


def blas_threads() -> list[int]:
    """Return the number of threads that each BLAS library uses."""
    return [get() for get, _ in _blas().values()]


_Count = tuple[Callable[[], int], Callable[[int], Any]]
"""The functions that get and set the number of threads of a library."""


def _counts() -> dict[str, _Count]:
    torch = sys.modules.get("torch")
    if torch is None:
        return _blas()
    return {**_blas(), "torch": (torch.get_num_threads, torch.set_num_threads)}


@cache
def _blas() -> dict[str, _Count]:
    """Find the BLAS libraries that NumPy and SciPy are linked to."""
    found: dict[str, _Count] = {}
    for module in _LINKED_TO_BLAS:
        try:
            library = ctypes.CDLL(importlib.import_module(module).__file__)
        except (ImportError, OSError, TypeError):  # linked differently
            continue
        for get, set_to in _BLAS_CALLS:
            if hasattr(library, get) and hasattr(library, set_to):
                found[module] = getattr(library, get), getattr(library, set_to)
                break
    return found
