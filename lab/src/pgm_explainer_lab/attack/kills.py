"""Kills and interrupts at random moments, of jobs and inside calls.

A job is killed, interrupted or loses its workers three times and is then finished: its data set
must be byte-identical to that of an undisturbed job, and the user's own files in its folder must be
unchanged. A call that is interrupted must leave the model and all random states unchanged.
"""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import GCNConv

from pgm_explainer import Explanation, PGMExplainer, PGMExplainerError

from ..benchmarks.jobs import digest
from ..benchmarks.soak import Round, undisturbed

FULL = 42
"""20 jobs with 3 kills each, one on Ray with 2, and 21 times 14 interrupted calls."""
MOST_CPU = 120.0
MOST_WALL = 3600.0
MOST_MEMORY = 800
_SIGNALS = ("killed", "interrupted", "terminated", "worker killed", "killed")
_INTERRUPTS = 2
"""Interrupts of each kind of call in a case."""


def case(seed: int, number: int) -> str | None:
    """Run one case; return what is wrong."""
    chance = random.Random(f"kills {seed} {number}")
    if number % 2:
        return _killed_job(chance, on_ray=number == 21)
    return _interrupted_calls(chance)


class _Job(Round):
    """A job that takes a few seconds."""

    num_targets, shard_size, longest_wait = 120, 8, 2.0


@cache
def _undisturbed() -> tuple[Path, str]:
    return undisturbed(Path.cwd(), _Job)


def _killed_job(chance: random.Random, on_ray: bool) -> str | None:
    targets, right = _undisturbed()
    folder = Path("killed").absolute()
    shutil.rmtree(folder, ignore_errors=True)
    own = {folder / name: chance.randbytes(50) for name in ("notes.txt", ".mine.part", "a.parquet")}
    folder.mkdir()
    for path, content in own.items():
        path.write_bytes(content)
    job = _Job(folder, targets, chance)
    if on_ray:
        job.engines = (("ray", "--workers", "2"),)
    faults = ["killed", "interrupted"] if on_ray else chance.choices(_SIGNALS, k=3)
    job.run(*faults)
    if digest(folder) != right:
        return f"not the same bytes after {dict(job.happened)}"
    changed = [path.name for path, content in own.items() if path.read_bytes() != content]
    return f"the user's files changed: {changed}" if changed else None


class _Normalised(nn.Module):
    """Layers with state: batch norm and dropout."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = GCNConv(3, 8), GCNConv(8, 3)
        self.norm, self.dropout = nn.BatchNorm1d(8), nn.Dropout(0.3)

    def forward(self, x: Any, edge_index: Any) -> Any:
        h = self.first(x, edge_index)
        h = self.norm(h.reshape(-1, 8)).reshape(h.shape)
        return self.second(self.dropout(h.relu()), edge_index)


def _interrupted_calls(chance: random.Random) -> str | None:
    nodes = np.arange(40)
    edges = np.stack((nodes, (nodes + 1) % 40))
    x = np.random.default_rng(0).normal(size=(40, 3)).astype("f4")
    model = _Normalised().train()
    model.norm.eval()
    explainer = PGMExplainer(model, x, edges, num_samples=200, seed=chance.randrange(100))
    found = explainer.explain(3)
    found.save("kept.json")
    calls: dict[str, Callable[[], Any]] = {
        "explain": lambda: explainer.explain(3),
        "explain_many": lambda: explainer.explain_many(range(8)),
        "features": lambda: explainer.explain_features(found),
        "sufficient": partial(_sufficient, explainer, found),
        "constructor": lambda: PGMExplainer(model, x, edges, num_samples=50).explain(5),
        "save": lambda: found.save("kept.json"),
        "report": lambda: found.report("kept.html"),
    }
    for name, call in calls.items():
        started = time.process_time()
        call()
        whole = time.process_time() - started
        for _ in range(_INTERRUPTS):
            before = _state(model)
            _interrupt(call, chance.uniform(0, 1.1) * whole)
            after = _state(model)
            differing = [each for each in before if before[each] != after[each]]
            if differing:
                return f"an interrupt of {name} changed {differing}"
            if Explanation.load("kept.json") != found:
                return f"an interrupt of {name} changed a saved file"
    if explainer.explain(3) != found:
        return "after interrupts, the explanation differs"
    left = [path.name for path in Path().glob("*.part")]
    return f"half-written files are left: {left}" if left else None


def _sufficient(explainer: PGMExplainer, found: Explanation) -> None:
    with suppress(PGMExplainerError):  # there may be none
        explainer.sufficient(found, num_samples=50, max_queries=500)


def _interrupt(call: Callable[[], Any], seconds: float) -> None:
    """Run a call and interrupt it after some CPU time, as Ctrl-C would."""

    def now(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, now)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, max(seconds, 1e-6))
        call()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _state(model: nn.Module) -> dict[str, Any]:
    """Return everything that a call must leave as it was."""
    return {
        "modes": [each.training for each in model.modules()],
        "weights": [each.detach().numpy().tobytes() for each in model.state_dict().values()],
        "gradients": [each.requires_grad for each in model.parameters()],
        "torch": torch.get_rng_state().numpy().tobytes(),
        "numpy": np.random.get_state()[1].tobytes(),  # type: ignore[index]  # noqa: NPY002
        "random": hash(random.getstate()),
        "threads": torch.get_num_threads(),
        "gradient mode": torch.is_grad_enabled(),
    }
