"""Memory under load stays within what ``max_memory`` promises; the load itself is small here.

``pgm-explainer bench load`` measures the same at full size. Where the most is less than ``MOST``,
a call without the bound was measured to exceed it: it takes 96 MB (hub), 122 MB (hub, more samples)
and 102 MB (which features). Elsewhere it does not at this size, and what would exceed the most is
whatever takes all samples of all nodes, or of all targets, at once or in several copies.
"""

from __future__ import annotations

import os
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


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Measure a case in a fork of one process, since the imports take longer than most cases."""
    errors = tmp_path_factory.mktemp("load") / "errors.txt"
    paths = os.pathsep.join([str(ROOT / "tests" / "importable"), *filter(None, sys.path)])
    with (
        errors.open("w") as file,
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "loads"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        ) as process,
    ):

        def measure(*arguments):
            process.stdin.write("\t".join(map(str, arguments)) + "\n")
            process.stdin.flush()
            lines = [process.stdout.readline()]
            while lines[-1] and not lines[-1].startswith("exit code"):
                lines.append(process.stdout.readline())
            assert lines[-1] == "exit code 0\n", errors.read_text()
            return float(lines[-2].split()[-2]) / 2**20

        yield measure


@pytest.mark.parametrize(
    ("case", "size", "most"),
    [
        ("hub", 0.1, 60),
        ("hub, more samples", 0.04, 60),
        ("hub, 3 layers", 0.1, MOST),
        ("beside a hub", 0.03, MOST),
        ("classes", 0.3, MOST),
        ("classes, GCN", 0.4, MOST),
        ("which features", 1.0, 80),
        ("samples", 0.3, MOST),
        ("nodes and edges of a hub", 0.5, MOST),
        ("graphs", 0.05, MOST),
        ("samples of a hub, half perturbed", 0.2, MOST),
    ],
)
def test_memory_stays_within_the_bound(measured, case, size, most):
    assert measured(case, size, BOUND) <= most
