"""The graph around a prediction, with the explaining nodes marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from ..colours import BLUE, GREY, INK, VERMILLION, ink_on
from ..names import class_label, label_of, width
from ..surroundings import Surroundings
from .labels import write_beside
from .style import finish, legend, wrapped, write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ...explanation import Explanation

__all__ = ["draw_neighbourhood"]

_FITS_A_MARK = 4
_MARK = 20.0
"""The size of a marked node, in points; the others are smaller, the more so the more there are."""
_BOLD: dict[str, Any] = {"weight": "bold", "zorder": 4}


def draw_neighbourhood(explanation: Explanation, axes: Axes, *, max_shown: int = 60) -> None:
    """Draw the target (a square), the explaining nodes (large) and the nodes around (small).

    Nodes are coloured by the class the model predicts of them, where it does. The nodes on the ways
    between target and explaining nodes are always drawn; of the others the nearest, up to
    ``max_shown`` in all, and the title says how many are not.
    """
    view = Surroundings(explanation, max_shown)
    if not len(view.nodes):
        finish(axes, "Around the prediction")
        return
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    _draw_edges(axes, view)
    _draw_nodes(axes, view)
    entries = _legend_entries(view)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
    legend(axes, entries, ncols=min(len(entries), 4), frameon=False, **place)
    finish(axes, _title(view))
    _label_nodes(axes, view)


def _title(view: Surroundings) -> str:
    ranking = view.explanation.ranking
    missing = f"; not drawn: {view.hidden}" if view.hidden else ""
    explaining = int(np.count_nonzero(ranking.selected))
    of = ranking.num_candidates
    return f"Around the prediction (explaining: {explaining} of {of} nodes{missing})"


def _colour(view: Surroundings, at: int) -> str:
    if view.classes:
        return view.colour(at) or GREY
    return BLUE if view.is_explaining[at] else VERMILLION if view.is_target[at] else GREY


def _draw_edges(axes: Axes, view: Surroundings) -> None:
    marked = view.is_marked[view.edges].all(axis=0)
    for chosen, colour, line in ((~marked, GREY, 0.7), (marked, INK, 1.6)):
        ends = view.at[view.edges[:, chosen]].transpose(1, 0, 2)
        axes.add_collection(LineCollection(list(ends), colors=colour, linewidths=line, zorder=1))


def _draw_nodes(axes: Axes, view: Surroundings) -> None:
    small = np.clip(60.0 / np.sqrt(len(view.nodes)), 3.5, 9.0)
    for at, ((x, y), marked) in enumerate(zip(view.at, view.is_marked, strict=True)):
        axes.scatter(
            x,
            y,
            s=(_MARK if marked else small) ** 2,
            color=_colour(view, at),
            marker="s" if view.is_target[at] else "o",
            edgecolors=INK,
            linewidths=2.2 if marked else 0.4,
            zorder=3 if marked else 2,
        )


def _legend_entries(view: Surroundings) -> list[tuple[Artist, str]]:
    """The marks, then the classes by the user's own names."""
    entries: list[tuple[Artist, str]] = []
    if view.is_target.any():
        entries.append((_mark("white" if view.classes else VERMILLION, "s", 9, 2), "target"))
    if view.is_explaining.any():
        entries.append((_mark("white" if view.classes else BLUE, "o", 9, 2), "explaining node"))
    for number, colour in sorted(view.palette.items()):
        entries.append((_mark(colour, "o", 7, 0.4), class_label(view.explanation, number)))
    if view.has_grey:
        entries.append((_mark(GREY, "o", 7, 0.4), "another class, or none"))
    return entries


def _label_nodes(axes: Axes, view: Surroundings) -> None:
    """Write names into the marks or, if any is too long for that, beside them all."""
    called = view.explanation.ranking.called
    marked = np.flatnonzero(view.is_marked).tolist()
    names = {at: label_of(called(int(view.nodes[at]))) for at in marked}
    if all(width(name) <= _FITS_A_MARK for name in names.values()):
        for at, name in names.items():
            x, y = view.at[at]
            write(axes, x, y, name, size=8, color=ink_on(_colour(view, at)), **_BOLD)
    else:
        beside = {at: wrapped(name, 16) for at, name in names.items()}
        write_beside(axes, beside, view.at, _MARK, size=7, **_BOLD)


def _mark(colour: str, shape: str, size: float, line: float) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="none",
        marker=shape,
        markersize=size,
        markerfacecolor=colour,
        markeredgecolor=INK,
        markeredgewidth=line,
    )
