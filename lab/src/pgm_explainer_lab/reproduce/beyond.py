"""Beyond the paper: necessity, sufficiency and stability of explanations, and their forecasts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch_geometric.explain.metric import characterization_score

from pgm_explainer import PGMExplainer

from ..colours import BLUE, INK, ORANGE, SKY, VERMILLION
from ..files import write_figure
from ..metrics import (
    ForecastQuality,
    faithfulness,
    forecast_quality,
    jaccard,
    mean_quality,
    stability,
)
from ..node_data import NodeDataset
from ..rivals import Case, Pgm, Rival, top_nodes
from ..synthetic import SYNTHETIC
from .cells import PGM, RIVALS, default_options, make_rivals, spread_out
from .jobs import Job, Place
from .markdown import mean_and_spread, table
from .models import load_node_data, train_models, trained
from .plan import Plan, Section
from .tables import passes

__all__ = ["beyond_section"]

_HOPS = 3
_FRESH = 10_000
"""Added to a seed to draw perturbations that no explanation was learned from."""
_STABILITY_SEEDS = 3
_MOST_NODES = 10
"""More than any motif has."""
_MEASURES = {
    "fidelity_plus": "fidelity+ ↑",
    "fidelity_minus": "fidelity− ↓",
    "characterization": "characterization ↑",
    "unfaithfulness": "unfaithfulness ↓",
    "gea": "GEA ↑",
    "stability": "stability ↑",
}
_UNLIMITED = "network (max_nodes=None)"
_FORECASTS = {
    "network": ("Bayesian network", BLUE, "o"),
    _UNLIMITED: ("Bayesian network, max_nodes=None", SKY, "D"),
    "logistic": ("logistic regression, the network's nodes", ORANGE, "s"),
    "logistic (all candidates)": ("logistic regression, all candidates", VERMILLION, "^"),
}


def beyond_section(plan: Plan) -> Section:
    """Measure explanations of some targets of each synthetic set."""
    train_models(plan, SYNTHETIC, plan.seeds)
    jobs = [
        job
        for seed in range(plan.seeds)
        for data in SYNTHETIC
        for job in (*_explainer_jobs(plan, data, seed), _forecast_job(plan, data, seed))
    ]
    answers = plan.compute(jobs, "measuring")
    measured = [each for each in answers if "explainer" in each]
    forecasts = [each for each in answers if "qualities" in each]
    path = plan.place.figures / "forecasts.png"
    plot_forecasts(forecasts, path)
    blocks = [
        "## Beyond the paper",
        f"Measured on {plan.rival_targets} evenly spread targets of each set. Each is explained by "
        f"its k highest-ranked nodes, where k + 1 is the size of the motif. The features of masked "
        f"nodes are set to zero; those of the target are kept. *fidelity+*: how often the "
        f"prediction flips when the explaining nodes are masked; *fidelity−*: how often it flips "
        f"when all other nodes are masked; *characterization*: the harmonic mean of fidelity+ and "
        f"1 − fidelity−; *unfaithfulness*: how much the class probabilities change when all other "
        f"nodes are masked; *GEA*: the Jaccard index of the explanation and the motif; "
        f"*stability*: the mean Jaccard index between explanations with {_STABILITY_SEEDS} "
        f"different seeds. ↑ higher is better, ↓ lower is better.",
        *(_table_of(data, measured) for data in SYNTHETIC),
        "### Does the network predict the model?",
        "Each method forecasts whether the target's prediction changes, given only which nodes "
        "are perturbed. All are tested on the same number of new perturbations, drawn with "
        "another seed. The logistic regression is additive and is trained on the same samples as "
        "the network; the base rate is the share of changes among those samples.",
        _verdict(forecasts),
        _forecast_table(forecasts),
        f"![Quality of the forecasts]({path.parent.name}/{path.name})",
    ]
    return Section("\n\n".join(blocks), answers)


def _explainer_jobs(plan: Plan, data: str, seed: int) -> list[Job]:
    """Return jobs for PGM-Explainer and its rivals, with several seeds where they use one."""
    seeds = [seed + _FRESH * at for at in range(_STABILITY_SEEDS)]
    runs: list[list[Rival]] = [[_pgm(each) for each in seeds]]
    for same in zip(*map(make_rivals, seeds), strict=True):
        asks = same[0].queries.forwards > 0
        if not asks or (plan.rivals and seed < plan.seeds_of_rivals):
            runs.append(list(same) if same[0] != same[1] else [same[0]])
    return [
        Job(
            f"beyond-{data}-{seed}-{explainers[0].name}",
            measure_explainer,
            {**_where(plan, data, seed), "explainers": explainers},
        )
        for explainers in runs
    ]


def _pgm(seed: int) -> Pgm:
    options = default_options(
        seed=seed, structure=None, max_nodes=_MOST_NODES, only_significant=False
    )
    for given in ("task", "hops", "features"):
        del options[given]
    return Pgm(**options, progress=False)


def _forecast_job(plan: Plan, data: str, seed: int) -> Job:
    inputs = {**_where(plan, data, seed), "options": default_options(hops=_HOPS)}
    return Job(f"forecast-{data}-{seed}", measure_forecasts, inputs)


def _where(plan: Plan, data: str, seed: int) -> dict[str, Any]:
    return {
        "data": data,
        "seed": seed,
        "epochs": plan.epochs,
        "most_targets": plan.rival_targets,
    }


def measure_explainer(
    place: Place,
    data: str,
    seed: int,
    epochs: int,
    most_targets: int,
    explainers: Sequence[Rival],
) -> dict[str, Any]:
    """Measure the first explainer on some targets; the others differ from it by their seeds."""
    dataset = load_node_data(place, data, seed)
    case = Case(trained(place, dataset, seed, epochs), dataset.x, dataset.edge_index, hops=_HOPS)
    targets = spread_out(dataset.targets, most_targets).tolist()
    start = time.process_time()
    runs = [_nodes_found(each, case, dataset, targets) for each in explainers]
    seconds = (time.process_time() - start) / len(runs)
    return {
        "data": data,
        "seed": seed,
        "explainer": explainers[0].name,
        **_judged(case, dataset, targets, runs[0]),
        "stability": stability(runs) if len(runs) > 1 else 1.0,
        "queries": asdict(explainers[0].queries),
        "seconds": seconds / len(targets),
        "targets": len(targets),
    }


def _nodes_found(
    explainer: Rival, case: Case, dataset: NodeDataset, targets: Sequence[int]
) -> list[list[int]]:
    return [
        top_nodes(importance, len(dataset.truth[target]) - 1)
        for target, importance in zip(targets, explainer.importances(case, targets), strict=True)
    ]


def _judged(
    case: Case, dataset: NodeDataset, targets: Sequence[int], found: Sequence[Sequence[int]]
) -> dict[str, float]:
    """Mask the explaining nodes, then all other nodes; the target is never masked."""
    with_target = [{target, *nodes} for target, nodes in zip(targets, found, strict=True)]
    plus = faithfulness(case, targets, found).fidelity_plus
    alone = faithfulness(case, targets, with_target)
    both = characterization_score(torch.tensor(plus), torch.tensor(alone.fidelity_minus))
    gea = [
        jaccard(nodes, dataset.truth[target] - {target})
        for target, nodes in zip(targets, found, strict=True)
    ]
    return {
        "fidelity_plus": plus,
        "fidelity_minus": alone.fidelity_minus,
        "characterization": float(both),
        "unfaithfulness": alone.unfaithfulness,
        "gea": float(np.mean(gea)),
    }


def measure_forecasts(
    place: Place, data: str, seed: int, epochs: int, most_targets: int, options: dict[str, Any]
) -> dict[str, Any]:
    """Measure how well networks and baselines forecast whether predictions change.

    Networks are learned twice from the same samples: with the options, and with ``max_nodes=None``.
    """
    dataset = load_node_data(place, data, seed)
    model = trained(place, dataset, seed, epochs)
    targets = spread_out(dataset.targets, most_targets).tolist()
    options = {**options, "progress": False}
    limited, unlimited, other = (
        PGMExplainer(model, dataset.x, dataset.edge_index, **{**options, **changed})
        for changed in (
            {"seed": seed},
            {"seed": seed, "max_nodes": None},
            {"seed": seed + _FRESH},
        )
    )
    learnt, fresh = limited.samples(targets).table, other.samples(targets).table
    qualities = [
        _with_unlimited(*(forecast_quality(each, learnt, fresh) for each in both))
        for both in zip(limited.explain_many(targets), unlimited.explain_many(targets), strict=True)
    ]
    return {
        "data": data,
        "seed": seed,
        "targets": len(targets),
        "measured": sum(map(bool, qualities)),
        "qualities": {way: asdict(each) for way, each in mean_quality(qualities).items()},
    }


def _with_unlimited(
    limited: dict[str, ForecastQuality], unlimited: dict[str, ForecastQuality]
) -> dict[str, ForecastQuality]:
    """Add the forecasts of the network with every node, after those of the smaller one."""
    if not limited or not unlimited:
        return {}
    first = {"network": limited["network"], _UNLIMITED: unlimited["network"]}
    return first | limited


def _table_of(data: str, measured: Sequence[dict[str, Any]]) -> str:
    rows = [[data, *_MEASURES.values(), "passes through the model", "CPU seconds per target"]]
    for explainer in (PGM, *RIVALS):
        of = [each for each in measured if (each["data"], each["explainer"]) == (data, explainer)]
        if of:
            figures = [mean_and_spread(each[measure] for each in of) for measure in _MEASURES]
            seconds = np.mean([each["seconds"] for each in of])
            calls = passes([each["queries"] for each in of])
            rows.append([explainer, *figures, calls, f"{seconds:.3f}"])
    return table(rows)


def _verdict(forecasts: Sequence[dict[str, Any]]) -> str:
    """Count the sets on which the network has the lower log-loss, averaged over seeds."""

    def mean(way: str, data: str) -> float:
        of = [each["qualities"] for each in forecasts if each["data"] == data]
        return float(np.mean([each[way]["log_loss"] for each in of if each]))

    sets = {each["data"] for each in forecasts if each["qualities"]}

    def ahead(network: str, way: str) -> int:
        return sum(mean(network, data) < mean(way, data) for data in sets)

    everything = "logistic (all candidates)"
    return (
        f"Of {len(sets)} sets, the network has a lower log-loss than the base rate in "
        f"{ahead('network', 'base rate')}, than a logistic regression on the same nodes in "
        f"{ahead('network', 'logistic')}, and than a logistic regression on all candidates in "
        f"{ahead('network', everything)}. With `max_nodes=None`, the network holds all significant "
        f"nodes, and has a lower log-loss than the regression on all candidates in "
        f"{ahead(_UNLIMITED, everything)}."
    )


def _forecast_table(forecasts: Sequence[dict[str, Any]]) -> str:
    rows = [["set", "forecast", "log-loss ↓", "Brier ↓", "AUC ↑", "targets"]]
    for data in SYNTHETIC:
        of = [each for each in forecasts if each["data"] == data and each["qualities"]]
        measured, total = (sum(each[key] for each in of) for key in ("measured", "targets"))
        for way in of[0]["qualities"] if of else ():
            qualities = [each["qualities"][way] for each in of]
            figures = [
                mean_and_spread(each[measure] for each in qualities)
                for measure in ("log_loss", "brier", "auc")
            ]
            rows.append([data, way, *figures, f"{measured} of {total}"])
    return table(rows)


def plot_forecasts(forecasts: Sequence[dict[str, Any]], path: Any) -> None:
    """Draw each forecast's log-loss as a share of the base rate's, set by set."""
    figure, axes = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
    for number, (way, (label, colour, mark)) in enumerate(_FORECASTS.items()):
        for at, data in enumerate(SYNTHETIC):
            shares = [
                each["qualities"][way]["log_loss"] / each["qualities"]["base rate"]["log_loss"]
                for each in forecasts
                if each["data"] == data and each["qualities"]
            ]
            if shares:
                axes.errorbar(
                    at + 0.18 * (number - (len(_FORECASTS) - 1) / 2),
                    np.mean(shares),
                    np.std(shares, ddof=1) if len(shares) > 1 else None,
                    color=colour,
                    marker=mark,
                    markersize=7,
                    capsize=3,
                    linestyle="none",
                    label=label if at == 0 else None,
                )
    axes.axhline(1, color=INK, linestyle="--", linewidth=1, label="base rate")
    axes.set_xticks(range(len(SYNTHETIC)), list(SYNTHETIC))
    axes.set_ylim(0, None)
    axes.set_ylabel("log-loss, as a share of the base rate's")
    axes.set_title("Does it predict the model? Lower is better", size=11, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    write_figure(path, figure, dpi=110)
    plt.close(figure)
