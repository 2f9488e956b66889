"""Which graphical model: families, objectives and searches compared, and a recommendation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from ..arrays import FloatArray
from ..colours import BLUE, INK, ORANGE
from ..files import write_figure
from .jobs import Job
from .markdown import table
from .model_cells import DEFAULT, WAYS, recovery_cell, set_cell
from .models import DATA_SETS, train_models
from .plan import Plan, Section

__all__ = ["models_section"]

_SETS = (*DATA_SETS, "digits")
_CLOSE = 1.02
"""A method is close to the best if its log-loss is at most this many times as large."""
_STATES = (2, 4)
_VARIABLES = 8
_NETWORKS = 10
_RECOVERY = (
    *(
        (score, "auto")
        for score in ("bic", "aic", "bdeu", "bds", "qnml", "fnml", "held_out", "log_likelihood")
    ),
    *(("bic", search) for search in ("hill_climb", "ges", "pc", "mmhc", "order", "bootstrap")),
    *((score, "ges") for score in ("bdeu", "qnml")),
)
_MEASURES = {
    "calibration": ("calibration error", "{:.3f}"),
    "motif": ("blanket in motif", "{:.2f}"),
    "effect": ("share of effect", "{:.2f}"),
    "stability": ("stability", "{:.2f}"),
    "blanket": ("blanket", "{:.1f}"),
    "seconds": ("ms", "{:.1f}"),
}
_INTRO = """\
The paper's formulation "supports the exploration of other graphical models", and its authors \
would "analyze the impact of different objective functions and structure learning methods on \
explainers' quality and the running time". This page does both. Each method of learning a network \
is written as family, objective, search. *No leaf*: the target may have children (the paper's \
Algorithm 1). *Full table*: the target has the paper's table instead of a noisy-or. *tests*: the \
search uses independence tests instead of an objective."""
_ABOUT_RECOVERY = f"""\
Data of {_NETWORKS} random networks each with {_VARIABLES} variables of 2 and of 4 states, up to \
two parents and 1,000 rows. *SHD*: the structural Hamming distance between the equivalence class \
found and the true one, averaged over networks; *class found*: the share of networks with \
distance 0; *ms*: CPU time. With the log-likelihood alone, a variable has at most two parents; \
`auto` is exact search or hill climbing."""
_ABOUT_SETS = """\
For each target, all methods get the same samples and nodes, so differences are due to step 3. \
The network forecasts whether the prediction changes, given only which nodes are perturbed, on \
1,000 samples of another seed. *Log-loss* is in nats, lower is better; **bold** is the best of a \
set. *worst* is the largest ratio, over the sets, of a method's log-loss to that of the best \
method."""
_ABOUT_MEASURES = """\
Means over targets and sets. *Calibration error*: the mean distance between forecast and share \
of changes in ten groups of equal size. *Blanket in motif*: the share of the target's Markov \
blanket that is in the true explanation. *Share of effect*: the blanket's share of all \
significant effects. *Stability*: the Jaccard index of the blankets of two seeds of the \
explanation. *Blanket*: its number of nodes. *ms*: CPU time of step 3 for a target."""


def models_section(plan: Plan) -> Section:
    """Compare all methods of learning on all sets and on data of known networks.

    The recommendation is chosen on the first seed; figures are of the others, if there are any.
    """
    sets = [each for each in _SETS if plan.faithful_sets is None or each in plan.faithful_sets]
    train_models(plan, [each for each in sets if each in DATA_SETS], plan.model_seeds)
    cells = plan.compute(_set_jobs(plan, sets), "comparing models")
    recovery = plan.compute(_recovery_jobs(), "known networks")
    first = [cell for cell in cells if cell["seed"] == 0]
    others = [cell for cell in cells if cell["seed"] > 0] or first
    losses = _losses(others, sets)
    figures = plan.place.figures
    plot_losses(losses, sets, figures / "models-log-loss.png")
    plot_recovery(recovery, figures / "models-recovery.png")
    blocks = [
        _INTRO,
        "## Recommendation",
        _recommendation(_losses(first, sets), losses, sets, alone=others is first),
        "## Forecasts",
        f"{plan.targets} targets of each set. {_ABOUT_SETS}",
        _loss_table(losses, sets),
        f"![Log-loss relative to the best]({figures.name}/models-log-loss.png)",
        "## Explanations and time",
        _ABOUT_MEASURES,
        _measure_table(others),
        _failures(others),
        "## Known networks",
        _ABOUT_RECOVERY,
        _recovery_table(recovery),
        f"![Distance from the true class]({figures.name}/models-recovery.png)",
    ]
    return Section("\n\n".join(block for block in blocks if block), [*cells, *recovery])


