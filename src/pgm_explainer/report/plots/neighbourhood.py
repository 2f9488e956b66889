"""The graph around a prediction, with the nodes of the network marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from numpy.typing import NDArray

from ..colours import BAR_COLOURS, GREY, INK, ink_on
from ..measure import measure_of
from ..names import class_label, label_of, printable, shorten, width
from ..surroundings import NUM_SHAPES, Surroundings
from ..wording import wording_of
from .labels import Labels
from .part_marks import draw_groups, draw_part_edges, name_groups, part_entries
from .style import finish, fits, inches, legend, points, wrapped, write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ...explanation import Explanation

__all__ = ["draw_neighbourhood"]

_FITS_A_MARK = 4
_MARK, _STRONGEST = 20.0, 30.0
"""The sizes of marked nodes, in points; other nodes are smaller, and shrink with their number."""
_TOUCHED = 13.0
"""The minimum size of a node at the end of an edge with an effect."""
_MOST_NAMED = 40
_FULL, _LEAST = 4.8, 0.45
"""Marks shrink in plots whose shorter side is less than this many inches, down to this share."""
_OUTLINE = 3.4
"""The widest outline of a mark, in points."""
_THIN = 0.6
"""The thinnest outlines of small plots, as a share of the full ones."""
_NAME = 0.3
"""The share of the width that a line of a name takes at most."""
_FAINT_HEAD = "#A0A0A0"
SHAPES = ("o", "^", "D", "v", "p", "h")
"""The marks of node types; a square is the target."""
assert len(SHAPES) == NUM_SHAPES
Sizes = NDArray[np.float64]
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

    Examples:
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> axes = Figure().subplots()
        >>> from pgm_explainer.report.plots import draw_neighbourhood
        >>> draw_neighbourhood(explainer.explain(1), axes)
        >>> len(axes.collections) > 0
        True
    """
    view = Surroundings(explanation, max_shown)
    if not len(view.nodes):
        finish(axes, "Around the prediction")
        return
    scale = float(np.clip(min(inches(axes)) / _FULL, _LEAST, 1.0))
    if scale == 1:  # a small plot needs all of its width and height
        axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.2 if view.groups else 0.12)
    sizes = _sizes(view, scale)
    draw_groups(axes, view, scale)
    _draw_edges(axes, view, sizes)
    draw_part_edges(axes, view, scale)
    _draw_nodes(axes, view, sizes, scale)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
    legend(axes, _legend_entries(view), ncols=3, frameon=False, **place)
    finish(axes, _title(view))
    written = _label_nodes(axes, view, sizes, scale, atoms)
    if written.left_out:
        written.remove()
        finish(axes, _title(view, written.left_out))  # which may need another line
        again = _label_nodes(axes, view, sizes, scale, atoms)
        finish(axes, _title(view, again.left_out))


def _title(view: Surroundings, unnamed: int = 0) -> str:
    ranking = view.explanation.ranking
    missing = f"; not drawn: {view.hidden}" if view.hidden else ""
    explaining = int(np.count_nonzero(ranking.selected))
    of, words = ranking.num_candidates, wording_of(view.explanation.settings)
    if view.explanation.part_labels:
        nodes = f"; nodes not drawn: {view.hidden}" if view.hidden else ""
        missing = nodes + (f"; effects not drawn: {view.undrawn}" if view.undrawn else "")
    missing += f"; names left out for lack of space: {unnamed}" if unnamed else ""
    parts = f"{explaining} of {of} {words.plural}"
    return f"Around the prediction (in the network: {parts}{missing})"


def _effect_colour(view: Surroundings, at: int) -> str | None:
    """Return the colour of a node's effect, if it is significant."""
    effect = view.effects.get(int(view.nodes[at]))
    return None if effect is None else BAR_COLOURS[effect.direction]


def _fill(view: Surroundings, at: int) -> str:
    if view.classes:
        return view.colour(at) or GREY
    return (_effect_colour(view, at) or "white") if view.is_marked[at] else GREY


def _draw_edges(axes: Axes, view: Surroundings, sizes: Sizes) -> None:
    """Draw edges; of a directed graph with a head at each end that they point to."""
    marked = np.asarray(view.is_marked[view.edges].all(axis=0) & (not view.part_edges))
    for chosen, colour, line in ((~marked, GREY, 0.7), (marked, INK, 1.6)):
        ends = view.at[view.edges[:, chosen]].transpose(1, 0, 2)
        axes.add_collection(LineCollection(list(ends), colors=colour, linewidths=line, zorder=1))
    if view.heads is None or view.explanation.has_directed_edges:
        return
    for (u, v), heads, dark in zip(view.edges.T, view.heads.T, marked, strict=True):
        for start, end, points_there in ((v, u, heads[0]), (u, v, heads[1])):
            if points_there and start != end:
                _draw_head(axes, view.at[start], view.at[end], sizes[end], bool(dark))


