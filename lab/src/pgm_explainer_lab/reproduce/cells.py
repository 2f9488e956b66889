"""Cells of the tables: one data set, one seed, one explainer, judged by both protocols."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..arrays import IntArray
from ..defaults import DEFAULT_SAMPLES, DEFAULTS
from ..rivals import Case, Chance, Degree, Gradient, LearntMask, Proximity, Queries, Rival, Shapley
from .jobs import Job, Place
from .judge import judge, pgm_findings, rival_findings
from .models import load_node_data, train_models, trained
from .plan import Plan

__all__ = [
    "MORE_FOR_QUICK",
    "PGM",
    "PUBLISHED",
    "RIVALS",
    "SAME_TARGETS",
    "compute_cells",
    "default_options",
    "make_rivals",
    "pgm_cell",
    "published_options",
    "rival_cell",
    "select",
    "spread_out",
]

PGM = "PGM-Explainer"
PUBLISHED = "PGM-Explainer, published settings"
SAME_TARGETS = {PGM: "PGM-Explainer, the rivals' targets", "random": "random, the rivals' targets"}
"""Explainers that are also run on the few targets that the slow rivals explain."""
RIVALS = ("SHAP", "GNNExplainer", "GRAD", "random", "degree", "proximity")

MORE_FOR_QUICK = 100
"""Rivals that call the model only a few times explain this many times as many targets."""
_FEW = 10  # passes through the model for a target

_PUBLISHED_SAMPLES = {"syn4": 1600, "syn5": 4000, "alpha": 1000, "otc": 1000}
_FINE = ("syn3", "syn5")


def default_options(**changed: Any) -> dict[str, Any]:
    """Return all options of the explainer, so that results with other defaults are not reused."""
    return {**DEFAULTS, **changed}


def published_options(data: str) -> dict[str, Any]:
    """Return the settings of the published code, which sometimes differ from the paper's text."""
    return default_options(
        num_samples=_PUBLISHED_SAMPLES.get(data, 800),
        perturbation="random",
        perturb_probability=0.5,
        change=0.05 if data in _FINE else 0.1,
        correction="none",
        test="chi_square",
    )


def make_rivals(seed: int) -> list[Rival]:
    """Return the explainers to compare with; SHAP gets as many model calls as PGM-Explainer."""
    return [
        Shapley(DEFAULT_SAMPLES, seed),
        LearntMask(seed=seed),
        Gradient(),
        Chance(seed),
        Degree(),
        Proximity(),
    ]


def compute_cells(
    plan: Plan, names: Sequence[str], hops: Sequence[int], papers_hops: int
) -> list[dict[str, Any]]:
    """Return the cells of some data sets for all explainers, with candidates within ``hops``.

    The published settings are run only with the number of hops of the paper's protocol.
    """
    train_models(plan, names, plan.seeds)
    jobs: list[Job] = []
    for seed in range(plan.seeds):
        for data in names:
            for reach in hops:
                where = {"data": data, "seed": seed, "hops": reach, "epochs": plan.epochs}
                jobs += _pgm_jobs(where, both=reach == papers_hops)
                jobs += _rival_jobs(where, plan)
                jobs += _same_targets_jobs(where, plan)
    return plan.compute(jobs, "explaining")


def _pgm_jobs(where: dict[str, Any], both: bool) -> Iterator[Job]:
    ways = {PGM: default_options()}
    if both:
        ways[PUBLISHED] = published_options(where["data"])
    for name, options in ways.items():
        yield _job(pgm_cell, where, explainer=name, options=options)


def _rival_jobs(where: dict[str, Any], plan: Plan) -> Iterator[Job]:
    """Yield jobs: few targets of some seeds for slow rivals, more targets for fast ones.

    Rivals that do not call the model always run, on all targets.
    """
    for rival in make_rivals(where["seed"]):
        calls = rival.queries.forwards
        if not calls:
            yield _job(rival_cell, where, rival=rival, most_targets=None)
        elif plan.rivals and calls <= _FEW:
            most = plan.rival_targets * MORE_FOR_QUICK
            yield _job(rival_cell, where, rival=rival, most_targets=most)
        elif plan.rivals and where["seed"] < plan.seeds_of_rivals:
            yield _job(rival_cell, where, rival=rival, most_targets=plan.rival_targets)


def _same_targets_jobs(where: dict[str, Any], plan: Plan) -> Iterator[Job]:
    if plan.rivals and where["seed"] < plan.seeds_of_rivals:
        few = {"most_targets": plan.rival_targets}
        options, name = default_options(), SAME_TARGETS[PGM]
        yield _job(pgm_cell, where, explainer=name, options=options, **few)
        chance = Chance(where["seed"])
        yield _job(rival_cell, where, rival=chance, explainer=SAME_TARGETS[chance.name], **few)


def _job(work: Any, where: dict[str, Any], **inputs: Any) -> Job:
    explainer = inputs.get("explainer") or inputs["rival"].name
    parts = (where["data"], where["seed"], re.sub(r"\W+", "-", explainer))
    return Job("-".join(map(str, parts)), work, {**where, **inputs})


def pgm_cell(
    place: Place,
    data: str,
    seed: int,
    hops: int,
    epochs: int,
    explainer: str,
    options: dict[str, Any],
    most_targets: int | None = None,
) -> dict[str, Any]:
    """Explain some or all targets with PGM-Explainer and score the rankings."""
    dataset = load_node_data(place, data, seed)
    model = trained(place, dataset, seed, epochs)
    options = {**options, "hops": hops, "seed": seed}
    targets = spread_out(dataset.targets, most_targets)
    start = time.process_time()
    findings = pgm_findings(model, dataset, targets, **options)
    return {
        "data": data,
        "seed": seed,
        "hops": hops,
        "explainer": explainer,
        "targets": len(findings),
        "seconds": time.process_time() - start,
        "queries": asdict(Queries(options["num_samples"], shared=True)),
        "judged": judge(dataset, dict(zip(targets.tolist(), findings, strict=True))),
    }


def rival_cell(
    place: Place,
    data: str,
    seed: int,
    hops: int,
    epochs: int,
    rival: Rival,
    most_targets: int | None,
    explainer: str | None = None,
) -> dict[str, Any]:
    """Explain some or all targets with another explainer and score the rankings."""
    dataset = load_node_data(place, data, seed)
    case = Case(trained(place, dataset, seed, epochs), dataset.x, dataset.edge_index, hops=hops)
    targets = spread_out(dataset.targets, most_targets)
    start = time.process_time()
    findings = rival_findings(rival, case, targets)
    return {
        "data": data,
        "seed": seed,
        "hops": hops,
        "explainer": explainer or rival.name,
        "targets": len(findings),
        "seconds": time.process_time() - start,
        "queries": asdict(rival.queries),
        "judged": judge(dataset, dict(zip(targets.tolist(), findings, strict=True))),
    }


def spread_out(targets: IntArray, most: int | None) -> IntArray:
    """Return at most ``most`` of the targets, evenly spread; all of them for None.

    Examples:
        >>> spread_out(np.arange(10, 20), 3).tolist()
        [10, 14, 19]
    """
    if most is None or most >= len(targets):
        return targets
    return targets[np.linspace(0, len(targets) - 1, most).round().astype(int)]


def select(
    cells: Iterable[dict[str, Any]], data: str, explainer: str, hops: int
) -> list[dict[str, Any]]:
    """Return the cells of a data set and an explainer, one per seed."""
    wanted = (data, explainer, hops)
    return [each for each in cells if (each["data"], each["explainer"], each["hops"]) == wanted]