def _set_jobs(plan: Plan, sets: Sequence[str]) -> list[Job]:
    return [
        Job(
            f"models-{data}-{seed}",
            set_cell,
            {
                "data": data,
                "seed": seed,
                "epochs": plan.epochs,
                "targets": plan.targets,
                "ways": list(WAYS),
            },
        )
        for seed in range(plan.model_seeds)
        for data in sets
    ]


def _recovery_jobs() -> list[Job]:
    return [
        Job(
            f"recovery-{states}-{seed}",
            recovery_cell,
            {"seed": seed, "states": states, "variables": _VARIABLES, "searches": list(_RECOVERY)},
        )
        for states in _STATES
        for seed in range(_NETWORKS)
    ]


def _losses(cells: Sequence[Mapping[str, Any]], sets: Sequence[str]) -> dict[str, list[float]]:
    """Return the mean log-loss of each method on each set; NaN if it failed for a target."""
    return {way.name: [_mean(cells, way.name, data, "log_loss") for data in sets] for way in WAYS}


def _mean(cells: Sequence[Mapping[str, Any]], way: str, data: str | None, what: str) -> float:
    found = [
        target.get(what, np.nan)
        for cell in cells
        if data in (None, cell["data"])
        for target in cell["ways"][way]
    ]
    failed = any(
        "error" in target for cell in cells if data == cell["data"] for target in cell["ways"][way]
    )
    known = [value for value in found if not np.isnan(value)]
    return float("nan") if failed or not known else float(np.mean(known))


def _ratios(losses: Mapping[str, Sequence[float]]) -> FloatArray:
    """Return the log-loss of each method divided by the best of each set, ``[methods, sets]``."""
    values = np.array(list(losses.values()))
    return np.asarray(values / np.nanmin(values, axis=0))


