"""Cells of the tables: each is computed once, kept as a file, and found again after a stop.

A cell is one data set, one seed and one explainer. The seed makes the data (synthetic sets) or the
split (Bitcoin), the model and the explanations.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from ...arrays import IntArray
from ...io.files import write_text
from ...progress import Progress
from .. import gnn
from ..bitcoin import BITCOIN, load_bitcoin
from ..node_data import NodeDataset
from ..rivals import Case, Chance, Degree, Gradient, LearntMask, Rival, Shapley
from ..synthetic import SYNTHETIC, make_synthetic
from .judge import judge, pgm_findings, rival_findings

__all__ = [
    "DATA_SETS",
    "PGM",
    "RIVALS",
    "Cell",
    "Plan",
    "compute",
    "load_node_data",
    "spread_out",
    "trained",
]

DATA_SETS = (*SYNTHETIC, *BITCOIN)
PGM = "PGM-Explainer"
RIVALS = ("SHAP", "GNNExplainer", "GRAD", "random", "degree")


@dataclass(frozen=True)
class Cell:
    """One data set, one seed, one explainer; ``hops`` is how far candidates may be."""

    data: str
    seed: int
    explainer: str
    hops: int

    @property
    def file(self) -> str:
        return f"{self.data}-{self.seed}-{self.explainer}-{self.hops}.json"


@dataclass(frozen=True)
class Plan:
    """What to compute, and where it is kept.

    Attributes:
        folder: cells and models are kept here.
        data_folder: where the real data is; see :func:`~..data.data_folder`.
        rival_targets: how many targets, evenly spread, the rivals explain; PGM-Explainer takes all.
        epochs: of training.
    """

    folder: Path
    data_folder: Path | None = None
    rival_targets: int = 40
    epochs: int = 1000


def compute(cells: Sequence[Cell], plan: Plan, workers: int = 2) -> list[dict[str, Any]]:
    """Return the results of cells, computing in ``workers`` processes those that are not there."""
    (plan.folder / "cells").mkdir(parents=True, exist_ok=True)
    (plan.folder / "models").mkdir(exist_ok=True)
    missing = [cell for cell in cells if not (plan.folder / "cells" / cell.file).is_file()]
    with Progress("reproducing", len(missing)) as progress:
        for _ in _spread(missing, plan, workers):
            progress.advance()
    return [json.loads((plan.folder / "cells" / cell.file).read_text()) for cell in cells]


def _spread(cells: Sequence[Cell], plan: Plan, workers: int) -> Iterator[None]:
    if workers == 1 or len(cells) < 2:
        yield from map(partial(_compute_one, plan=plan), cells)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(partial(_compute_one, plan=plan), cells)


def _compute_one(cell: Cell, plan: Plan) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the processes share the cores
    try:
        result = {**asdict(cell), **_measure(cell, plan)}
    finally:
        torch.set_num_threads(threads)
    write_text(plan.folder / "cells" / cell.file, json.dumps(result, indent=1))


def _measure(cell: Cell, plan: Plan) -> dict[str, Any]:
    data = load_node_data(cell.data, cell.seed, plan)
    model, training = trained(data, cell, plan)
    start = time.perf_counter()
    if cell.explainer == PGM:
        targets = data.targets
        findings = pgm_findings(model, data, targets, cell.hops, cell.seed)
        queries: dict[str, Any] = {}
    else:
        targets = spread_out(data.targets, plan.rival_targets)
        rival = _rival(cell)
        case = Case(model, data.x, data.edge_index, hops=cell.hops)
        findings = rival_findings(rival, case, targets)
        queries = asdict(rival.queries)
    seconds = time.perf_counter() - start
    train, test = gnn.accuracy(model, data)
    return {
        "targets": len(targets),
        "seconds": seconds,
        "training_seconds": training,
        "model_accuracy": {"train": train, "test": test},
        "queries": queries,
        **judge(data, dict(zip(targets.tolist(), findings, strict=True))),
    }


def load_node_data(name: str, seed: int, plan: Plan) -> NodeDataset:
    """Return a data set by name: synthetic, or a Bitcoin network."""
    if name in BITCOIN:
        return load_bitcoin(name, seed, folder=plan.data_folder)
    return make_synthetic(name, seed)


def trained(data: NodeDataset, cell: Cell, plan: Plan) -> tuple[gnn.NodeGNN, float]:
    """Return the trained model, from its file if it was trained before, and how long it took."""
    path = plan.folder / "models" / f"{cell.data}-{cell.seed}-{plan.epochs}.safetensors"
    if path.is_file():
        model = gnn.NodeGNN(data.x.shape[1], data.num_classes)
        model.load_state_dict(load_file(path))
        return model.eval(), 0.0
    start = time.perf_counter()
    model = gnn.train(data, cell.seed, plan.epochs)
    seconds = time.perf_counter() - start
    part = path.with_suffix(f".{cell.explainer}-{cell.hops}.part")
    save_file(model.state_dict(), part)
    part.replace(path)
    return model, seconds


def spread_out(targets: IntArray, count: int) -> IntArray:
    """Return some of the targets, evenly spread."""
    return targets[np.unique(np.linspace(0, len(targets) - 1, count).round().astype(int))]


def _rival(cell: Cell) -> Rival:
    rivals: dict[str, Rival] = {
        "SHAP": Shapley(seed=cell.seed),
        "GNNExplainer": LearntMask(seed=cell.seed),
        "GRAD": Gradient(),
        "random": Chance(seed=cell.seed),
        "degree": Degree(),
    }
    return rivals[cell.explainer]
