"""The same explanations alone, with other targets, in batches of any size and from a killed job.

Run as a program by ``tests/kernels``, in a separate process for each set of kernels: those of
OpenBLAS and of PyTorch are chosen when they are loaded.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from job_models import exact_explainer, ring

from pgm_explainer import PGMExplainer, PGMExplainerWarning, explain_dataset
from pgm_explainer.engines import LocalEngine, Lost, ProcessEngine
from pgm_explainer.io import explanation_to_dict

TARGETS = [0, 7, 8, 31, 50]
BATCHES = [1, 7, 60]
KILL = "SAMENESS_KILL"


def gcn_explainer(**options) -> PGMExplainer:
    import torch
    from torch_geometric.nn import GCN  # here, since it takes a worker seconds

    torch.manual_seed(0)
    module = GCN(3, 16, num_layers=2, out_channels=3)
    return PGMExplainer(module, *ring(), **{"num_samples": 60, **options})


def mortal_explainer() -> PGMExplainer:
    """A module that kills the first worker that calls it."""
    import torch

    class Mortal(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.own, self.others = torch.nn.Linear(3, 16), torch.nn.Linear(16, 3)

        def forward(self, x, edge_index):
            if multiprocessing.parent_process() is not None and _taken(os.environ[KILL]):
                os.kill(os.getpid(), signal.SIGKILL)
            hidden = torch.tanh(self.own(x))
            return self.others(hidden.index_add(-2, edge_index[1], hidden[..., edge_index[0], :]))

    return PGMExplainer(Mortal(), *ring(), num_layers=1, num_samples=60)


def _taken(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


class Dies:
    """An engine whose workers die on one target a given number of times."""

    def __init__(self, target: int, times: int) -> None:
        self.target, self.times = target, times

    def map(self, prepare, tasks):
        for task in tasks:
            if self.times and self.target in task.targets:
                self.times -= 1
                yield Lost(task, "by chance")
            else:
                yield from LocalEngine().map(prepare, [task])


def compared(explanation, exactly: bool):
    """The content of an explanation; without values from outputs for a model that rounds."""
    document = explanation_to_dict(explanation)
    if not exactly:
        for name in ("values", "probability", "sample_mean", "thresholds", "effects", "warnings"):
            del document[name]
    return document


def numbers(explanation):
    """What the model's answers make: the prediction, and the effect of each node on it."""
    effects = explanation.effects
    order = np.argsort(effects.nodes)
    columns = (effects.effect, effects.low, effects.high, effects.strength, effects.log_p)
    outcomes = [*explanation.values, explanation.sample_mean, *explanation.thresholds]
    return np.concatenate([outcomes, *(column[order] for column in columns)])


def check_explanations(make, exactly: bool) -> None:
    """Compare each explanation alone with those from groups and from other batch sizes."""
    alone = [make().explain(target) for target in TARGETS]
    others = [make().explain_many(TARGETS)]
    others += [make(samples_per_call=size).explain_many(TARGETS[:2]) for size in BATCHES]
    for group in others:
        for one, other in zip(alone, group, strict=False):
            assert compared(one, exactly) == compared(other, exactly), f"target {one.target}"
            assert one.nodes == other.nodes
            np.testing.assert_allclose(numbers(one), numbers(other), rtol=1e-5, atol=1e-5)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "shards").iterdir())}


def check_job(explainer, folder: Path, engine) -> None:
    """Compare the bytes of a job left in peace with those from another engine."""
    options = {"targets": range(12), "shard_size": 6}
    explain_dataset(explainer, folder=folder / "whole", **options)
    explain_dataset(explainer, folder=folder / "other", engine=engine, **options)
    assert content(folder / "other") == content(folder / "whole"), f"{explainer} by {engine}"


def main(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
    warnings.simplefilter("ignore", PGMExplainerWarning)
    check_explanations(exact_explainer, exactly=True)
    check_explanations(gcn_explainer, exactly=False)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_job(exact_explainer, folder / "exact", Dies(3, times=5))
        check_job(gcn_explainer, folder / "gcn", Dies(3, times=2))
        kill = folder / "kill"
        kill.touch()
        os.environ[KILL] = str(kill)
        check_job("sameness:mortal_explainer", folder / "mortal", ProcessEngine(2))
        assert not kill.exists(), "no worker was killed"
    sys.stdout.write("the same\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
