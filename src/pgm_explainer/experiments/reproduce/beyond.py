"""Beyond the paper: is an explanation needed, enough, stable, and does its network foretell?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ...explainer import PGMExplainer
from ...io.files import write_text
from ..gnn import NodeGNN
from ..metrics import faithfulness, forecast_quality, jaccard, mean_quality, stability
from ..node_data import NodeDataset
from ..rivals import Case, Chance, Degree, Gradient, LearntMask, Shapley, top_nodes
from ..synthetic import SYNTHETIC
from .cells import Cell, Plan, load_node_data, spread_out, trained

__all__ = ["beyond"]

_FRESH = 10_000
"""Added to a seed for perturbations that no explanation has seen."""
_STABILITY_SEEDS = 3


def beyond(plan: Plan, names: Sequence[str] = tuple(SYNTHETIC), seed: int = 0) -> str:
    """Measure explanations of some targets of each set; return it in Markdown."""
    rows, forecasts = [], []
    for name in names:
        path = plan.folder / "cells" / f"beyond-{name}-{seed}-{plan.rival_targets}.json"
        if not path.is_file():
            write_text(path, json.dumps(_measure(name, seed, plan), indent=1))
        measured = json.loads(path.read_text())
        rows += [_row(name, each, measured[each]) for each in measured if each != "forecast"]
        forecasts += [
            f"| {name} | {way} | {of['log_loss']:.3f} | {of['brier']:.3f} | {of['auc']:.3f} |"
            for way, of in measured["forecast"].items()
        ]
    return "\n".join(
        [
            "## Beyond the paper",
            "",
            f"Of {plan.rival_targets} targets of each set, k nodes besides the target each, k + 1 "
            f"the size of the motif; the target's own features stay. GEA is the Jaccard index with "
            f"the motif, stability the one between {_STABILITY_SEEDS} seeds of PGM-Explainer.",
            "",
            "| set | explainer | fidelity+ | fidelity− | characterization | unfaithfulness | GEA "
            "| stability |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            "Does the network predict the model? Forecasts of whether the target's prediction "
            "changes, from which nodes are perturbed, on fresh perturbations:",
            "",
            "| set | forecast | log-loss | Brier | AUC |",
            "|---|---|---|---|---|",
            *forecasts,
        ]
    )


def _row(name: str, explainer: str, measured: dict[str, float]) -> str:
    figures = [f"{value:.3f}" for value in measured.values()]
    return f"| {name} | {explainer} | {' | '.join(figures)} |" + (
        "" if "stability" in measured else "  |"
    )


def _measure(name: str, seed: int, plan: Plan) -> dict[str, Any]:
    data = load_node_data(name, seed, plan)
    model, _ = trained(data, Cell(name, seed, "beyond", 3), plan)
    targets = spread_out(data.targets, plan.rival_targets).tolist()
    case = Case(model, data.x, data.edge_index, hops=3)
    answer: dict[str, Any] = {}
    runs = [_pgm_nodes(model, data, targets, seed + at) for at in range(_STABILITY_SEEDS)]
    answer["PGM-Explainer"] = {
        **_judged(case, data, targets, runs[0]),
        "stability": stability(runs),
    }
    for rival in (Shapley(seed=seed), LearntMask(seed=seed), Gradient(), Chance(seed), Degree()):
        ranked = rival.importances(case, targets)
        nodes = [
            top_nodes(each, len(data.truth[target]) - 1)
            for target, each in zip(targets, ranked, strict=True)
        ]
        answer[rival.name] = _judged(case, data, targets, nodes)
    answer["forecast"] = _forecast(model, data, targets, seed)
    return answer


def _pgm_nodes(
    model: NodeGNN, data: NodeDataset, targets: Sequence[int], seed: int
) -> list[list[int]]:
    explainer = PGMExplainer(
        model, data.x, data.edge_index, structure=None, seed=seed, progress=False
    )
    return [
        each.ranking.nodes[: len(data.truth[target]) - 1].tolist()
        for target, each in zip(targets, explainer.explain_many(targets), strict=True)
    ]


def _judged(
    case: Case, data: NodeDataset, targets: Sequence[int], nodes: Sequence[Sequence[int]]
) -> dict[str, float]:
    kept = [{target, *found} for target, found in zip(targets, nodes, strict=True)]
    gea = [
        jaccard(found, data.truth[target] - {target})
        for target, found in zip(targets, nodes, strict=True)
    ]
    return {**asdict(faithfulness(case, targets, kept)), "gea": float(np.mean(gea))}


def _forecast(
    model: NodeGNN, data: NodeDataset, targets: Sequence[int], seed: int
) -> dict[str, Any]:
    explainer, fresh = (
        PGMExplainer(model, data.x, data.edge_index, seed=each, progress=False)
        for each in (seed, seed + _FRESH)
    )
    learnt, unseen = explainer.samples(targets).table, fresh.samples(targets).table
    qualities = mean_quality(
        forecast_quality(each, learnt, unseen) for each in explainer.explain_many(targets)
    )
    return {way: asdict(quality) for way, quality in qualities.items()}
