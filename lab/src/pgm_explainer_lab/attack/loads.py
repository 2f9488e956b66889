"""Large loads: memory stays within what ``max_memory`` promises, at sizes drawn at random."""

from __future__ import annotations

import random
import subprocess
import sys

from ..benchmarks.load import CASES, MEGABYTE, allowed

FULL = len(CASES)
"""Each case of the benchmark once."""
MOST_CPU = 60.0
MOST_WALL = 3600.0
MOST_MEMORY = 800
_SIZES = (0.3, 1.0)
_BOUNDS = (32, 128)


def case(seed: int, number: int) -> str | None:
    """Run one load in a separate process; report memory above the limit."""
    chance = random.Random(f"loads {seed} {number}")
    name = list(CASES)[number % len(CASES)]
    size, bound = round(chance.uniform(*_SIZES), 2), chance.randint(*_BOUNDS)
    words = [name, str(size), str(bound)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", allowed.__module__, *words],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return f"{words}: {done.stderr[-500:]}"
    grown, most = float(done.stdout.split()[-2]), allowed(bound * MEGABYTE)
    if grown > most:
        return f"{words}: {grown / MEGABYTE:.0f} MB instead of {most / MEGABYTE:.0f} MB"
    return None
