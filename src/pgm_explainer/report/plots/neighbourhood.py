"""The graph around a prediction, with the nodes of the network marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from ..colours import FALLS, GREY, INK, RISES, ink_on
from ..effects import ShownEffect
from ..measure import measure_of
from ..names import class_label, label_of, width
from ..surroundings import Surroundings
from ..wording import wording_of
from .labels import write_beside
from .part_marks import draw_groups, draw_part_edges, part_entries
from .style import finish, legend, wrapped, write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ...explanation import Explanation

__all__ = ["draw_neighbourhood"]

_FITS_A_MARK = 4
_MARK, _STRONGEST = 20.0, 30.0
"""The sizes of marked nodes, in points; other nodes are smaller, and shrink with their number."""
_TOUCHED = 13.0
"""The least size of a node at the end of an edge with an effect."""
_MOST_NAMED = 40
_DIRECTIONS = {"falls": FALLS, "rises": RISES}
_BOLD: dict[str, Any] = {"weight": "bold", "zorder": 4}


def draw_neighbourhood(
    explanation: Explanation,
    axes: Axes,
    *,
    max_shown: int = 60,
    atoms: Sequence[str] | None = None,
) -> None:
    """Draw the target (a square), the nodes of the network (large) and other nodes (small).

    The size of a large node shows the strength of its effect, and the colour of its outline the
    direction. Nodes are filled by predicted class or, if they have none, by that direction. The
    nodes on the paths between target and network are always drawn. Of the others, the nearest are
    drawn, up to ``max_shown`` in total; the title says how many are left out.

    Edges that are parts are drawn by their effects, and groups are outlined. With ``atoms``, a
    symbol for each node of the graph, every node drawn has its symbol and number as its name.
    """
    view = Surroundings(explanation, max_shown)
    if not len(view.nodes):
        finish(axes, "Around the prediction")
        return
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.2 if view.groups else 0.12)
    draw_groups(axes, view)
    _draw_edges(axes, view)
    draw_part_edges(axes, view)
    found = view.effects
    _draw_nodes(axes, view, found)
    entries = _legend_entries(view, found)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
    legend(axes, entries, ncols=min(len(entries), 3), frameon=False, **place)
    finish(axes, _title(view))
    _label_nodes(axes, view, found, atoms)


def _title(view: Surroundings) -> str:
    ranking = view.explanation.ranking
    missing = f"; not drawn: {view.hidden}" if view.hidden else ""
    explaining = int(np.count_nonzero(ranking.selected))
    of, words = ranking.num_candidates, wording_of(view.explanation.settings)
    if view.explanation.part_labels:
        nodes = f"; nodes not drawn: {view.hidden}" if view.hidden else ""
        missing = nodes + (f"; effects not drawn: {view.undrawn}" if view.undrawn else "")
    parts = f"{explaining} of {of} {words.plural}"
    return f"Around the prediction (in the network: {parts}{missing})"


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
    marked = view.is_marked[view.edges].all(axis=0) & (not view.part_edges)
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
            s=_size(view, at, strength, small) ** 2,
            color=_fill(view, at, found),
            marker="s" if view.is_target[at] else "o",
            edgecolors=outline or INK,
            linewidths=(3.4 if outline else 2.0) if marked else 0.4,
            zorder=3 if marked else 2,
        )


def _size(view: Surroundings, at: int, strength: float, small: float) -> float:
    """The width of a node in points."""
    if view.is_marked[at]:
        return _MARK + (_STRONGEST - _MARK) * strength
    return max(small, _TOUCHED) if view.is_touched[at] else small


def _legend_entries(view: Surroundings, found: Found) -> list[tuple[Artist, str]]:
    """Return the marks, then the classes with their names."""
    measure = measure_of(view.explanation)
    colours = {_direction(view, at, found) for at in np.flatnonzero(view.is_marked).tolist()}
    entries: list[tuple[Artist, str]] = []
    if view.is_target.any():
        entries.append((_mark("white", "s", 9, 2), "target"))
    if view.is_explaining.any():
        entries.append((_mark("white", "o", 9, 2), "node of the network"))
    entries += part_entries(view, measure)
    for colour, text in ((FALLS, measure.falls), (RISES, measure.rises)):
        if any(text == said for _, said in entries):
            continue
        if colour in colours and view.classes:
            entries.append((_mark("white", "o", 9, 3, colour), text))
        elif colour in colours:
            entries.append((_mark(colour, "o", 9, 2), text))
    for number, colour in sorted(view.palette.items()):
        entries.append((_mark(colour, "o", 7, 0.4), class_label(view.explanation, number)))
    if view.has_grey:
        entries.append((_mark(GREY, "o", 7, 0.4), "another class, or none"))
    return entries


def _label_nodes(axes: Axes, view: Surroundings, found: Found, atoms: Sequence[str] | None) -> None:
    """Write names into the marks or, if any is too long, beside all of them."""
    marked = np.flatnonzero(view.is_marked | view.is_touched).tolist()
    if atoms is not None or (view.explanation.part_members and len(view.nodes) <= _MOST_NAMED):
        marked = list(range(len(view.nodes)))
    names = {at: label_of(view.explanation.names[int(view.nodes[at])]) for at in marked}
    if atoms is not None:
        names = {at: f"{atoms[int(view.nodes[at])]}{name}" for at, name in names.items()}
    if all(width(name) <= _FITS_A_MARK for name in names.values()):
        for at, name in names.items():
            x, y = view.at[at]
            fill = _fill(view, at, found)
            ink = "black" if fill == "white" else ink_on(fill)
            size = 8 if view.is_marked[at] else 6.5
            write(axes, x, y, name, size=size, color=ink, **_BOLD)
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
