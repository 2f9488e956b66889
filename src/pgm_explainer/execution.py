"""Execution options, which cannot change an explanation; free memory and processors."""

from __future__ import annotations

import ctypes
import os
import re
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

from .arrays import check_optional_flag, check_whole_number
from .errors import InputError
from .limits import brief

__all__ = [
    "ExecutionConfig",
    "available_memory",
    "check_memory",
    "free_processors",
    "in_blocks",
    "one_ahead",
    "readable",
    "release_free_memory",
]

_BYTES_PER_CELL = 64
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PROC = Path("/proc")
_MEMINFO = _PROC / "meminfo"
_PROCESSORS_VALID = 0.25
"""The number of free processors is counted again after this many seconds."""
_END: Any = object()
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class ExecutionConfig:
    """Memory, batch and progress options; not part of an explanation's settings.

    Attributes:
        max_memory: memory for samples, in bytes or as a string such as ``"2GB"``; None for a
            quarter of the free memory. Half of it is for the batch that the model is called on, a
            quarter for recorded samples. Records beyond that go to temporary files.
        samples_per_call: how many samples the model is called on at once; None to derive it from
            ``max_memory``.
        progress: whether to show a progress bar; None shows it only in a terminal or notebook.

    Raises:
        InputError: invalid value.
    """

    max_memory: int | str | None = None
    samples_per_call: int | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.max_memory is not None:
            object.__setattr__(self, "max_memory", check_memory(self.max_memory))
        if self.samples_per_call is not None:
            count = check_whole_number(self.samples_per_call, "samples_per_call", at_least=1)
            object.__setattr__(self, "samples_per_call", count)
        check_optional_flag(self.progress, "progress")

    @cached_property
    def memory(self) -> int:
        """The memory limit in bytes; measured once if none was given."""
        return check_memory(self.max_memory)

    @property
    def cells(self) -> int:
        """How many cells of contingency tables are held at once."""
        return min(max(self.memory // _BYTES_PER_CELL, 1 << 20), 1 << 22)


def available_memory() -> int:
    """Return an estimate of the bytes that can be allocated without swapping."""
    if _MEMINFO.exists():
        found = re.search(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text())
        if found:
            return int(found[1]) * 1024
    try:  # other Unix systems report only the total memory
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 4 * _UNITS["G"]


class _Found:
    """The number of free processors that was found last, and when."""

    at, found = float("-inf"), 1


def free_processors() -> int:
    """Return how many processors are not used by other programs, at least 1.

    The threads of an operation wait for each other. If one of them shares its processor with
    another program, all of them wait for it in every operation, and a model may take several times
    as long. Using one thread fewer is then faster.

    On systems other than Linux, running threads cannot be counted, so all processors are returned.
    """
    now = time.monotonic()
    if now - _Found.at > _PROCESSORS_VALID:
        _Found.at, _Found.found = now, max(1, _processors() - _running_elsewhere())
    return _Found.found


def _processors() -> int:
    return os.cpu_count() or 1


def _running_elsewhere() -> int:
    """Return the number of threads that are running now and do not belong to this process."""
    try:
        running = int((_PROC / "loadavg").read_text().split()[3].split("/")[0])
        return max(0, running - max(1, _own_running())) if running > 1 else 0
    except (OSError, ValueError, IndexError):
        return 0


def _own_running() -> int:
    """Return the number of running threads of this process; idle ones may wait in a loop."""
    count = 0
    for task in (_PROC / "self" / "task").iterdir():
        with suppress(OSError, IndexError):  # the thread may have ended
            count += (task / "stat").read_text().rpartition(")")[2].split()[0] == "R"
    return count


def check_memory(limit: int | str | None) -> int:
    """Return a memory limit in bytes; None means a quarter of the free memory.

    Examples:
        >>> check_memory("2 GB")
        2147483648
    """
    if limit is None:
        return available_memory() // 4
    if isinstance(limit, float) and isfinite(limit) and limit == int(limit):
        limit = int(limit)
    said = str(limit) if isinstance(limit, (str, Real)) else ""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", said, re.IGNORECASE)
    amount = float(found[1]) if found else 0.0
    size = int(min(amount * _UNITS[found[2].upper()], 2**62)) if found else 0
    if isinstance(limit, bool) or size <= 0:
        raise InputError(
            f"max_memory must be a number of bytes or a string such as '2GB', not {brief(limit)}"
        )
    return size


def release_free_memory() -> None:
    """Return freed memory to the system, where the C library can (glibc).

    The C library keeps freed arrays of up to 32 MB for reuse. If later arrays do not fit into the
    gaps, the process can grow to several times the memory in use.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def one_ahead(items: Iterator[Item], in_thread: bool = True) -> Iterator[Item]:
    """Yield items; while the caller uses one, a thread computes the next.

    Args:
        in_thread: if False, each item is computed when it is needed.

    Examples:
        >>> list(one_ahead(iter(range(3))))
        [0, 1, 2]
    """
    if not in_thread:
        yield from items
        return
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, items, _END)
            yield item


def in_blocks(
    items: Iterable[tuple[Item, int]], most_items: int, most: int
) -> Iterator[list[Item]]:
    """Group items with their sizes; a block is full at ``most_items`` or a total size of ``most``.

    Examples:
        >>> list(in_blocks([("a", 5), ("b", 1), ("c", 1), ("d", 1)], most_items=2, most=5))
        [['a'], ['b', 'c'], ['d']]
    """
    block: list[Item] = []
    total = 0
    for item, size in items:
        block.append(item)
        total += size
        if total >= most or len(block) == most_items:
            yield block
            block, total = [], 0
    if block:
        yield block


def readable(size: float) -> str:
    """Return a number of bytes as text in a suitable unit.

    Examples:
        >>> readable(2**31), readable(1536), readable(7)
        ('2.0 GB', '1.5 KB', '7 B')
    """
    for unit in ("T", "G", "M", "K"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.1f} {unit}B"
    return f"{size:.0f} B"
