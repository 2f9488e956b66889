"""The node classifiers to explain, trained once for each data set and seed."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from safetensors.torch import load_file, save_file

from .. import gnn
from ..bitcoin import BITCOIN, load_bitcoin
from ..node_data import NodeDataset
from ..synthetic import SYNTHETIC, make_synthetic
from .jobs import Job, Place
from .plan import Plan

__all__ = ["DATA_SETS", "load_node_data", "train_models", "trained"]

DATA_SETS = (*SYNTHETIC, *BITCOIN)


def load_node_data(place: Place, data: str, seed: int) -> NodeDataset:
    """Return a synthetic set or a Bitcoin network by name."""
    if data in BITCOIN:
        return load_bitcoin(data, seed, folder=place.data)
    return make_synthetic(data, seed)


def trained(place: Place, dataset: NodeDataset, seed: int, epochs: int) -> gnn.NodeGNN:
    """Return the trained model, loaded from its file if it exists."""
    path = place.models / f"{dataset.name}-{seed}-{epochs}.safetensors"
    if path.is_file():
        model = gnn.NodeGNN(dataset.x.shape[1], dataset.num_classes)
        model.load_state_dict(load_file(path))
        return model.eval()
    model = gnn.train(dataset, seed, epochs)
    part = path.with_suffix(".part")
    save_file(model.state_dict(), part)
    part.replace(path)
    return model


def train_models(plan: Plan, names: Iterable[str], seeds: int) -> list[dict[str, Any]]:
    """Train the models that do not exist yet; return the accuracy and training time of each.

    Each job trains a different model, so that no two processes train the same one.
    """
    jobs = [
        Job(f"model-{data}-{seed}", _train, {"data": data, "seed": seed, "epochs": plan.epochs})
        for seed in range(seeds)
        for data in names
    ]
    return plan.compute(jobs, "training models")


def _train(place: Place, data: str, seed: int, epochs: int) -> dict[str, Any]:
    dataset = load_node_data(place, data, seed)
    start = time.process_time()
    model = trained(place, dataset, seed, epochs)
    seconds = time.process_time() - start
    train, test = gnn.accuracy(model, dataset)
    return {"data": data, "seed": seed, "train": train, "test": test, "seconds": seconds}
