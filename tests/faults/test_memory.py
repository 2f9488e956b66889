"""Failed allocations at many moments: a package error or MemoryError, and nothing half-done."""

import sys
from contextlib import suppress

import numpy as np
import pytest
from faulty_disk import leftovers
from job_models import exact_explainer

from pgm_explainer import PGMExplainerError
from pgm_explainer.dataset import ExplanationDataset, explain_dataset
from pgm_explainer.io import explanation_to_dict

TAKERS = (
    *("empty", "zeros", "ones", "full", "array", "concatenate", "stack", "repeat", "unique"),
    *("arange", "where", "empty_like", "full_like", "ascontiguousarray", "einsum", "bincount"),
)
MOMENTS = 40


class Starved:
    """Memory that is short once: when the package takes some for the n-th time."""

    def __init__(self, at):
        self.at, self.taken = at, 0

    def installed(self, patch):
        for name in TAKERS:
            patch.setattr(np, name, self._counting(getattr(np, name)))
        return self

    def _counting(self, take):
        def call(*arguments, **options):
            if sys._getframe(1).f_globals.get("__name__", "").startswith("pgm_explainer"):
                self.taken += 1
                if self.taken == self.at:
                    raise MemoryError(f"taking number {self.at}")
            return take(*arguments, **options)

        return call


def moments(work):
    """Some moments, spread over all that there are in some work."""
    with pytest.MonkeyPatch.context() as patch:
        counted = Starved(0).installed(patch)
        work()
    assert counted.taken > MOMENTS
    return np.unique(np.linspace(1, counted.taken, MOMENTS).astype(int)).tolist()


def test_an_explainer_recovers_from_a_failed_allocation():
    def explain(explainer):
        return [explanation_to_dict(each) for each in explainer.explain_many([3, 7, 31])]

    right, failed = explain(exact_explainer()), 0
    for at in moments(lambda: explain(exact_explainer())):
        starved = exact_explainer()
        with pytest.MonkeyPatch.context() as patch:
            Starved(at).installed(patch)
            try:
                exact_explainer()
                assert explain(starved) == right
            except (MemoryError, PGMExplainerError):
                failed += 1
        assert explain(starved) == right
    assert failed > MOMENTS // 2


def run(folder, **options):
    return explain_dataset(exact_explainer(), range(6), folder, shard_size=2, **options)


def content(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "shards").glob("*.parquet"))}


def test_a_job_that_had_no_memory_ends_with_the_same_bytes(tmp_path):
    """A target that failed from lack of memory is recorded as failed, and retried on request."""
    run(tmp_path / "whole")
    right = {each.target: each for each in ExplanationDataset(tmp_path / "whole")}
    for at in moments(lambda: run(tmp_path / "counted")):
        folder = tmp_path / str(at)
        with pytest.MonkeyPatch.context() as patch:
            Starved(at).installed(patch)
            with suppress(MemoryError, PGMExplainerError):
                run(folder)
        assert not leftovers(tmp_path)
        if (folder / "job.json").exists():
            data = ExplanationDataset(folder)
            assert all(each == right[each.target] for each in data)
            assert all("MemoryError" in each for each in data.failures().values())
        run(folder, retry_failed=True)
        assert content(folder) == content(tmp_path / "whole")
