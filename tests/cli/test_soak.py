"""The soak of ``benchmarks/soak.py``, one small round of it: every fault once, and the same bytes.

``pgm-explainer bench soak`` is the long version, with a larger job.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEED = 292
"""Its order has all signals before the job is done, and the damage after files were written."""


def test_a_job_that_everything_happens_to_ends_with_the_same_bytes():
    first = [str(ROOT / "src"), str(ROOT / "tests" / "importable")]
    done = subprocess.run(
        [sys.executable, "-m", "soaked", "--minutes", "0", "--seed", str(SEED)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*first, *filter(None, sys.path)])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "1 rounds, 8 faults" in done.stdout
    *_, same, met = done.stdout.splitlines()
    assert same.endswith("all byte-identical")
    assert met == "engines: local processes; signals that met a job: 3"


def test_its_own_explainer_works():
    soak = pytest.importorskip("pgm_explainer_lab.benchmarks.soak")
    assert soak.make_explainer().explain(0).effects is not None
