"""Edges against a truth: the edges of motifs, the true effects of edges, and infection paths."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from pgm_explainer import Explanation, PGMExplainer, explain_graphs
from pgm_explainer.graph import SampledEdges

from ..arrays import FloatArray
from ..faithfulness.sets import make_subjects
from ..reproduce.cells import spread_out
from ..reproduce.jobs import Place
from ..reproduce.models import load_node_data, trained
from ..rivals.case import Case
from .atoms import COLUMNS, auc
from .motif_graphs import motif_graphs

__all__ = ["measure_edges", "measure_graph_edges", "measure_infection"]

_TOP = 5
_AT_ONCE = 400
_BUDGET, _CONTEXTS = 4000, (5, 200)
"""Pairs of model calls for the true effects on a target, and limits of the contexts."""
_PROBABILITY = 0.1


def measure_edges(
    place: Place, data: str, seed: int, most: int, epochs: int, truths: int
) -> dict[str, Any]:
    """Return the AUC of the edges of motifs by each column, and by the true effects.

    Args:
        most: number of targets.
        truths: true effects are measured for one target in so many.
    """
    dataset = load_node_data(place, data, seed)
    case = Case(trained(place, dataset, seed, epochs), dataset.x, dataset.edge_index)
    targets = spread_out(dataset.targets, most).tolist()
    started = time.process_time()
    explained = _explainer(case, seed).explain_many(targets)
    seconds = time.process_time() - started
    judged = [
        _Judged(case, target, {*dataset.truth[target], target}, each)
        for target, each in zip(targets, explained, strict=True)
    ]
    return {"data": data, "seed": seed, **_scores(judged, truths, seed), "seconds": seconds}


def measure_graph_edges(place: Place, data: str, seed: int, most: int) -> dict[str, Any]:
    """Return the same for many graphs with one prediction each; the accuracy of the model too."""
    chosen = motif_graphs(place, data, seed)
    graphs = chosen.graphs[:most]
    started = time.process_time()
    explained = explain_graphs(chosen.model, [each.as_data() for each in graphs], **_options(seed))
    seconds = time.process_time() - started
    judged = [
        _Judged(Case(chosen.model, graph.x, graph.edge_index, "graph"), None, graph.atoms, each)
        for graph, each in zip(graphs, explained, strict=True)
    ]
    scores = {**_scores(judged, 1, seed), "accuracy": chosen.accuracy}
    return {"data": data, "seed": seed, **scores, "seconds": seconds}


@dataclass(frozen=True)
class _Judged:
    """An explanation by edges, and the nodes of the motif; the target is None for a graph."""

    case: Case
    target: int | None
    motif: Collection[int]
    explanation: Explanation


def _scores(judged: Sequence[_Judged], every: int, seed: int) -> dict[str, Any]:
    """Return the AUC by each column, and by the true effects of one explanation in ``every``."""
    found: dict[str, list[FloatArray]] = {name: [] for name in COLUMNS}
    motifs, truths, true_motifs, captured = [], [], [], []
    for each in judged:
        edges: Any = each.explanation.effects.parts  # pairs of nodes
        is_motif = np.array([u in each.motif and v in each.motif for u, v in edges])
        if is_motif.all() or not is_motif.any():
            continue
        motifs.append(is_motif)
        for name, scores in _columns(each.explanation).items():
            found[name].append(scores)
        if len(motifs) % every:
            continue
        truth = true_edge_effects(each.case, each.target, edges, (seed, len(motifs)))
        truths.append(truth)
        true_motifs.append(is_motif)
        best = np.sort(truth)[::-1][:_TOP].sum()
        captured += [float(truth[:_TOP].sum() / best)] if best else []
    return {
        "targets": len(motifs),
        "truths": len(truths),
        **_areas(found, motifs),
        "ceiling": _areas({"truth": truths}, true_motifs),
        "captured": float(np.mean(captured)),
    }


def _areas(
    found: dict[str, list[FloatArray]], motifs: Sequence[Any]
) -> dict[str, dict[str, float]]:
    """Return the AUC of the edges of all targets together, and the mean of those of each."""
    return {
        "pooled": {n: auc(np.concatenate(s), np.concatenate(motifs)) for n, s in found.items()},
        "each": {n: float(np.mean([*map(auc, s, motifs)])) for n, s in found.items()},
    }


def _explainer(case: Case, seed: int) -> PGMExplainer:
    return PGMExplainer(case.frozen_model, case.x, case.edge_index, **_options(seed))


def _options(seed: int) -> dict[str, Any]:
    return {"parts": "edges", "structure": None, "seed": seed, "progress": False}


def _columns(explanation: Explanation) -> dict[str, FloatArray]:
    effects = explanation.effects
    values = (effects.strength, abs(effects.effect), -effects.log_p)
    return dict(zip(COLUMNS, values, strict=True))


def true_edge_effects(
    case: Case, target: int | None, edges: Sequence[Any], seed: tuple[int, ...]
) -> FloatArray:
    """Return the mean absolute change of the probability if an edge is removed.

    In each context the other edges are removed at random, as in the explainer's samples; the model
    is called with and without the edge.
    """
    view = case.view(target)
    part, row = view.part, view.index
    number = {edge: at for at, edge in enumerate(edges)}
    ends = [tuple(sorted(pair)) for pair in case.edge_index[:, part.edges].T.tolist()]
    part_of = np.array([number.get(pair, len(edges)) for pair in ends])
    x = case.x[part.nodes]
    explained = int(_probabilities(case, x, part, np.ones((1, len(ends)), bool), row)[0].argmax())
    # Not the seed of the samples, so that the contexts are new ones.
    rng = np.random.default_rng(seed)
    total = np.zeros(len(edges))
    contexts = int(np.clip(_BUDGET // len(edges), *_CONTEXTS))
    for _ in range(contexts):
        removed = np.append(rng.random(len(edges)) < _PROBABILITY, False)
        without, having = np.tile(removed, (2, len(edges), 1))
        without[np.arange(len(edges)), np.arange(len(edges))] = True
        having[np.arange(len(edges)), np.arange(len(edges))] = False
        kept = ~np.concatenate((without, having))[:, part_of]
        chance = _probabilities(case, x, part, kept, row)[:, explained]
        total += abs(chance[len(edges) :] - chance[: len(edges)])
    return np.asarray(total / contexts)


def _probabilities(case: Case, x: FloatArray, part: Any, kept: Any, row: int | None) -> FloatArray:
    blocks = []
    for start in range(0, len(kept), _AT_ONCE):
        edges = SampledEdges(kept[start : start + _AT_ONCE])
        copies = np.repeat(x[None], len(edges), axis=0)
        scores = torch.as_tensor(case.predictor.on_edges(copies, part, edges))
        scores = scores if row is None else scores[:, row]
        blocks.append(torch.softmax(scores.double(), dim=-1).numpy())
    return np.concatenate(blocks)


def measure_infection(place: Place, seed: int, most: int) -> dict[str, Any]:
    """Return the share of a path's edges among the top n, n the number of nodes on the path.

    The protocol of Faber et al.; the score of an edge is its effect, positive if removing the edge
    lowers the probability.
    """
    shares: dict[str, list[float]] = {"strength": [], "effect": []}
    for subject in make_subjects(place, "infection", seed, most, 0):
        targets = [target for target in subject.judged if target is not None]
        for target, each in zip(
            targets, _explainer(subject.case, seed).explain_many(targets), strict=True
        ):
            path = subject.paths[target]
            wanted = set(pairwise(path))
            for name, scores in (
                ("strength", each.effects.strength),
                ("effect", -each.effects.effect),
            ):
                order = np.argsort(-scores, kind="stable")[: len(path)]
                first = {each.effects.parts[at] for at in order}
                shares[name].append(len(wanted & first) / len(wanted))
    means = {name: float(np.mean(values)) for name, values in shares.items()}
    return {"seed": seed, "targets": len(shares["effect"]), "path": means}
