"""Syn 6: accuracy, and the share of the time that is spent in the model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch_geometric.nn import GCN

from pgm_explainer import PGMExplainer

from .. import gnn, synthetic
from ..checkpoints import load_author_syn6
from ..data import DataError
from ..metrics import top_k_accuracy
from ..node_data import NodeDataset
from .clock import Clock
from .measure import Row, timed


def load() -> tuple[gnn.NodeGNN, NodeDataset]:
    """Return the authors' model and data, or a newly trained model if they are not available."""
    try:
        return load_author_syn6()
    except DataError as error:
        print(f"(the authors' checkpoint is not available, training a model instead: {error})")
        data = synthetic.make_synthetic("syn6")
        return gnn.train(data), data


def rows() -> Iterator[Row]:
    model, data = load()
    targets = data.targets
    explainer = PGMExplainer(model, data.x, data.edge_index, num_samples=800)
    accuracy = top_k_accuracy(explainer.explain_many(targets), data)
    yield Row(f"{data.name}: accuracy, paper's protocol, defaults", f"{accuracy:.3f}")
    yield from _overhead("PyG's GCN, 3 layers of 20", _gcn(data), data, targets)
    yield from _overhead("NodeGNN, one sparse product per layer", model, data, targets)


def _overhead(name: str, model: torch.nn.Module, data: NodeDataset, targets: Any) -> Iterator[Row]:
    """Return the total time of explaining divided by the time spent in the model."""
    for structure, words in ((None, "without networks"), ("auto", "with networks")):
        clock = Clock(model, time.perf_counter)
        explainer = PGMExplainer(clock, data.x, data.edge_index, num_layers=3, structure=structure)
        explainer.explain_many(targets)  # warm-up
        ratios = []
        for _ in range(3):
            clock.inside = 0.0
            took, _ = timed(partial(explainer.explain_many, targets))
            ratios.append(took / clock.inside)
        ratio = float(np.median(ratios))
        yield Row(
            f"total time / time in the model, 400 targets, {words}: {name}",
            f"{ratio:.2f} (model {clock.inside:.2f} s)",
        )


def _gcn(data: NodeDataset) -> torch.nn.Module:
    torch.manual_seed(0)
    model = GCN(data.x.shape[1], hidden_channels=20, num_layers=3, out_channels=data.num_classes)
    return model.eval()
