"""The number of threads changes no byte: every worker computes on one."""

import numpy as np
import pytest
from job_models import explainer, threaded

from pgm_explainer.dataset import explain_dataset
from pgm_explainer.dataset.threads import blas_threads, one_thread
from pgm_explainer.engines import ProcessEngine


def content(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "shards").iterdir())}


def test_blas_and_torch_use_one_thread_during_a_job():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads(), blas_threads()
    assert blas_threads(), "the OpenBLAS of NumPy wheels can be configured"
    with one_thread():
        assert (torch.get_num_threads(), set(blas_threads())) == (1, {1})
        np.ones((100, 100)) @ np.ones((100, 100))
    assert (torch.get_num_threads(), blas_threads()) == before


def test_overlapping_jobs_restore_the_original_threads():
    before = blas_threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_workers_with_another_number_of_threads_give_the_same_bytes(tmp_path, monkeypatch):
    """As in Ray, which sets OMP_NUM_THREADS for its workers."""
    explain_dataset(explainer(threaded), range(8), tmp_path / "here")
    for number in ("1", "3"):
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            monkeypatch.setenv(name, number)
        folder = tmp_path / number
        explain_dataset(explainer(threaded), range(8), folder, engine=ProcessEngine(1))
        assert content(folder) == content(tmp_path / "here")