def _draw_head(axes: Axes, start: Any, end: Any, size: float, dark: bool) -> None:
    """Draw the head of an arrow where it meets a node of a size in points."""
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "shrinkA": 0,
        "shrinkB": size / 2 + 1.5,
        "mutation_scale": 11 if dark else 7,
        "linewidth": 0,
        "color": INK if dark else _FAINT_HEAD,
    }
    axes.add_patch(FancyArrowPatch(tuple(start), tuple(end), zorder=1.5, **style))


def _draw_nodes(axes: Axes, view: Surroundings, sizes: Sizes, scale: float) -> None:
    line = max(scale, _THIN)
    for at, ((x, y), marked) in enumerate(zip(view.at, view.is_marked, strict=True)):
        outline = _effect_colour(view, at) if marked and view.classes else None
        axes.scatter(
            x,
            y,
            s=sizes[at] ** 2,
            color=_fill(view, at),
            marker="s" if view.is_target[at] else SHAPES[view.shape(at)],
            edgecolors=outline or INK,
            linewidths=(line * (_OUTLINE if outline else 2.0)) if marked else 0.4,
            clip_on=False,
            zorder=3 if marked else 2,
        )


def _sizes(view: Surroundings, scale: float) -> Sizes:
    """Return the width of each node in points."""
    found = [view.effects.get(node) for node in view.nodes.tolist()]
    strength = np.array([0.0 if each is None else each.effect.strength for each in found])
    small = np.clip(60.0 / np.sqrt(len(view.nodes)), 3.5, 9.0)
    others = np.where(view.is_touched, max(small, _TOUCHED), small)
    marked = _MARK + (_STRONGEST - _MARK) * strength
    if view.explanation.task == "graph":  # without an effect, a node is selected by chance
        marked = np.where(strength > 0, marked, max(small, _TOUCHED))
    return np.asarray(np.where(view.is_marked, marked, others) * scale)


def _legend_entries(view: Surroundings) -> list[tuple[Artist, str]]:
    """Return the marks, then the classes with their names."""
    measure = measure_of(view.explanation)
    colours = {_effect_colour(view, at) for at in np.flatnonzero(view.is_marked).tolist()}
    entries: list[tuple[Artist, str]] = []
    ends = view.explanation.ends.tolist()
    if view.is_target.any():
        kind = f" ({view.types[ends[0]]})" if len(ends) == 1 and view.types else ""
        entries.append((_mark("white", "s", 9, 2), f"target{kind}"))
    for kind, shape in view.shapes.items():
        if any(view.types[node] == kind for node in view.types if node not in ends):
            entries.append((_mark("white", SHAPES[shape], 8, 0.8), printable(kind)))
    if view.shapes and view.is_explaining.any():
        entries.append((_mark("white", "o", 9, 2), "large: in the network"))
    elif view.is_explaining.any():
        entries.append((_mark("white", "o", 9, 2), "node of the network"))
    entries += part_entries(view, measure)
    for colour, text in ((BAR_COLOURS[kind], said) for kind, said in measure.directions.items()):
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


def _label_nodes(
    axes: Axes, view: Surroundings, sizes: Sizes, scale: float, atoms: Sequence[str] | None
) -> Labels:
    """Write names into the marks or, if any is too long, beside all of them.

    The target and then the nodes with the strongest effects get a place first.
    """
    marked = np.flatnonzero(view.is_marked | view.is_touched).tolist()
    if atoms is not None or (view.explanation.part_members and len(view.nodes) <= _MOST_NAMED):
        marked = list(range(len(view.nodes)))
    names = {at: label_of(view.explanation.names[int(view.nodes[at])]) for at in marked}
    if atoms is not None:
        symbols = {at: atoms[int(view.nodes[at])] for at in names}
        # A name such as "O9" has the symbol already.
        names = {
            at: name if name.startswith(symbols[at]) else f"{symbols[at]}{name}"
            for at, name in names.items()
        }
    inside = all(width(name) <= _FITS_A_MARK * scale / points(1) for name in names.values())
    is_small = np.ones(len(view.nodes), dtype=bool)
    is_small[list(names)] = False
    dark = view.is_marked[view.edges].all(axis=0) | bool(view.part_edges)
    lines = view.at[view.edges[:, dark]].transpose(1, 0, 2)
    labels = Labels(axes, view.at, sizes + _OUTLINE, is_small, lines)
    order = sorted(names, key=lambda at: (not view.is_target[at], -sizes[at]))
    for at in order:
        if inside:
            x, y = view.at[at]
            fill = _fill(view, at)
            ink = "black" if fill == "white" else ink_on(fill)
            size = points(8 if view.is_marked[at] else 6.5)
            write(axes, x, y, names[at], size=size, color=ink, **_BOLD)
        else:
            letters = min(16, fits(_NAME * inches(axes)[0], points(7)))
            forms = [wrapped(names[at], letters), shorten(names[at], max(6, letters // 2))]
            labels.write(forms, view.at[at], sizes[at] + _OUTLINE, size=points(7), **_BOLD)
    name_groups(labels, view, scale)
    return labels


def _mark(colour: str, shape: str, size: float, line: float, outline: str = INK) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="none",
        marker=shape,
        markersize=points(size),
        markerfacecolor=colour,
        markeredgecolor=outline,
        markeredgewidth=points(line),
    )