def _worst(losses: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the largest ratio of each method; infinite if it failed on a set."""
    ratios = _ratios(losses)
    worst = np.where(np.isnan(ratios), np.inf, ratios).max(axis=1)
    return dict(zip(losses, worst.tolist(), strict=True))


def _recommendation(
    first: Mapping[str, Sequence[float]],
    others: Mapping[str, Sequence[float]],
    sets: Sequence[str],
    alone: bool,
) -> str:
    chosen, worst = _worst(first), _worst(others)
    best = min(chosen, key=lambda way: (round(chosen[way], 4), way != DEFAULT.name))
    tied = [way for way in chosen if round(chosen[way], 4) == round(chosen[best], 4)]
    rows = []
    ratios = _ratios(others)
    for at, data in enumerate(sets):
        order = np.argsort(np.where(np.isnan(ratios[:, at]), np.inf, ratios[:, at]), kind="stable")
        names = list(others)
        close = int((ratios[:, at] <= _CLOSE).sum())
        mine = ratios[names.index(DEFAULT.name), at]
        rows.append([data, names[order[0]], f"{mine:.3f}", f"{close} of {len(names)}"])
    reached = "within" if worst[best] <= _CLOSE else "not within"
    also = "" if len(tied) == 1 else f" ({len(tied) - 1} others are equal to four digits)"
    where = "On the same data, as there is only one seed" if alone else "On the other seeds"
    text = (
        f"On each set, the log-loss of a method is divided by that of the best method; its "
        f"*worst ratio* is the largest of these values. On the first seed, **{best}** has the "
        f"smallest worst ratio{also}, {chosen[best]:.3f}. {where}, its worst ratio is "
        f"{worst[best]:.3f}, {reached} 2% of the best. The worst ratio of the default, "
        f"{DEFAULT.name}, is {worst[DEFAULT.name]:.3f}."
    )
    text += f" {_what_matters(worst)}"
    header = ["set", "best", "the default over the best", "within 2% of the best"]
    return f"{text}\n\n{table([header, *rows])}"


def _what_matters(worst: Mapping[str, float]) -> str:
    """Compare the methods with a noisy-or leaf with all others."""
    noisy = {
        way.name
        for way in WAYS
        if (way.family, way.leaf, way.table) == ("bayesian", True, "auto")
        and way.score != "log_likelihood"
    }
    best = min((way for way in worst if way not in noisy), key=worst.__getitem__)
    return (
        f"The distribution of the target matters most: with a noisy-or leaf, the worst ratio of "
        f"every objective and search is at most {max(worst[way] for way in noisy):.3f} (except for "
        f"the log-likelihood alone, whose limit of two parents also applies to the target). The "
        f"best of all other methods, {best}, has {worst[best]:.3f}."
    )


def _loss_table(losses: Mapping[str, Sequence[float]], sets: Sequence[str]) -> str:
    best = np.nanmin(np.array(list(losses.values())), axis=0)
    worst = _worst(losses)
    rows = []
    for way, values in losses.items():
        cells = []
        for value, least in zip(values, best, strict=True):
            text = "" if np.isnan(value) else f"{value:.3f}"
            cells.append(f"**{text}**" if text == f"{least:.3f}" else text)
        rows.append([way, *cells, f"{worst[way]:.2f}" if np.isfinite(worst[way]) else ""])
    return table([["", *sets, "worst"], *rows])


def _measure_table(cells: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for way in WAYS:
        row = [way.name]
        for what, (_, form) in _MEASURES.items():
            value = _mean(cells, way.name, None, what) * (1000 if what == "seconds" else 1)
            row.append("" if np.isnan(value) else form.format(value))
        rows.append(row)
    return table([["", *(title for title, _ in _MEASURES.values())], *rows])


def _failures(cells: Sequence[Mapping[str, Any]]) -> str:
    failed: dict[str, list[str]] = {}
    for cell in cells:
        for way, targets in cell["ways"].items():
            failed.setdefault(way, []).extend(each["error"] for each in targets if "error" in each)
    lines = [
        f"- {way}: {len(errors)} targets, such as: {errors[0]}"
        for way, errors in failed.items()
        if errors
    ]
    return "\n".join(["Methods that failed for some targets:", "", *lines]) if lines else ""


def _recovery(cells: Sequence[Mapping[str, Any]], states: int, way: str, what: str) -> float:
    return float(np.mean([each["found"][way][what] for each in cells if each["states"] == states]))


def _recovery_table(cells: Sequence[Mapping[str, Any]]) -> str:
    header = ["objective, search"]
    for states in _STATES:
        header += [f"SHD, {states} states", f"class found, {states}", f"ms, {states}"]
    rows = []
    for way in cells[0]["found"]:
        row = [way]
        for states in _STATES:
            shd, exact, seconds = (
                _recovery(cells, states, way, what) for what in ("distance", "exact", "seconds")
            )
            row += [f"{shd:.2f}", f"{exact:.0%}", f"{1000 * seconds:.1f}"]
        rows.append(row)
    return table([header, *rows])


def plot_losses(losses: Mapping[str, Sequence[float]], sets: Sequence[str], path: Path) -> None:
    """Draw the log-loss of each method relative to the best of each set."""
    percent = 100 * (_ratios(losses) - 1)
    figure, axes = plt.subplots(figsize=(8.5, 10.5), layout="constrained")
    image = axes.imshow(percent, cmap="PuBu", vmin=0, vmax=60, aspect="auto")
    for (row, column), value in np.ndenumerate(percent):
        if not np.isnan(value):
            colour = "white" if value > 35 else INK
            axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour, size=8)
    axes.set_xticks(range(len(sets)), sets)
    axes.set_yticks(range(len(losses)), list(losses), size=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("Log-loss above the best of each set, in percent", size=11, color=INK)
    figure.colorbar(image, ax=axes, shrink=0.4, extend="max")
    write_figure(path, figure, dpi=110)
    plt.close(figure)


def plot_recovery(cells: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the distance from the true class, for each objective and search."""
    ways = list(cells[0]["found"])
    figure, axes = plt.subplots(figsize=(7.5, 5), layout="constrained")
    rows = np.arange(len(ways))
    for shift, states, colour in ((-0.2, 2, BLUE), (0.2, 4, ORANGE)):
        values = [_recovery(cells, states, way, "distance") for way in ways]
        axes.barh(rows + shift, values, height=0.38, color=colour, label=f"{states} states")
    axes.set_yticks(rows, ways, size=9)
    axes.invert_yaxis()
    axes.set_xlabel("structural Hamming distance from the true class")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    write_figure(path, figure, dpi=110)
    plt.close(figure)
