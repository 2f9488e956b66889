"""The paper's Figure 1 (queries about one node) and Appendix B (the no-child constraint)."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from pgm_explainer import BayesianNetwork, Explanation, PGMExplainer, QueryError
from pgm_explainer.report.plots import draw_neighbourhood, draw_network
from pgm_explainer.sampling import VariableId

from ..checkpoints import load_author_syn6
from ..colours import INK
from ..data import DataError
from ..files import write_figure
from ..gnn import NodeGNN
from ..node_data import NodeDataset
from ..rivals import Case, LearntMask, top_nodes
from ..synthetic import make_synthetic
from .cells import default_options, published_options
from .markdown import table
from .models import train_models, trained
from .plan import Plan, Section

__all__ = ["figures_section"]

_NAMES = dict(zip(range(300, 305), "ABCDE", strict=True))
"""The first motif, by the paper's names: one hub node, two neck nodes, two foot nodes."""
_C, _E = 302, 304
_ROLES = ("base graph", "hub: A", "neck: B, C", "foot: D, E")
_STATES = ("original, kept", "original, changed", "perturbed, kept", "perturbed, changed")
_SHOWN = 25


def figures_section(plan: Plan) -> Section:
    """Explain E, and C with and without the no-child constraint."""
    model, data, whose = _example(plan)
    explained = {
        "published settings": _explain(model, data, _E, **published_options("syn6")),
        "defaults": _explain(model, data, _E, **default_options()),
    }
    without, constrained = (
        _explain(model, data, _C, **default_options(no_child=each)) for each in (False, True)
    )
    _draw(plan.place.figures / "figure-1.png", explained)
    both = {"without the constraint": without, "with the no-child constraint": constrained}
    _draw(plan.place.figures / "no-child.png", both)
    blocks = [
        "## Figure 1: why E has its role",
        f"Syn 6, {whose}. The motif is A to E, so E is explained by at most four nodes. "
        f"GNNExplainer's top four: {', '.join(_gnn_explainer(model, data))}.",
        table(_questions(explained)),
        "The paper reports 47.2 % without evidence and 65.8 % given A. It does not say which state "
        "of A is meant, nor which motif is drawn.",
        "![Figure 1](figures/figure-1.png)",
        "## Appendix B: C with and without the no-child constraint",
        table(_factorisations(without, constrained)),
        "![Appendix B](figures/no-child.png)",
    ]
    results = {
        "model": whose,
        "figure 1": {way: _as_plain(each) for way, each in explained.items()},
        "appendix b": {way: _as_plain(each) for way, each in both.items()},
    }
    return Section("\n\n".join(blocks), results)


def _example(plan: Plan) -> tuple[NodeGNN, NodeDataset, str]:
    """Return the authors' graph and model if they are available, else new ones."""
    try:
        return *load_author_syn6(plan.place.data), "the authors' graph and model"
    except DataError:
        train_models(plan, ["syn6"], 1)
        data = make_synthetic("syn6", 0)
        model = trained(plan.place, data, 0, plan.epochs)
        return (
            model,
            data,
            "a generated graph and a model trained on it (the authors' are not available)",
        )


def _explain(model: NodeGNN, data: NodeDataset, target: int, **options: Any) -> Explanation:
    options |= {"max_nodes": len(_NAMES) - 1, "class_names": _ROLES, "progress": False}
    explainer = PGMExplainer(model, data.x, data.edge_index, **options)
    return explainer.explain(target).named(_NAMES)


def _gnn_explainer(model: NodeGNN, data: NodeDataset) -> list[str]:
    (importance,) = LearntMask().importances(Case(model, data.x, data.edge_index), [_E])
    return [_NAMES.get(node, str(node)) for node in top_nodes(importance, len(_NAMES) - 1)]


def _questions(explained: dict[str, Explanation]) -> list[list[str]]:
    found = explained.values()
    return [
        ["P(E keeps its role)", *explained],
        ["no evidence", *(_holds(each) for each in found)],
        *([f"A is {state}", *(_holds(each, {"A": state}) for each in found)] for state in _STATES),
        ["the network", *(_formula(each) for each in found)],
    ]


def _holds(explanation: Explanation, known: Mapping[VariableId, str] | None = None) -> str:
    try:
        return f"{explanation.query(known):.1%}"
    except QueryError:  # no network, no such node in it, or a state that never occurred
        return "–"


def _factorisations(without: Explanation, constrained: Explanation) -> list[list[str]]:
    paper = (
        ("P(B) P(C \\| B) P(D \\| B) P(E \\| D) P(A \\| C, E)", "A, B, E"),
        ("P(B) P(D \\| B) P(E \\| D) P(A \\| B, E) P(C \\| A, B, E)", "A, B, E"),
    )
    rows = [["", "factorisation", "Markov blanket of C", "parameters"]]
    named = (("without", without), ("with", constrained))
    for (word, explanation), (formula, blanket) in zip(named, paper, strict=True):
        rows.append([f"{word} (paper)", formula, blanket, ""])
        found = ", ".join(sorted(map(str, explanation.markov_blanket)))
        rows.append([f"{word} (here)", _formula(explanation), found, _parameters(explanation)])
    return rows


def _formula(explanation: Explanation) -> str:
    # An unescaped bar would end the cell of the Markdown table.
    network = explanation.network
    return "none" if network is None else network.factorisation.replace("|", r"\|")


def _parameters(explanation: Explanation) -> str:
    network = explanation.network
    if not isinstance(network, BayesianNetwork):
        return "0"
    sizes = [network.cpt(node).values.shape for node in network.nodes]
    return str(sum(prod(given) * (states - 1) for *given, states in sizes))


def _as_plain(explanation: Explanation) -> dict[str, Any]:
    network = explanation.network
    return {
        "nodes": explanation.nodes,
        "network": None if network is None else network.factorisation,
        "markov_blanket": explanation.markov_blanket,
        "holds": _holds(explanation),
        "holds if A is": {state: _holds(explanation, {"A": state}) for state in _STATES},
    }


def _draw(path: Path, explained: dict[str, Explanation]) -> None:
    """Draw the neighbourhood once, then the network of each variant."""
    figure, (around, *panels) = plt.subplots(
        1,
        1 + len(explained),
        figsize=(15, 5.4),
        width_ratios=(5, *[5] * len(explained)),
        layout="constrained",
    )
    draw_neighbourhood(next(iter(explained.values())), around, max_shown=_SHOWN)
    around.set_title("The motif and some nodes around it", size=11, color=INK)
    for axes, (way, explanation) in zip(panels, explained.items(), strict=True):
        draw_network(explanation, axes)
        title = f"{way}: P(prediction kept) = {_holds(explanation)}"
        axes.set_title(title, size=11, color=INK)
    write_figure(path, figure, dpi=100)
    plt.close(figure)
