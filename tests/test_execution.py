from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from pgm_explainer import InputError, execution
from pgm_explainer.execution import available_memory, check_memory, release_free_memory


@pytest.mark.parametrize(
    ("limit", "size"),
    [
        (1, 1),
        (np.int64(4096), 4096),
        (1e9, 10**9),
        ("12", 12),
        ("3KB", 3 * 2**10),
        ("3 kib", 3 * 2**10),
        (" 1.5M ", 3 * 2**19),
        ("2 GB", 2**31),
        ("1T", 2**40),
    ],
)
def test_bounds_are_read_as_bytes(limit, size):
    assert check_memory(limit) == size


@pytest.mark.parametrize(
    "limit",
    [
        0,
        -1,
        True,
        "",
        "0",
        "0.2",
        "-2GB",
        "2XB",
        "GB",
        "lots",
        float("nan"),
        float("inf"),
        [],
        b"2",
    ],
)
def test_a_bound_that_is_none_is_named(limit):
    with pytest.raises(InputError, match=re.escape(repr(limit))):
        check_memory(limit)


@pytest.mark.parametrize(
    "limit", [2**70, 10**400, "9" * 400 + "GB", 1e16], ids=["2**70", "10**400", "text", "1e16"]
)
def test_a_bound_beyond_any_memory_is_no_bound(limit):
    assert 2**50 < check_memory(limit) < 2**63


def test_none_is_a_quarter_of_what_is_free(monkeypatch):
    monkeypatch.setattr(execution, "available_memory", lambda: 4000)
    assert check_memory(None) == 1000


def test_free_memory_is_read_from_the_system(monkeypatch, tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  9 kB\nMemAvailable:    7 kB\n")
    monkeypatch.setattr(execution, "_MEMINFO", meminfo)
    assert available_memory() == 7 * 1024


def test_without_meminfo_there_is_still_an_answer(monkeypatch, tmp_path):
    monkeypatch.setattr(execution, "_MEMINFO", tmp_path / "absent")
    assert available_memory() > 2**20


@pytest.mark.skipif(
    not Path("/proc/self/status").exists() or not hasattr(ctypes.CDLL(None), "malloc_trim"),
    reason="needs glibc",
)
def test_freed_memory_is_returned_to_the_system():
    """Freed blocks below one that is still in use stay in the process without it."""

    def resident():
        found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())
        return int(found[1]) // 1024

    blocks = [bytearray(b"x" * 100_000) for _ in range(1000)]
    last = bytearray(b"x" * 100_000)
    blocks.clear()
    before = resident()
    release_free_memory()
    assert before - resident() > 50
    assert len(last) == 100_000


@pytest.mark.parametrize(
    ("running", "own", "free"), [("1/300", "R", 4), ("3/300", "R", 2), ("9/300", "S", 1)]
)
def test_processors_of_other_programs_are_not_free(monkeypatch, tmp_path, running, own, free):
    task = tmp_path / "self" / "task" / "7"
    task.mkdir(parents=True)
    (tmp_path / "loadavg").write_text(f"0.1 0.2 0.3 {running} 77\n")
    (task / "stat").write_text(f"7 (a) b) {own} 1 2 3")
    monkeypatch.setattr(execution, "_PROC", tmp_path)
    monkeypatch.setattr(execution._Found, "at", float("-inf"))
    monkeypatch.setattr(execution.os, "cpu_count", lambda: 4)
    assert execution.free_processors() == free
    monkeypatch.setattr(execution._Found, "at", float("-inf"))
    monkeypatch.setattr(execution, "_PROC", tmp_path / "absent")  # another system
    assert execution.free_processors() == 4
