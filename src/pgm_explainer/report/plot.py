"""Pictures of an explanation, in colours that everyone can tell apart (Okabe and Ito's)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import PGMExplainerError
from ..sampling import VariableId

try:
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

    from .layout import layer_network, place_nodes, visible_graph
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PGMExplainerError(
        f"plots need matplotlib and networkx: pip install 'pgm-explainer[plot]' ({error})"
    ) from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..explanation import Explanation

__all__ = ["plot_explanation", "plot_neighbourhood", "plot_network"]

TARGET, EXPLAINING, OTHER, INK = "#D55E00", "#0072B2", "#DDDDDD", "#333333"
KEPT, CHANGED = "#56B4E9", "#E69F00"
_FITS_A_DISC = 4
_BOX_WIDTH, _BOX_HEIGHT = 0.72, 0.36

Names = Mapping[VariableId, str]


def plot_explanation(
    explanation: Explanation, *, names: Names | None = None, max_shown: int = 60
) -> Figure:
    """Draw the neighbourhood and the Bayesian network side by side.

    Args:
        explanation: what to draw.
        names: what to call nodes; their numbers by default.
        max_shown: how many nodes of the neighbourhood to draw at most.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6), layout="constrained")
    plot_neighbourhood(explanation, left, names=names, max_shown=max_shown)
    plot_network(explanation, right, names=names)
    return figure


def plot_neighbourhood(
    explanation: Explanation, axes: Axes, *, names: Names | None = None, max_shown: int = 60
) -> None:
    """Draw the graph around the target, with the explaining nodes marked."""
    graph = visible_graph(explanation, max_shown)
    at = place_nodes(graph)
    ranking = explanation.ranking
    explaining = set(ranking.nodes[ranking.selected].tolist())
    ends = set(explanation.ends.tolist())
    called = dict(zip(ranking.nodes.tolist(), map(ranking.name, range(len(ranking))), strict=True))
    if ranking.names is not None:
        called.update({end: ranking.names[end] for end in ends})
    for u, v in graph.edges:
        marked = {u, v} <= explaining | ends
        axes.plot(
            *zip(at[u], at[v], strict=True),
            color=INK if marked else OTHER,
            linewidth=1.6 if marked else 0.8,
            zorder=1,
        )
    for node in graph:
        special = node in ends or node in explaining
        colour = TARGET if node in ends else EXPLAINING if special else OTHER
        axes.scatter(*at[node], s=420 if special else 60, color=colour, zorder=2, linewidths=0)
        if special:
            name = _name(called.get(node, node), names)
            fits = len(name) <= _FITS_A_DISC
            axes.annotate(
                name,
                at[node],
                xytext=(0, 0 if fits else -16),
                textcoords="offset points",
                color="white" if fits else INK,
                size=9,
                ha="center",
                va="center",
                zorder=3,
                weight="bold",
            )
    hidden = len(set(ranking.nodes.tolist()) | ends) - len(graph)
    note = f"; {hidden} further nodes not drawn" if hidden > 0 else ""
    _finish(axes, f"Around the prediction: {len(explaining)} explaining nodes in blue{note}")


def plot_network(explanation: Explanation, axes: Axes, *, names: Names | None = None) -> None:
    """Draw the Bayesian network, every arrow pointing down, with each variable's probabilities."""
    network = explanation.network
    if network is None:
        why = "the prediction never changed" if explanation.held == 1 else "none was asked for"
        axes.text(
            0.5,
            0.5,
            f"There is no network:\n{why}.",
            ha="center",
            va="center",
            transform=axes.transAxes,
        )
        _finish(axes, "Bayesian network")
        return
    at = layer_network(network)
    for parent, child in network.edges:
        axes.add_patch(_arrow(at[parent], at[child]))
    for node, (x, y) in at.items():
        _draw_variable(axes, explanation, node, (x, y), names)
    xs, ys = zip(*at.values(), strict=True)
    axes.set_xlim(min(xs) - 0.7, max(xs) + 0.7)
    axes.set_ylim(min(ys) - 0.55, max(ys) + 0.55)
    _draw_legend(axes, explanation.task)
    held = f"the prediction holds with probability {explanation.query():.1%}"
    _finish(axes, f"Bayesian network: {held}")


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> FancyArrowPatch:
    tail = (start[0], start[1] - _BOX_HEIGHT / 2)
    head = (end[0], end[1] + _BOX_HEIGHT / 2)
    # Arrows that skip a layer bend around the boxes in between.
    bend = 0.0 if start[1] - end[1] < 1.5 else 0.25 if start[0] <= end[0] else -0.25
    return FancyArrowPatch(
        tail,
        head,
        arrowstyle="-|>",
        mutation_scale=14,
        color=INK,
        linewidth=1.2,
        connectionstyle=f"arc3,rad={bend}",
        zorder=1,
        shrinkA=0,
        shrinkB=1,
    )


def _draw_variable(
    axes: Axes,
    explanation: Explanation,
    node: VariableId,
    centre: tuple[float, float],
    names: Names | None,
) -> None:
    """A box with the name, and a bar split by how likely its prediction is kept."""
    network = explanation.network
    assert network is not None
    is_target = node == explanation.target
    left, bottom = centre[0] - _BOX_WIDTH / 2, centre[1] - _BOX_HEIGHT / 2
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom),
            _BOX_WIDTH,
            _BOX_HEIGHT,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor="white",
            edgecolor=TARGET if is_target else EXPLAINING,
            linewidth=3 if is_target else 1.6,
            zorder=2,
        )
    )
    axes.text(
        centre[0],
        centre[1] + 0.07,
        _name(node, names),
        ha="center",
        va="center",
        size=11,
        weight="bold",
        zorder=4,
    )
    variable = network.variable(node)
    good = "kept" if variable.levels > 1 else "original"
    share = float(network.query(node)[variable.matching(good)].sum())
    width, bar_bottom = _BOX_WIDTH - 0.1, bottom + 0.05
    axes.add_patch(
        Rectangle((left + 0.05, bar_bottom), width, 0.09, color=CHANGED, zorder=3, linewidth=0)
    )
    axes.add_patch(
        Rectangle((left + 0.05, bar_bottom), width * share, 0.09, color=KEPT, zorder=3, linewidth=0)
    )
    axes.text(
        centre[0], bar_bottom + 0.043, f"{share:.0%}", ha="center", va="center", size=7, zorder=4
    )


def _draw_legend(axes: Axes, task: str) -> None:
    words = ("kept", "changed") if task == "node" else ("original / kept", "perturbed / changed")
    handles = [Rectangle((0, 0), 1, 1, color=colour) for colour in (KEPT, CHANGED)]
    axes.legend(
        handles,
        words,
        loc="lower center",
        ncols=2,
        frameon=False,
        fontsize=8,
        bbox_to_anchor=(0.5, -0.06),
    )


def _name(node: VariableId, names: Names | None) -> str:
    own = " ".join(map(str, node)) if isinstance(node, tuple) else str(node)
    return own if names is None else names.get(node, own)


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, size=10, color=INK)
    axes.set_axis_off()
    axes.margins(0.12)
