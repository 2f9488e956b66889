"""Memory under load stays within what ``max_memory`` promises; the load itself is small here.

``pgm-explainer bench load`` measures the same at full size.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BOUND = 32  # megabytes
MOST = 1.5 * BOUND + 100

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak of a process"
)


@pytest.mark.parametrize(
    ("case", "size"),
    [
        ("hub", 0.1),
        ("hub, more samples", 0.04),
        ("hub, 3 layers", 0.1),
        ("beside a hub", 0.14),
        ("classes", 0.3),
        ("classes, GCN", 0.4),
        ("which features", 1.0),
        ("samples", 0.3),
        ("nodes and edges of a hub", 0.5),
        ("graphs", 0.05),
        ("samples of a hub, half perturbed", 0.2),
    ],
)
def test_memory_stays_within_the_bound(case, size):
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "pgm_explainer_lab.benchmarks.load",
        case,
        str(size),
        str(BOUND),
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    grown = float(run.stdout.split()[-2]) / 2**20
    assert grown <= MOST
