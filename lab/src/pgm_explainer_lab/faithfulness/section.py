"""The faithfulness section: explanations measured against the model."""

from __future__ import annotations

from typing import Any

from pgm_explainer import InputError

from ..reproduce.cells import default_options
from ..reproduce.jobs import Job
from ..reproduce.plan import Plan, Section
from .cells import (
    COVERAGE_SETS,
    NULL_SETS,
    community_job,
    coverage_job,
    explainer_jobs,
    null_job,
    truth_job,
)
from .explainers import OURS, rivals_by_name
from .plots import draw_figures
from .sets import COMMUNITY, SETS, is_available
from .tables import write_section

__all__ = ["faithfulness_section"]

_COMMUNITY_TARGETS = 6
_TOO_DEAR = ("SHAP",)
"""Explainers too slow for the community test: SHAP would have a thousand players in each game."""
_NOT_OPTIONS = ("task", "num_layers", "hops", "features", "structure", "seed")


def faithfulness_section(plan: Plan) -> Section:
    """Measure every explainer on every set whose data is available."""
    known = (*SETS, COMMUNITY)
    wanted = plan.faithful_sets or known
    unknown = [data for data in wanted if data not in known]
    if unknown:
        raise InputError(f"unknown set {unknown[0]!r}; choose from: {', '.join(known)}")
    sets = [data for data in SETS if data in wanted and is_available(plan.place, data)]
    options = default_options()
    for given in _NOT_OPTIONS:
        options.pop(given, None)
    where = [
        {"data": data, "seed": seed, "most": plan.targets, "epochs": plan.epochs}
        for seed in range(plan.faithful_seeds)
        for data in sets
    ]
    truths = plan.compute([truth_job(each) for each in where], "finding the truth")
    jobs = [job for each in where for job in explainer_jobs(each, options, plan.rivals)]
    cells = [cell for found in plan.compute(jobs, "explaining") for cell in found]
    coverage = [coverage_job(each, options) for each in where if each["data"] in COVERAGE_SETS]
    nulls = [null_job(each, options) for each in where if each["data"] in NULL_SETS]
    results = {
        "truths": truths,
        "cells": cells,
        "coverage": plan.compute(coverage, "checking intervals"),
        "nulls": plan.compute(nulls, "counting false discoveries"),
        "community": plan.compute(
            _community_jobs(plan, options) if COMMUNITY in wanted else [], "moving edges"
        ),
        "missing": [data for data in SETS if data in wanted and data not in sets],
    }
    figures = draw_figures(plan.place.figures, results)
    return Section(write_section(results, figures), results)


def _community_jobs(plan: Plan, options: dict[str, Any]) -> list[Job]:
    """Return jobs for the community test, with few targets because it takes long."""
    most = min(plan.targets, _COMMUNITY_TARGETS)
    silent = {name for name, rival in rivals_by_name(0).items() if not rival.queries.forwards}
    others = [name for name in rivals_by_name(0) if plan.rivals or name in silent]
    return [
        community_job(seed, most, name, options)
        for seed in range(plan.faithful_seeds)
        for name in [*OURS, *others]
        if name not in _TOO_DEAR
    ]
