"""The paper's figures: an example and its questions, the no-child constraint, digits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from torch import nn

from ...explainer import PGMExplainer
from ...explanation import Explanation
from ...report.plots import plot_superpixels
from ..gnn import train
from ..rivals import Case, Gradient, Shapley, top_nodes
from ..superpixel_gnn import load_superpixel_gcn
from ..superpixels import SuperpixelGraph, mnist_graphs
from ..synthetic import make_synthetic
from .cells import Plan

__all__ = ["mnist", "syn6_example"]

_TARGET = 304
"""E in the paper's example: the last node of the first motif, whose hub A is its first node."""

_INTENSITY = 0
_RIVALS_NODES = 3
_DIGITS_SHOWN = 4


def syn6_example(plan: Plan, seed: int = 0) -> str:
    """Explain one node of Syn 6 with and without the no-child constraint; return it in Markdown."""
    data = make_synthetic("syn6", seed)
    model = train(data, seed, plan.epochs)
    hub = int(min(data.truth[_TARGET]))
    blocks = [
        "## Figure 1 and Appendix B: one node of Syn 6, and the no-child constraint",
        f"Node {_TARGET} is the paper's E, node {hub} the hub A of its motif "
        f"{sorted(data.truth[_TARGET])}.",
    ]
    for no_child in (True, False):
        explainer = PGMExplainer(
            model, data.x, data.edge_index, no_child=no_child, seed=seed, progress=False
        )
        name = "no-child" if no_child else "free"
        blocks += _told(explainer.explain(_TARGET), hub, name, plan.folder)
    return "\n\n".join(blocks)


def _told(explanation: Explanation, hub: int, name: str, folder: Path) -> Iterator[str]:
    figure = explanation.plot()
    figure.savefig(folder / f"syn6-{name}.png", dpi=110)
    plt.close(figure)
    assert explanation.network is not None
    yield f"**{name}**: {explanation.network.factorisation}"
    if hub in explanation.network.nodes:
        yield (
            f"P(the prediction holds) is {explanation.query():.3f}; "
            f"{explanation.query({hub: 'original, kept'}):.3f} once A is known to be original and "
            f"kept, {explanation.query({hub: 'perturbed'}):.3f} once it is known to be perturbed."
        )
    yield f"![the {name} network](syn6-{name}.png)"


def mnist(plan: Plan, count: int = 100) -> str:
    """Explain some test digits by three explainers; return sizes and pictures in Markdown.

    As in the published run only the intensity is perturbed, and an explanation is the target's
    Markov blanket.
    """
    model = load_superpixel_gcn()
    graphs = mnist_graphs("test", plan.data_folder, range(count))
    blankets = [_blanket(model, graph) for graph in graphs]
    sizes = Counter(len(blanket) for blanket in blankets)
    for number, graph in enumerate(graphs[:_DIGITS_SHOWN]):
        _draw(model, graph, blankets[number], plan.folder / f"mnist-{number}.png")
    listed = ", ".join(f"{sizes[size]} of {size}" for size in sorted(sizes))
    mean = np.mean([len(blanket) for blanket in blankets])
    pictures = " ".join(
        f"![digit {number}](mnist-{number}.png)" for number in range(min(count, _DIGITS_SHOWN))
    )
    return "\n\n".join(
        [
            "## MNIST: digits as superpixels",
            f"Sizes of the Markov blankets of {count} test digits: {listed} nodes; mean {mean:.2f} "
            f"(paper: 2, 3 or 4 nodes, mean 3.08). The rivals return {_RIVALS_NODES}.",
            pictures,
        ]
    )


def _blanket(model: nn.Module, graph: SuperpixelGraph) -> Sequence[int]:
    explainer = PGMExplainer(
        model, graph.x, graph.edge_index, task="graph", features=[_INTENSITY], progress=False
    )
    explanation = explainer.explain()
    ranking, blanket = explanation.ranking, set(explanation.markov_blanket)
    return [node for node in ranking.nodes.tolist() if node in blanket]


def _draw(model: nn.Module, graph: SuperpixelGraph, blanket: Sequence[int], path: Path) -> None:
    case = Case(model, graph.x, graph.edge_index, task="graph", features=[_INTENSITY])
    found = {f"PGM: {graph.label}": blanket}
    for rival in (Shapley(), Gradient()):
        (importance,) = rival.importances(case, [None])
        found[rival.name] = top_nodes(importance, _RIVALS_NODES)
    figure = plot_superpixels(graph.image, graph.segments, found)
    figure.savefig(path, dpi=80)
    plt.close(figure)
