"""Results are the same with the kernels of other processors.

A process chooses its kernels when it starts, so each set of kernels needs a separate process. Those
of OpenBLAS (NumPy), PyTorch and MKL are combined as on a processor of that generation.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

IMPORTABLE = Path(__file__).parents[1] / "importable"
KERNELS = {
    "Prescott": ("default", "SSE4_2"),
    "Nehalem": ("default", "SSE4_2"),
    "Haswell": ("avx2", "AVX2"),
    "SkylakeX": ("avx512", "AVX512"),
}
"""Of OpenBLAS, with those of PyTorch and of MKL that go with them."""


def processor_has(flag):
    path = Path("/proc/cpuinfo")
    return path.exists() and f" {flag} " in path.read_text().replace("\n", " ")


NEEDED = {"Haswell": "avx2", "SkylakeX": "avx512f"}


@pytest.mark.parametrize(
    ("core", "threads"),
    [
        *(("Prescott", 1), ("Nehalem", 2), ("Haswell", 1), ("Haswell", 2)),
        *(("SkylakeX", 1), ("SkylakeX", 2)),
    ],
)
def test_explanations_and_jobs_are_the_same_under_every_kernel(core, threads):
    if core in NEEDED and not processor_has(NEEDED[core]):
        pytest.skip(f"this processor has no {NEEDED[core]}")
    aten, mkl = KERNELS[core]
    environment = {
        **os.environ,
        "OPENBLAS_CORETYPE": core,
        "ATEN_CPU_CAPABILITY": aten,
        "MKL_ENABLE_INSTRUCTIONS": mkl,
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "PYTHONPATH": os.pathsep.join([str(IMPORTABLE), *filter(None, sys.path)]),
    }
    done = subprocess.run(
        [sys.executable, "-m", "sameness", str(threads)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "the same\n"
