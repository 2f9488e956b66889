"""Ablation study of the defaults: accuracy with one setting changed at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from pgm_explainer.sampling import Absolute, Fall, Levels, TopFraction

from ..arrays import FloatArray
from ..bitcoin import BITCOIN
from ..colours import INK
from ..files import write_figure
from ..synthetic import SYNTHETIC
from .cells import default_options
from .jobs import Job, Place
from .judge import judge, pgm_findings
from .markdown import mean_and_spread, table
from .models import DATA_SETS, load_node_data, train_models, trained
from .plan import Plan, Section

__all__ = ["VARIATIONS", "ablation_section"]

_DEFAULTS = "the defaults"
VARIATIONS: dict[str, dict[str, Any]] = {
    _DEFAULTS: {},
    "p = 0.05": {"perturb_probability": 0.05},
    "p = 0.25": {"perturb_probability": 0.25},
    "p = 0.5": {"perturb_probability": 0.5},
    "random 0/1": {"perturbation": "random"},
    "mean (random where constant)": {"perturbation": "mean"},
    "zero": {"perturbation": "zero"},
    "a fall of 0.05": {"change": Fall(0.05)},
    "a fall of 0.1": {"change": Fall(0.1)},
    "a move of 0.05 either way": {"change": Absolute(0.05)},
    "a large move either way": {"change": "large_move"},
    "another class": {"change": "flip"},
    "levels at 0.05 and 0.3": {"change": Levels((0.05, 0.3))},
    "the upper half of falls": {"change": TopFraction(0.5)},
    "χ² instead of G": {"test": "chi_square"},
    "as published (p = 0.5, random, 0.1)": {
        "perturb_probability": 0.5,
        "perturbation": "random",
        "change": Fall(0.1),
        "test": "chi_square",
    },
    "400 samples": {"num_samples": 400},
    "2000 samples": {"num_samples": 2000},
}
WIDE_VARIATIONS: dict[str, dict[str, Any]] = {
    _DEFAULTS: {},
    "4000 samples": {"num_samples": 4000},
    "zero": {"perturbation": "zero"},
    "a large move either way": {"change": "large_move"},
    "χ² instead of G": {"test": "chi_square"},
}
"""Variations for thousands of candidates: three hops in a Bitcoin network."""


def ablation_section(plan: Plan) -> Section:
    """Measure each variation on each set by the paper's protocol, and some on wide Bitcoin."""
    names = DATA_SETS if plan.bitcoin_ablation else tuple(SYNTHETIC)
    train_models(plan, names, plan.seeds)
    answers = plan.compute(_jobs(plan, names, VARIATIONS, hops=None), "varying settings")
    section = _paper_section(plan, names, answers)
    if not plan.bitcoin_ablation:
        return section
    wide = plan.compute(_jobs(plan, BITCOIN, WIDE_VARIATIONS, hops=3), "varying settings, 3 hops")
    return Section(f"{section.markdown}\n\n{_wide_table(wide)}", [*section.results, *wide])


def _jobs(
    plan: Plan, names: Iterable[str], variations: Mapping[str, dict[str, Any]], hops: int | None
) -> list[Job]:
    return [
        Job(
            f"ablation-{data}-{seed}",
            measure_variation,
            {
                "data": data,
                "seed": seed,
                "epochs": plan.epochs,
                "variation": variation,
                "options": default_options(**options),
                "hops": hops,
            },
        )
        for seed in range(plan.seeds)
        for data in names
        for variation, options in variations.items()
    ]


def _wide_table(answers: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [variation, *(mean_and_spread(_shares(answers, variation, data)) for data in BITCOIN)]
        for variation in WIDE_VARIATIONS
    ]
    return "\n\n".join(
        (
            "Bitcoin by the strict protocol (candidates within three hops, the target excluded), "
            "top 3. Accounts whose predictions share a cause with the target's depend on it "
            "statistically, and a ranking by dependence puts many of them above the accounts that "
            "rated the target.",
            table([["", *BITCOIN], *rows]),
        )
    )


def _paper_section(
    plan: Plan, names: Sequence[str], answers: Sequence[Mapping[str, Any]]
) -> Section:
    path = plan.place.figures / "ablation.png"
    means = np.array([[_mean(answers, row, data) for data in names] for row in VARIATIONS])
    plot_ablation(means, names, path)
    header = ["", *names, "mean of the sets"]
    rows = [
        [
            variation,
            *(mean_and_spread(_shares(answers, variation, data)) for data in names),
            f"{mean.mean():.3f}",
        ]
        for variation, mean in zip(VARIATIONS, means, strict=True)
    ]
    blocks = [
        "## Why these defaults",
        "The paper's protocol with one setting changed at a time: the perturbation probability p, "
        "the perturbation, the definition of a change, the test, or the number of samples."
        + (" Bitcoin: top 3, within one hop." if names == DATA_SETS else ""),
        table([header, *rows]),
        f"![Difference from the defaults]({path.parent.name}/{path.name})",
    ]
    return Section("\n\n".join(blocks), list(answers))


def measure_variation(
    place: Place,
    data: str,
    seed: int,
    epochs: int,
    variation: str,
    options: dict[str, Any],
    hops: int | None,
) -> dict[str, Any]:
    """Return the accuracy of explanations with these options.

    Without ``hops`` the paper's protocol and its number of hops are used, otherwise the strict
    protocol.
    """
    dataset = load_node_data(place, data, seed)
    constant = bool((dataset.x == dataset.x[0]).all())
    if constant and options["perturbation"] == "mean":
        options = {**options, "perturbation": "random"}  # the mean would change nothing
    options = {**options, "hops": hops or (1 if data in BITCOIN else 3), "seed": seed}
    model = trained(place, dataset, seed, epochs)
    findings = pgm_findings(model, dataset, dataset.targets, **options)
    judged = judge(dataset, dict(zip(dataset.targets.tolist(), findings, strict=True)))
    measures = judged["top 3" if data in BITCOIN else "motif"]
    share = measures["strict" if hops else "paper"]
    return {"data": data, "seed": seed, "variation": variation, "share": share}


def _shares(answers: Sequence[Mapping[str, Any]], variation: str, data: str) -> list[float]:
    wanted = (variation, data)
    return [each["share"] for each in answers if (each["variation"], each["data"]) == wanted]


def _mean(answers: Sequence[Mapping[str, Any]], variation: str, data: str) -> float:
    return float(np.mean(_shares(answers, variation, data)))


def plot_ablation(means: FloatArray, names: Sequence[str], path: Path) -> None:
    """Draw the difference of each variation ``[variations, sets]`` from the first."""
    points = np.round(100 * (means[1:] - means[0]), 1) + 0.0  # turns -0 into 0
    figure, axes = plt.subplots(figsize=(7.5, 5.6), layout="constrained")
    image = axes.imshow(points, cmap="PuOr", vmin=-10, vmax=10, aspect="auto")
    for (row, column), value in np.ndenumerate(points):
        strong = abs(value) > 6
        colour = "white" if strong else INK
        axes.text(column, row, f"{value:+.1f}", ha="center", va="center", color=colour, size=9)
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(points)), list(VARIATIONS)[1:])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("Difference from the defaults, in percentage points", size=11, color=INK)
    figure.colorbar(image, ax=axes, shrink=0.5, extend="both")
    write_figure(path, figure, dpi=110)
    plt.close(figure)
