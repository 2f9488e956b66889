"""Digits as superpixels: the paper's MNIST figure, and how many nodes explanations have."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import chi2
from torch import nn

from ...arrays import IntArray
from ...explainer import PGMExplainer
from ...io.files import write_figure
from ...learning import Problem, learn_networks
from ...plans import learning_plan, selection_plan
from ...report.colours import BLUE, INK, ORANGE
from ...report.plots import draw_superpixels
from ...sampling import GRAPH, PERTURBATIONS, Population, TopFraction
from ...sampling.randomness import Draws
from ...selection import Neighbourhood, select_variables
from ...settings import Settings
from ..rivals import Case, Gradient, Rival, Shapley, top_nodes
from ..superpixel_gnn import load_superpixel_gcn
from ..superpixels import SuperpixelGraph, mnist_graphs
from .cells import default_options
from .jobs import Job, Place
from .markdown import table
from .plan import Plan, Section
from .published import DIGIT_MEAN, DIGIT_SIZES

__all__ = ["mnist_section", "superpixel_accuracy"]

_INTENSITY = 0
_RIVALS_NODES = 3
_DIGITS_SHOWN = 4
_AT_ONCE = 10

_MOST_NODES = 4
_BEST = 4 * _MOST_NODES
_WRONG_DOF = 3
"""Of a table of 2 by 2, by the published test; 1 is right."""
PUBLISHED_OPTIONS: dict[str, Any] = {
    "task": "graph",
    "features": [_INTENSITY],
    "num_samples": 500,  # in each of two rounds
    "perturb_probability": 0.1 * 0.5,  # and a coin
    "change": TopFraction(1 / 8),
    # A p-value of 0.02 by the published test is this one by a right test.
    "significance": float(chi2.sf(chi2.isf(0.02, _WRONG_DOF), 1)),
    "correction": "none",
    "max_nodes": _MOST_NODES,
}
"""The settings behind the paper's figure."""


@dataclass(frozen=True)
class _MeanOf:
    """The mean for some nodes; the others keep what they have."""

    nodes: IntArray
    name: str = "mean of some"

    def __call__(self, population: Population, draws: Draws) -> NDArray[Any]:
        mean = PERTURBATIONS["mean"](population, draws)
        chosen = np.isin(draws.nodes, self.nodes)[..., None]
        return np.where(chosen, mean, population.x[draws.nodes])


def mnist_section(plan: Plan) -> Section:
    """Explain rightly predicted test digits, the published way and by the defaults."""
    weights = _weights()
    jobs = [
        Job(
            f"digits-{start}",
            explain_digits,
            {
                "numbers": [start, min(start + _AT_ONCE, plan.digits)],
                "published": PUBLISHED_OPTIONS,
                "options": default_options(task="graph", features=[_INTENSITY]),
            },
            rests_on=weights,
        )
        for start in range(0, plan.digits, _AT_ONCE)
    ]
    digits = [digit for some in plan.compute(jobs, "explaining digits") for digit in some]
    right = [digit for digit in digits if digit["predicted"] == digit["label"]]
    _draw_examples(plan, _different(right), weights, plan.place.figures / "mnist.png")
    _draw_sizes(right, plan.place.figures / "mnist-sizes.png")
    blocks = [
        "## MNIST: digits as superpixels",
        f"Of the first {plan.digits} test digits the {len(right)} that are predicted rightly; the "
        f"intensity alone is perturbed. *As published*: 1000 samples in two rounds (of all nodes, "
        f"then of the {_BEST} best), each node perturbed with probability 0.1 and then by a coin, "
        f"the eighth of the samples with the largest falls counted as changes, and of the "
        f"{_MOST_NODES} best nodes those with a p-value below 0.02 by the published test. "
        f"*Defaults*: at most {Settings.max_nodes} nodes. The paper tells of {DIGIT_SIZES}.",
        table(list(_size_rows(right))),
        "![How many nodes explanations have](figures/mnist-sizes.png)",
        f"Each row is a digit. SHAP and GRAD return {_RIVALS_NODES} nodes, as in the paper.",
        "![Digits and their explanations](figures/mnist.png)",
    ]
    return Section("\n\n".join(blocks), digits)


