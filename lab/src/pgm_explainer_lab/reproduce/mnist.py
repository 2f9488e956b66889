"""Digits as superpixels: the paper's MNIST figure and the sizes of its explanations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from pgm_explainer.report.plots import draw_superpixels

from ..colours import BLUE, INK, ORANGE
from ..defaults import DEFAULT_SAMPLES, DEFAULTS
from ..files import write_figure
from ..rivals import Gradient, Rival, Shapley
from ..superpixels import SuperpixelGraph, mnist_graphs
from .digits import (
    BEST,
    MOST_NODES,
    OURS,
    RIVALS_NODES,
    accuracy_job,
    available_networks,
    explaining_jobs,
    rivals_job,
)
from .markdown import table
from .plan import Plan, Section
from .published import DIGIT_MEAN, DIGIT_SIZES, SAMPLES

__all__ = ["mnist_section", "superpixel_accuracy"]

_DIGITS_SHOWN = 4
_PAPERS, _CODES = SAMPLES["mnist"], 1000
_WAYS = {
    str(_PAPERS): f"published settings, the paper's {_PAPERS} samples",
    str(_CODES): f"published settings, the published code's {_CODES} samples",
    "defaults": f"defaults, {DEFAULT_SAMPLES} samples",
}
_STYLES = ((BLUE, ""), (BLUE, "///"), (ORANGE, ""), (ORANGE, "///"))

Digits = Sequence[Mapping[str, Any]]


def superpixel_accuracy(plan: Plan) -> dict[str, float]:
    """Return the test accuracy of each network, by its owner."""
    networks = available_networks(plan.place)
    jobs = [accuracy_job(whose, code, plan.test_digits) for whose, code in networks.items()]
    return dict(zip(networks, plan.compute(jobs, "testing digits"), strict=True))


def mnist_section(plan: Plan) -> Section:
    """Explain correctly classified test digits with the published settings and the defaults."""
    networks = available_networks(plan.place)
    jobs = {
        whose: explaining_jobs(whose, code, plan.digits, (_PAPERS, _CODES))
        for whose, code in networks.items()
    }
    answers = iter(plan.compute([one for some in jobs.values() for one in some], "explaining"))
    found = {
        whose: [digit for some in islice(answers, len(mine)) for digit in some]
        for whose, mine in jobs.items()
    }
    right = {
        whose: [each for each in digits if each["predicted"] == each["label"]]
        for whose, digits in found.items()
    }
    _draw_examples(plan, _different(right[OURS]), networks[OURS], plan.place.figures / "mnist.png")
    _draw_sizes(right, plan.place.figures / "mnist-sizes.png")
    blocks = [
        "## MNIST: digits as superpixels",
        "Each superpixel has edges to the eight superpixels whose centres are nearest. The "
        "authors seem to have built their graphs this way, because their trained network "
        "classifies more digits correctly on such graphs than on graphs with reversed edges or "
        "with neighbours chosen by position and intensity.",
        f"The table covers those of the first {plan.digits} test digits that the network "
        f"classifies correctly. Only the intensity is perturbed. As in the paper, an explanation "
        f"is the Markov blanket of the prediction; the paper reports {DIGIT_SIZES}. *Published "
        f"settings*: in half of the samples any node can be perturbed, in the other half only the "
        f"{BEST} best. Each of these nodes is chosen with probability 0.1, and a chosen node is "
        f"perturbed with probability 0.5. The eighth of the samples in which the probability falls "
        f"most counts as changed. Of the {MOST_NODES} best nodes, those with a p-value below 0.02 "
        f"in the published test are kept. *Defaults*: at most {DEFAULTS['max_nodes']} nodes.",
        table(list(_size_rows(right))),
        *_if_alone(networks),
        "![Number of nodes in an explanation](figures/mnist-sizes.png)",
        f"Each row is a digit, classified by the package's network. SHAP and GRAD return "
        f"{RIVALS_NODES} nodes, as in the paper.",
        "![Digits and their explanations](figures/mnist.png)",
    ]
    return Section("\n\n".join(blocks), found)


def _if_alone(networks: Mapping[str, str]) -> list[str]:
    missing = "The authors' network is not in the data folder, so it is left out."
    return [missing] if len(networks) == 1 else []


def _size_rows(right: Mapping[str, Digits]) -> Iterator[list[str]]:
    sizes = {(whose, way): _sizes(right[whose], way) for whose in right for way in _WAYS}
    every = sorted(set().union(*sizes.values()))
    yield ["network", "explained by", "digits", *(f"{size} nodes" for size in every), "mean"]
    for (whose, way), counts in sizes.items():
        mean = sum(size * count for size, count in counts.items()) / max(counts.total(), 1)
        shown = (str(counts[size]) for size in every)
        yield [whose, _WAYS[way], str(counts.total()), *shown, f"{mean:.2f}"]


def _sizes(digits: Digits, way: str) -> Counter[int]:
    return Counter(len(digit[way]) for digit in digits)


def _different(digits: Digits) -> Digits:
    """Return the first example of each of the first few classes."""
    first = {digit["label"]: digit for digit in reversed(digits)}
    in_order = sorted(first.values(), key=lambda digit: digit["number"])
    return list(islice(in_order, _DIGITS_SHOWN))


def _draw_examples(plan: Plan, digits: Digits, weights: str, path: Path) -> None:
    rivals: list[Rival] = [Shapley(DEFAULT_SAMPLES), Gradient()]
    jobs = [rivals_job(digit["number"], weights, rivals) for digit in digits]
    graphs = mnist_graphs("test", plan.place.data, [digit["number"] for digit in digits])
    found = [
        {"PGM, as published": digit[str(_PAPERS)], "PGM, defaults": digit["defaults"], **others}
        for digit, others in zip(digits, plan.compute(jobs, "running rivals"), strict=True)
    ]
    figure = plot_digits(graphs, found)
    write_figure(path, figure, dpi=100)
    plt.close(figure)


def plot_digits(graphs: Sequence[SuperpixelGraph], found: Sequence[Mapping[str, Any]]) -> Any:
    """Draw a row for each digit: original, superpixels, and what each explainer found."""
    columns = ["original", "superpixels", *found[0]]
    size = (1.75 * len(columns), 1.75 * len(graphs) + 0.25)
    figure, grid = plt.subplots(
        len(graphs), len(columns), figsize=size, squeeze=False, layout="constrained"
    )
    for row, (graph, nodes) in enumerate(zip(graphs, found, strict=True)):
        panels = [None, (), *nodes.values()]
        for axes, panel, title in zip(grid[row], panels, columns, strict=True):
            shown = title if row == 0 else ""
            draw_superpixels(axes, graph.image, graph.segments, panel, title=shown)
    return figure


def _draw_sizes(right: Mapping[str, Digits], path: Path) -> None:
    """Draw the sizes of explanations with the paper's settings and with the defaults."""
    groups = [(way, whose) for way in (str(_PAPERS), "defaults") for whose in right]
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    width = 0.84 / len(groups)
    for at, (way, whose) in enumerate(groups):
        counts = _sizes(right[whose], way)
        colour, hatch = _STYLES[2 * (way == "defaults") + (whose != OURS)]
        bars = axes.bar(
            [size + width * (at - (len(groups) - 1) / 2) for size in counts],
            list(counts.values()),
            width,
            color=colour,
            hatch=hatch,
            edgecolor=INK,
            linewidth=0.6,
            label=f"{'defaults' if way == 'defaults' else 'published settings'}, {whose} network",
        )
        axes.bar_label(bars, size=8)
    mean = f"the paper's mean, {DIGIT_MEAN}"
    axes.axvline(DIGIT_MEAN, color=INK, linestyle="--", label=mean, zorder=0)
    axes.set_xlabel("nodes in an explanation")
    axes.set_ylabel("digits")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.margins(y=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    write_figure(path, figure, dpi=110)
    plt.close(figure)
