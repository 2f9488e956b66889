"""The soak of ``benchmarks/soak.py`` with a small job, for ``tests/cli/test_soak.py``.

The job has as many files as there, but fewer targets, and a model that imports neither PyTorch nor
Matplotlib, since that took most of the time of every process. Run as a program, it also prints how
many jobs each engine had, and how many signals met a job that was still running.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

MODEL = "pgm_explainer_lab.benchmarks.soak:make_explainer"


def make_explainer():
    from job_models import explainer

    os.environ["JOB_MODELS_SLEEP"] = "0.05"  # so that there is something to stop
    return explainer()


def main() -> int:
    from pgm_explainer_lab.benchmarks import soak

    engines, signals = Counter(), Counter()

    def popen(command, **options):
        engines[command[command.index("--engine") + 1]] += 1
        command[command.index(MODEL)] = "soaked:make_explainer"
        return subprocess.Popen(command, **options)

    def killpg(group, number):  # the soak asks first whether the job still runs
        signals[number] += 1
        os.killpg(group, number)

    soak.Round.num_targets, soak.Round.shard_size, soak.Round.longest_wait = 40, 2, 1.0
    soak.subprocess = SimpleNamespace(
        **{name: getattr(subprocess, name) for name in ("DEVNULL", "PIPE")}, Popen=popen
    )
    soak.os = SimpleNamespace(
        **{name: getattr(os, name) for name in ("kill", "readlink", "scandir")}, killpg=killpg
    )
    code = soak.main()
    said = f"engines: {' '.join(sorted(engines))}; signals that met a job: {signals.total()}"
    sys.stdout.write(f"{said}\n")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
