"""The graph around a prediction, with the nodes of the network marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from ..colours import FALLS, GREY, INK, RISES, ink_on
from ..effects import ShownEffect, shown_effects
from ..measure import measure_of
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
_MARK, _STRONGEST = 20.0, 30.0
"""The sizes of marked nodes, in points; other nodes are smaller, and shrink with their number."""
_DIRECTIONS = {"falls": FALLS, "rises": RISES}
_BOLD: dict[str, Any] = {"weight": "bold", "zorder": 4}


def draw_neighbourhood(explanation: Explanation, axes: Axes, *, max_shown: int = 60) -> None:
    """Draw the target (a square), the nodes of the network (large) and other nodes (small).

    The size of a large node shows the strength of its effect, and the colour of its outline the
    direction. Nodes are filled by predicted class or, if they have none, by that direction. The
    nodes on the paths between target and network are always drawn. Of the others, the nearest are
    drawn, up to ``max_shown`` in total; the title says how many are left out.
    """
    view = Surroundings(explanation, max_shown)
    if not len(view.nodes):
        finish(axes, "Around the prediction")
        return
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    _draw_edges(axes, view)
    found = {each.number: each for each in shown_effects(explanation)}
    _draw_nodes(axes, view, found)
    entries = _legend_entries(view, found)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
    legend(axes, entries, ncols=min(len(entries), 3), frameon=False, **place)
    finish(axes, _title(view))
    _label_nodes(axes, view, found)


def _title(view: Surroundings) -> str:
    ranking = view.explanation.ranking
    missing = f"; not drawn: {view.hidden}" if view.hidden else ""
    explaining = int(np.count_nonzero(ranking.selected))
    of = ranking.num_candidates
    return f"Around the prediction (in the network: {explaining} of {of} nodes{missing})"


Found = dict[int, ShownEffect]
"""The significant effects by node number."""


def _direction(view: Surroundings, at: int, found: Found) -> str | None:
    """Return the colour of a node's effect, if it is significant and has one direction."""
    effect = found.get(int(view.nodes[at]))
    return _DIRECTIONS.get(effect.direction) if effect is not None else None


def _fill(view: Surroundings, at: int, found: Found) -> str:
    if view.classes:
        return view.colour(at) or GREY
    return (_direction(view, at, found) or "white") if view.is_marked[at] else GREY


def _draw_edges(axes: Axes, view: Surroundings) -> None:
    marked = view.is_marked[view.edges].all(axis=0)
    for chosen, colour, line in ((~marked, GREY, 0.7), (marked, INK, 1.6)):
        ends = view.at[view.edges[:, chosen]].transpose(1, 0, 2)
        axes.add_collection(LineCollection(list(ends), colors=colour, linewidths=line, zorder=1))


def _draw_nodes(axes: Axes, view: Surroundings, found: Found) -> None:
    small = np.clip(60.0 / np.sqrt(len(view.nodes)), 3.5, 9.0)
    for at, ((x, y), marked) in enumerate(zip(view.at, view.is_marked, strict=True)):
        effect = found.get(int(view.nodes[at]))
        strength = 0.0 if effect is None else effect.effect.strength
        outline = _direction(view, at, found) if marked and view.classes else None
        axes.scatter(
            x,
            y,
            s=(_MARK + (_STRONGEST - _MARK) * strength if marked else small) ** 2,
            color=_fill(view, at, found),
            marker="s" if view.is_target[at] else "o",
            edgecolors=outline or INK,
            linewidths=(3.4 if outline else 2.0) if marked else 0.4,
            zorder=3 if marked else 2,
        )


def _legend_entries(view: Surroundings, found: Found) -> list[tuple[Artist, str]]:
    """Return the marks, then the classes with their names."""
    measure = measure_of(view.explanation)
    colours = {_direction(view, at, found) for at in np.flatnonzero(view.is_marked).tolist()}
    entries: list[tuple[Artist, str]] = []
    if view.is_target.any():
        entries.append((_mark("white", "s", 9, 2), "target"))
    if view.is_explaining.any():
        entries.append((_mark("white", "o", 9, 2), "node of the network"))
    for colour, text in ((FALLS, measure.falls), (RISES, measure.rises)):
        if colour in colours and view.classes:
            entries.append((_mark("white", "o", 9, 3, colour), text))
        elif colour in colours:
            entries.append((_mark(colour, "o", 9, 2), text))
    for number, colour in sorted(view.palette.items()):
        entries.append((_mark(colour, "o", 7, 0.4), class_label(view.explanation, number)))
    if view.has_grey:
        entries.append((_mark(GREY, "o", 7, 0.4), "another class, or none"))
    return entries


def _label_nodes(axes: Axes, view: Surroundings, found: Found) -> None:
    """Write names into the marks or, if any is too long, beside all of them."""
    marked = np.flatnonzero(view.is_marked).tolist()
    names = {at: label_of(view.explanation.names[int(view.nodes[at])]) for at in marked}
    if all(width(name) <= _FITS_A_MARK for name in names.values()):
        for at, name in names.items():
            x, y = view.at[at]
            fill = _fill(view, at, found)
            ink = "black" if fill == "white" else ink_on(fill)
            write(axes, x, y, name, size=8, color=ink, **_BOLD)
    else:
        beside = {at: wrapped(name, 16) for at, name in names.items()}
        write_beside(axes, beside, view.at, _STRONGEST, size=7, **_BOLD)


def _mark(colour: str, shape: str, size: float, line: float, outline: str = INK) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="none",
        marker=shape,
        markersize=size,
        markerfacecolor=colour,
        markeredgecolor=outline,
        markeredgewidth=line,
    )
