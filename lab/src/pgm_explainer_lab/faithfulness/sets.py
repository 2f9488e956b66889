"""The predictions to explain, by the name of their set."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch

from ..bitcoin import BITCOIN, load_bitcoin
from ..cora import load_cora
from ..data import DataError
from ..mutagenicity import load_mutagenicity
from ..reproduce.jobs import Place
from ..rivals.case import Case
from ..synthetic import SYNTHETIC
from .attention import STRENGTHS, attention_subject
from .faber import FaberGraph, faber_network
from .marked import marked_subject
from .networks import AllLayers
from .subjects import Subject
from .trained import (
    RANDOM_LABELS,
    cora_subjects,
    molecule_subjects,
    paper_subjects,
    random_labels,
)

__all__ = ["COMMUNITY", "HAND_MADE", "KNOWN", "REAL", "SETS", "is_available", "make_subjects"]

HAND_MADE = ("marked", "attention")
"""Hand-made models; the nodes they use are known exactly."""
KNOWN = ("infection", "negative")
"""Trained models whose labels follow from known nodes."""
REAL = (*SYNTHETIC, *BITCOIN, "cora", "mutagenicity", *(f"random {kind}" for kind in RANDOM_LABELS))
"""Trained models whose true effects must be found by brute force."""
SETS = (*HAND_MADE, *KNOWN, *REAL)
COMMUNITY = "community"
"""A further set, measured in a different way."""

_GRAPHS = 2
_MORE = 4
"""Factor for the number of targets of sets that are cheap to explain."""


def make_subjects(place: Place, data: str, seed: int, most: int, epochs: int) -> list[Subject]:
    """Return the subjects of a set; models that do not exist yet are trained.

    Args:
        data: one of :data:`SETS`.
        most: approximate number of targets per model that all explainers explain.
        epochs: epochs of training for the paper's network.
    """
    if data == "marked":
        seeds = range(_GRAPHS * seed, _GRAPHS * (seed + 1))
        return [marked_subject(each, _MORE * most, most) for each in seeds]
    if data == "attention":
        seeds = range(_GRAPHS * seed, _GRAPHS * (seed + 1))
        return [attention_subject(kind, each, most) for kind in STRENGTHS for each in seeds]
    if data in KNOWN:
        model, graphs, facts = faber_network(place, data, seed)
        part = _infection if data == "infection" else _negative
        each = max(1, most // len(graphs))
        return [
            part(f"{data}-{seed}-{at}", model, graph, each, facts["accuracy"])
            for at, graph in enumerate(graphs)
        ]
    if data == "cora":
        return cora_subjects(place, seed, most)
    if data == "mutagenicity":
        return molecule_subjects(place, seed, most)
    if data.startswith("random "):
        return random_labels(place, data.removeprefix("random "), seed, most)
    return paper_subjects(place, data, seed, most, epochs)


def is_available(place: Place, data: str) -> bool:
    """Return whether the data of a set is available or can be downloaded or generated."""
    try:
        if data in BITCOIN:
            load_bitcoin(data, folder=place.data)
        elif data == "cora":
            load_cora(place.data)
        elif data == "mutagenicity":
            load_mutagenicity(place.data)
    except DataError:
        return False
    return True


def _infection(
    name: str, model: AllLayers, graph: FaberGraph, each: int, accuracy: float
) -> Subject:
    """Return nodes with a single path from the nearest infected node, grouped by its length."""
    by_length: dict[int, list[int]] = {}
    for node in _right(model, graph, graph.targets):
        by_length.setdefault(len(graph.paths[node]) - 1, []).append(node)
    rng = np.random.default_rng(0)
    targets: list[int] = []
    kinds: list[str] = []
    for length in sorted(by_length):
        chosen = rng.permutation(by_length[length])[: _MORE * each].tolist()
        targets += chosen
        kinds += [str(length)] * len(chosen)
    paths = {node: graph.paths[node] for node in targets}
    causes = {node: path[0] for node, path in paths.items()}
    case = Case(model, graph.x, graph.edge_index)
    return Subject(
        name,
        case,
        targets,
        kinds,
        causes,
        paths,
        shared=each,
        counts={str(length): len(nodes) for length, nodes in by_length.items()},
        accuracy=accuracy,
    )


def _negative(
    name: str, model: AllLayers, graph: FaberGraph, each: int, accuracy: float
) -> Subject:
    """Return white nodes; neighbours of the rarer colour are evidence against the prediction."""
    rng = np.random.default_rng(0)
    targets = rng.permutation(_right(model, graph, graph.targets))[: _MORE * each].tolist()
    against = {}
    for target in targets:
        senders = np.unique(graph.edge_index[0, graph.edge_index[1] == target])
        white, blue, red = (senders[graph.colours[senders] == colour] for colour in range(3))
        against[target] = (white, min(blue, red, key=len))
    case = Case(model, graph.x, graph.edge_index)
    return Subject(name, case, targets, against=against, shared=each, accuracy=accuracy)


@torch.no_grad()
def _right(model: AllLayers, graph: FaberGraph, nodes: Iterable[int]) -> list[int]:
    """Return the correctly classified nodes; the cause of other predictions is not known."""
    scores = model(torch.from_numpy(graph.x), torch.from_numpy(graph.edge_index))
    right = scores.argmax(dim=1).numpy() == graph.y
    return [node for node in nodes if right[node]]