def _size_rows(digits: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    sizes = {way: Counter(len(digit[way]) for digit in digits) for way in _WAYS}
    every = sorted(set().union(*sizes.values()))
    yield ["digits with explanations of", *(f"{size} nodes" for size in every), "mean"]
    for way, counts in sizes.items():
        mean = sum(size * count for size, count in counts.items()) / max(counts.total(), 1)
        yield [_WAYS[way], *(str(counts[size]) for size in every), f"{mean:.2f}"]


_WAYS = {
    "published": "as published: nodes returned",
    "published_blanket": "as published: Markov blanket",
    "defaults": "defaults: nodes returned",
    "defaults_blanket": "defaults: Markov blanket",
}


def explain_digits(
    place: Place,
    numbers: tuple[int, int],
    published: dict[str, Any],
    options: dict[str, Any],
) -> list[dict[str, Any]]:
    """Explain test digits from one number to before another, both ways."""
    model = load_superpixel_gcn()
    answers = []
    for number, graph in enumerate(
        mnist_graphs("test", place.data, range(*numbers)), start=numbers[0]
    ):
        explainer = PGMExplainer(model, graph.x, graph.edge_index, progress=False, **options)
        explanation = explainer.explain()
        nodes, blanket = _as_published(model, graph, published)
        answers.append(
            {
                "number": number,
                "label": graph.label,
                "predicted": explanation.predicted_class,
                "published": nodes,
                "published_blanket": blanket,
                "defaults": explanation.nodes,
                "defaults_blanket": _in_order(explanation.nodes, explanation.markov_blanket),
            }
        )
    return answers


def _as_published(
    model: nn.Module, graph: SuperpixelGraph, options: dict[str, Any]
) -> tuple[list[int], list[int]]:
    """Return the nodes of the published way, and those of them in the Markov blanket."""
    settings = Settings(**options)
    every = np.arange(len(graph.x))
    best = every
    for seed in range(2):
        perturbation = _MeanOf(best)
        explainer = PGMExplainer(
            model,
            graph.x,
            graph.edge_index,
            perturbation=perturbation,
            seed=seed,
            progress=False,
            **options,
        )
        samples = explainer.samples([None]).table
        near = Neighbourhood(GRAPH, best)
        (ranking,) = select_variables(samples, [near], selection_plan(settings))
        best = np.sort(ranking.nodes[:_BEST])
    nodes = ranking.nodes[ranking.selected].tolist()
    learning = learning_plan(settings)
    assert learning is not None
    (network,) = learn_networks(samples, [Problem(GRAPH, nodes)], learning)
    return nodes, _in_order(nodes, network.markov_blanket(GRAPH))


def _in_order(nodes: Sequence[Any], some: Sequence[Any]) -> list[Any]:
    return [node for node in nodes if node in set(some)]


def superpixel_accuracy(plan: Plan) -> dict[str, Any]:
    """Return how many test digits the package's network predicts rightly."""
    job = Job("digits-accuracy", share_of_digits, {"digits": plan.test_digits}, _weights())
    (answer,) = plan.compute([job], "testing digits")
    return dict(answer)


def share_of_digits(place: Place, digits: int) -> dict[str, Any]:
    """Return the share of the first test digits that is predicted rightly."""
    graphs = mnist_graphs("test", place.data, range(digits))
    model = load_superpixel_gcn()
    right = [_predicted(model, graph) == graph.label for graph in graphs]
    return {"digits": digits, "accuracy": float(np.mean(right))}


@torch.no_grad()
def _predicted(model: nn.Module, graph: SuperpixelGraph) -> int:
    return int(model(torch.from_numpy(graph.x), torch.from_numpy(graph.edge_index)).argmax())


def _weights() -> str:
    """A code for the network's weights: what rests on others is not reused."""
    state = load_superpixel_gcn().state_dict()
    contents = b"".join(torch.as_tensor(value).numpy().tobytes() for value in state.values())
    return hashlib.sha256(contents).hexdigest()[:12]


def _different(digits: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first few digits that show different numbers."""
    first = {digit["label"]: digit for digit in reversed(digits)}
    in_order = sorted(first.values(), key=lambda digit: digit["number"])
    return list(islice(in_order, _DIGITS_SHOWN))


def rivals_of_digit(place: Place, number: int, rivals: Sequence[Rival]) -> dict[str, list[int]]:
    """Return the nodes that others find for one test digit."""
    (graph,) = mnist_graphs("test", place.data, [number])
    case = Case(
        load_superpixel_gcn(), graph.x, graph.edge_index, task="graph", features=[_INTENSITY]
    )
    return {
        rival.name: top_nodes(next(iter(rival.importances(case, [None]))), _RIVALS_NODES)
        for rival in rivals
    }


def _draw_examples(plan: Plan, digits: Sequence[dict[str, Any]], weights: str, path: Path) -> None:
    rivals = [Shapley(Settings.num_samples), Gradient()]
    jobs = [
        Job(
            f"digit-{digit['number']}-rivals",
            rivals_of_digit,
            {"number": digit["number"], "rivals": rivals},
            rests_on=weights,
        )
        for digit in digits
    ]
    graphs = mnist_graphs("test", plan.place.data, [digit["number"] for digit in digits])
    found = [
        {"PGM, as published": digit["published"], "PGM, defaults": digit["defaults"], **others}
        for digit, others in zip(digits, plan.compute(jobs, "asking rivals"), strict=True)
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


def _draw_sizes(digits: Sequence[Mapping[str, Any]], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    ways = (("published_blanket", BLUE, ""), ("defaults_blanket", ORANGE, "///"))
    for side, (way, colour, hatch) in zip((-0.2, 0.2), ways, strict=True):
        counts = Counter(len(digit[way]) for digit in digits)
        bars = axes.bar(
            [size + side for size in counts],
            list(counts.values()),
            0.4,
            color=colour,
            hatch=hatch,
            edgecolor=INK,
            linewidth=0.6,
            label=_WAYS[way],
        )
        axes.bar_label(bars, size=8)
    axes.axvline(DIGIT_MEAN, color=INK, linestyle="--", label=f"the paper's mean, {DIGIT_MEAN}")
    axes.set_xlabel("nodes of an explanation")
    axes.set_ylabel("digits")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.margins(y=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=8)
    write_figure(path, figure, dpi=110)
    plt.close(figure)
