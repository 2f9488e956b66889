"""The soak of ``benchmarks/soak.py``, one round of it: every fault once, and the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_job_that_everything_happens_to_ends_with_the_same_bytes():
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", "pgm_explainer_lab.benchmarks.soak", "--minutes", "0"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "1 rounds, 8 faults" in done.stdout
    assert done.stdout.rstrip().endswith("all byte-identical")
