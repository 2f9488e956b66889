"""One thread for whatever computes: torch, and the BLAS of NumPy and SciPy.

The last bits of a sum depend on how many threads share it, and engines differ in that: Ray sets
``OMP_NUM_THREADS`` for its workers, a spawned process reads the environment anew. Workers are what
is parallel, so each of them computes on one thread, wherever it runs.
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
"""How OpenBLAS, as NumPy and SciPy or a system build it, and MKL are asked and told."""


_lock = threading.Lock()
_jobs = 0
_before: dict[str, int] = {}


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch, if it is loaded, and BLAS work on one thread meanwhile.

    Where jobs run in several threads of a process, all is put back when the last of them ends.
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
    """Return how many threads each BLAS library uses now."""
    return [get() for get, _ in _blas().values()]


_Count = tuple[Callable[[], int], Callable[[int], Any]]
"""How a number of threads is read, and set."""


def _counts() -> dict[str, _Count]:
    torch = sys.modules.get("torch")
    if torch is None:
        return _blas()
    return {**_blas(), "torch": (torch.get_num_threads, torch.set_num_threads)}


@cache
def _blas() -> dict[str, _Count]:
    """Find the libraries that NumPy and SciPy are linked to; a name is looked up in them too."""
    found: dict[str, _Count] = {}
    for module in _LINKED_TO_BLAS:
        try:
            library = ctypes.CDLL(importlib.import_module(module).__file__)
        except (ImportError, OSError, TypeError):  # linked in another way
            continue
        for get, set_to in _BLAS_CALLS:
            if hasattr(library, get) and hasattr(library, set_to):
                found[module] = getattr(library, get), getattr(library, set_to)
                break
    return found
