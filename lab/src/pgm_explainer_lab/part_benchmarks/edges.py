"""Edges against a truth: the edges of motifs, the true effects of edges, and infection paths."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pgm_explainer import Explanation, PGMExplainer, explain_graphs

from ..arrays import FloatArray
from ..faithfulness.sets import make_subjects
from ..reproduce.cells import spread_out
from ..reproduce.jobs import Place
from ..reproduce.models import load_node_data, trained
from ..rivals.case import Case
from .atoms import COLUMNS, auc
from .motif_graphs import motif_graphs
from .true_effects import true_edge_effects

__all__ = [
    "EDGE_COLUMNS",
    "LEVELS",
    "measure_edges",
    "measure_graph_edges",
    "measure_infection",
]

_TOP = 5
_DEFAULT = 0.1
LEVELS = (_DEFAULT, 0.5, 0.9)
"""Shares of the edges of a graph that are removed; the default of the explainer first."""
_BUDGET, _GRAPH_BUDGET = 2000, 1000
"""Pairs of model calls for the true effects on a target; for graphs, for each of the levels."""
EDGE_COLUMNS = (*COLUMNS, "support")


def measure_edges(
    place: Place, data: str, seed: int, most: int, epochs: int, truths: int
) -> dict[str, Any]:
    """Return the AUC of the edges of motifs by each column, and by the true effects.

    Args:
        most: number of targets.
        truths: true effects are measured for one in ``truths`` targets.
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
    scores = _scores(judged, seed, truths, _DEFAULT, _BUDGET)
    return {"data": data, "seed": seed, **scores, "seconds": seconds}


def measure_graph_edges(place: Place, data: str, seed: int, most: int) -> dict[str, Any]:
    """Return the same for many graphs with one prediction each; the accuracy of the model too.

    *levels* has the results with larger shares of removed edges.
    """
    chosen = motif_graphs(place, data, seed)
    graphs = chosen.graphs[:most]
    cases = [Case(chosen.model, each.x, each.edge_index, "graph") for each in graphs]
    found, seconds, of_levels = {}, [], []
    for level in LEVELS:
        options = {**_options(seed), "perturb_probability": level}
        started = time.process_time()
        explained = explain_graphs(chosen.model, [each.as_data() for each in graphs], **options)
        seconds.append(time.process_time() - started)
        judged = [
            _Judged(case, None, graph.atoms, each)
            for case, graph, each in zip(cases, graphs, explained, strict=True)
        ]
        found[str(level)] = _scores(judged, seed, 1, level, _GRAPH_BUDGET)
        of_levels.append(judged)
    scores = {**found[str(_DEFAULT)], "levels": found, "accuracy": chosen.accuracy}
    scores["all levels"] = _of_all_levels(of_levels)
    return {"data": data, "seed": seed, **scores, "seconds": seconds[0]}


@dataclass(frozen=True)
class _Judged:
    """An explanation with edges as parts, and the motif's nodes; a graph has target None."""

    case: Case
    target: int | None
    motif: Collection[int]
    explanation: Explanation


def _scores(
    judged: Sequence[_Judged], seed: int, every: int, probability: float, budget: int
) -> dict[str, Any]:
    """Return the AUC by each column, and by the true effects of one explanation in ``every``."""
    found, motifs, true, true_motifs, captured = [], [], [], [], []
    for each in judged:
        edges: Any = each.explanation.effects.parts  # pairs of nodes
        is_motif = np.array([u in each.motif and v in each.motif for u, v in edges])
        if is_motif.all() or not is_motif.any():
            continue
        motifs.append(is_motif)
        found.append(_columns(each.explanation))
        if len(motifs) % every:
            continue
        key = (seed, len(motifs))
        effects = true_edge_effects(each.case, each.target, edges, key, probability, budget)
        true.append(effects.scores())
        true_motifs.append(is_motif)
        best = np.sort(effects.sizes)[::-1][:_TOP].sum()
        captured += [float(effects.sizes[:_TOP].sum() / best)] if best else []
    return {
        "targets": len(motifs),
        "truths": len(true),
        **_areas(found, motifs),
        "ceiling": _areas(true, true_motifs),
        "captured": float(np.mean(captured)),
    }


def _of_all_levels(levels: Sequence[Sequence[_Judged]]) -> dict[str, dict[str, float]]:
    """Return the AUC by the mean strength of each edge over explanations of the same graph."""
    found, motifs = [], []
    for same in zip(*levels, strict=True):
        strengths = [
            dict(
                zip(each.explanation.effects.parts, each.explanation.effects.strength, strict=True)
            )
            for each in same
        ]
        edges: Any = list(strengths[0])
        is_motif = np.array([u in same[0].motif and v in same[0].motif for u, v in edges])
        if is_motif.any() and not is_motif.all():
            mean = [np.mean([each[edge] for each in strengths]) for edge in edges]
            found.append({"strength": np.array(mean)})
            motifs.append(is_motif)
    return _areas(found, motifs)


def _areas(
    found: Sequence[dict[str, FloatArray]], motifs: Sequence[Any]
) -> dict[str, dict[str, float]]:
    """Return the AUC of the edges of all targets together, and the mean of those of each.

    The scores of a target are divided by its largest one, so that those of all are comparable.
    """
    scores = {name: [_relative(each[name]) for each in found] for name in found[0]}
    return {
        "pooled": {n: auc(np.concatenate(s), np.concatenate(motifs)) for n, s in scores.items()},
        "each": {n: float(np.mean([*map(auc, s, motifs)])) for n, s in scores.items()},
    }


def _relative(scores: FloatArray) -> FloatArray:
    return np.asarray(scores / max(abs(scores).max(), np.finfo(np.float64).tiny))


def _explainer(case: Case, seed: int) -> PGMExplainer:
    return PGMExplainer(case.frozen_model, case.x, case.edge_index, **_options(seed))


def _options(seed: int) -> dict[str, Any]:
    return {"parts": "edges", "structure": None, "seed": seed, "progress": False}


def _columns(explanation: Explanation) -> dict[str, FloatArray]:
    effects = explanation.effects
    values = (effects.strength, abs(effects.effect), -effects.log_p, -effects.effect)
    return dict(zip(EDGE_COLUMNS, values, strict=True))


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
