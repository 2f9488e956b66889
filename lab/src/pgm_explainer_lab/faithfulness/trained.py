"""Trained networks whose true effects must be found by brute force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn.models import GAT, GCN, GraphSAGE

from pgm_explainer.graph import Graph

from ..arrays import IntArray
from ..cora import load_cora
from ..gnn import accuracy
from ..mutagenicity import Molecule, load_mutagenicity
from ..reproduce.cells import spread_out
from ..reproduce.jobs import Place
from ..reproduce.models import load_node_data, trained
from ..rivals.case import Case
from .networks import CitationGAT, MoleculeGIN, kept, training_steps
from .subjects import Subject

__all__ = ["RANDOM_LABELS", "cora_subjects", "molecule_subjects", "paper_subjects", "random_labels"]

RANDOM_LABELS: dict[str, Any] = {"GCN": GCN, "SAGE": GraphSAGE, "GAT": GAT}
_RANDOM_MODELS = 3
_TRAINED_MOLECULES = 3000
_ENOUGH = 6
"""Targets with fewer candidates are left out, since five nodes are ranked."""


def paper_subjects(place: Place, data: str, seed: int, most: int, epochs: int) -> list[Subject]:
    """Return a synthetic set or a Bitcoin network, with the network of the paper."""
    dataset = load_node_data(place, data, seed)
    model = trained(place, dataset, seed, epochs)
    case = Case(model, dataset.x, dataset.edge_index)
    targets = spread_out(dataset.targets, most).tolist()
    right = accuracy(model, dataset)[1]
    return [Subject(f"{data}-{seed}-{epochs}", case, targets, accuracy=right)]


def cora_subjects(place: Place, seed: int, most: int) -> list[Subject]:
    """Return Cora with a GAT, and some held-out nodes as targets."""
    dataset = load_cora(place.data)
    torch.manual_seed(seed)

    def train(model: CitationGAT) -> None:
        x, edge_index, y = map(torch.from_numpy, (dataset.x, dataset.edge_index, dataset.y))
        chosen = torch.from_numpy(dataset.train)
        for _ in training_steps(model, 60, rate=0.01, decay=5e-4):
            scores = model(x, edge_index)[chosen]
            torch.autograd.backward(nn.functional.cross_entropy(scores, y[chosen]))

    model = CitationGAT(dataset.x.shape[1], dataset.num_classes)
    case = Case(kept(place, f"cora-gat-{seed}", model, train), dataset.x, dataset.edge_index)
    others = np.flatnonzero(~dataset.train)
    right = _predicted(case)[others] == dataset.y[others]
    targets = _with_candidates(case.graph, others, 2, most)
    return [Subject(f"cora-{seed}", case, targets, accuracy=float(right.mean()))]


@torch.no_grad()
def _predicted(case: Case) -> IntArray:
    x, edge_index = torch.from_numpy(case.x), torch.from_numpy(case.edge_index)
    return case.frozen_model(x, edge_index).argmax(dim=-1).numpy()


def _with_candidates(graph: Graph, nodes: IntArray, hops: int, most: int) -> list[int]:
    """Return up to ``most`` of the nodes that have enough candidates, evenly spread."""
    enough = [
        node for node in nodes.tolist() if len(graph.within_hops(np.array([node]), hops)) > _ENOUGH
    ]
    return spread_out(np.array(enough), most).tolist()


def molecule_subjects(place: Place, seed: int, most: int) -> list[Subject]:
    """Return Mutagenicity with a GIN, and some held-out molecules as targets."""
    molecules = load_mutagenicity(place.data)
    order = np.random.default_rng(seed).permutation(len(molecules))
    torch.manual_seed(seed)

    def train(model: MoleculeGIN) -> None:
        graphs = [_as_data(molecules[at]) for at in order[:_TRAINED_MOLECULES]]
        batches = [*DataLoader(graphs, batch_size=100)]
        for step in training_steps(model, 15 * len(batches), rate=0.01):
            batch = batches[step % len(batches)]
            scores = model(batch.x, batch.edge_index, batch.batch)
            torch.autograd.backward(nn.functional.cross_entropy(scores, batch.y))

    features = molecules[0].x.shape[1]
    model = kept(place, f"mutagenicity-gin-{seed}", MoleculeGIN(features, 2), train)
    held_out = order[_TRAINED_MOLECULES:]
    right = _accuracy(model, [molecules[at] for at in held_out])
    return [
        Subject(
            f"mutagenicity-{seed}-{at}",
            Case(model, molecules[at].x, molecules[at].edge_index, task="graph"),
            (None,),
            accuracy=right,
        )
        for at in [at for at in held_out if len(molecules[at].x) > _ENOUGH][:most]
    ]


@torch.no_grad()
def _accuracy(model: MoleculeGIN, molecules: Sequence[Molecule]) -> float:
    (batch,) = DataLoader([*map(_as_data, molecules)], batch_size=len(molecules))
    scores = model(batch.x, batch.edge_index, batch.batch)
    return float((scores.argmax(dim=1) == batch.y).float().mean())


def _as_data(molecule: Molecule) -> Data:
    return Data(
        x=torch.from_numpy(molecule.x),
        edge_index=torch.from_numpy(molecule.edge_index),
        y=torch.tensor([molecule.label]),
    )


def random_labels(place: Place, kind: str, seed: int, most: int) -> list[Subject]:
    """Return three networks of a kind that have memorised random labels of 60 nodes."""
    seeds = range(_RANDOM_MODELS * seed, _RANDOM_MODELS * (seed + 1))
    return [_random_label_subject(place, kind, each, most) for each in seeds]


def _random_label_subject(place: Place, kind: str, seed: int, most: int) -> Subject:
    rng = np.random.default_rng(seed)
    nodes, features, classes = 60, 8, 3
    pairs = np.stack(np.nonzero(np.triu(rng.random((nodes, nodes)) < 3.5 / nodes, 1)))
    edge_index = np.concatenate((pairs, pairs[::-1]), axis=1).astype(np.int64)
    x = rng.normal(size=(nodes, features)).astype(np.float32)
    y = torch.from_numpy(rng.integers(classes, size=nodes))

    def train(model: nn.Module) -> None:
        tensors: Sequence[torch.Tensor] = (torch.from_numpy(x), torch.from_numpy(edge_index))
        for _ in training_steps(model, 200, rate=0.01):
            torch.autograd.backward(nn.functional.cross_entropy(model(*tensors), y))

    torch.manual_seed(seed)
    model = RANDOM_LABELS[kind](features, 16, 3, classes)
    model = kept(place, f"random-labels-{kind.lower()}-{seed}", model, train)
    case = Case(model, x, edge_index)
    targets = _with_candidates(case.graph, np.arange(nodes), 3, most)
    return Subject(f"random-{kind}-{seed}", case, targets)
