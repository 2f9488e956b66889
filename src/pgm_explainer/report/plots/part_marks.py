"""Edges drawn by their effects, and groups outlined, over the graph around a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch
from matplotlib.transforms import ScaledTranslation

from ..colours import BAR_COLOURS, FALLS, GREY, INK, RISES
from ..effects import ShownEffect
from ..measure import Measure
from ..names import shorten
from ..surroundings import DrawnEdge, Surroundings
from ..wording import part_label
from .labels import Labels
from .style import points, wrapped

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["draw_groups", "draw_part_edges", "name_groups", "part_entries"]

_THINNEST, _WIDEST, _WEAK = 1.2, 8.0, 0.8
"""The widths of edges with an effect, from the weakest to the strongest, and of others."""
_CASING = 2.4
"""How much wider the dark line is that marks an edge of the network."""
_BLOB = 34.0
"""The width of the area around the nodes of a group, in points."""
_LOOP = 11.0
_TINTS = {FALLS: "#FBF3EC", RISES: "#EDF4FA"}


def draw_part_edges(axes: Axes, view: Surroundings, scale: float) -> None:
    """Draw edges: colour for the direction of the effect, width for its strength.

    Edges of the network are on a dark line. Edges whose effect rises are dashed, so that directions
    differ in greyscale print too.
    """
    directed = scale if view.explanation.has_directed_edges else 0.0
    for order, edge in enumerate(view.part_edges):
        colour, dashes, width = _line(edge.effect, scale)
        style = {"zorder": 1.1 + 0.5 * order / len(view.part_edges)}
        if edge.is_explaining:
            _draw_line(axes, view, edge, directed, INK, "-", width + _CASING * scale, **style)
            if dashes != "-":
                _draw_line(axes, view, edge, directed, "white", "-", width, **style)
        _draw_line(axes, view, edge, directed, colour, dashes, width, **style)


def _line(effect: ShownEffect | None, scale: float = 1.0) -> tuple[str, Any, float]:
    """Return the colour, dashes and width of an edge."""
    if effect is None:
        return GREY, "-", _WEAK
    dashes = (0, (1.6, 0.7)) if effect.direction == "rises" else "-"
    widest = max(2.5, _WIDEST * scale**2)
    width = _THINNEST + (widest - _THINNEST) * effect.effect.strength
    return BAR_COLOURS[effect.direction], dashes, width


def _draw_line(
    axes: Axes,
    view: Surroundings,
    edge: DrawnEdge,
    directed: float,
    colour: str,
    dashes: Any,
    width: float,
    **style: Any,
) -> None:
    start, end = (view.at[each] for each in edge.ends)
    if edge.ends[0] == edge.ends[1]:
        above = ScaledTranslation(0, _LOOP / 72, axes.figure.dpi_scale_trans)
        ring: dict[str, Any] = {
            "markersize": 1.6 * _LOOP,
            "markeredgewidth": min(width, 5),
            "marker": "o",
        }
        axes.plot(
            *start,
            markerfacecolor="none",
            markeredgecolor=colour,
            transform=axes.transData + above,
            **ring,
            **style,
        )
    elif directed:
        # Bent, so that an edge does not cover its opposite.
        axes.add_patch(
            FancyArrowPatch(
                tuple(start),
                tuple(end),
                arrowstyle="-|>",
                connectionstyle="arc3,rad=0.12",
                shrinkA=9 * directed,
                shrinkB=9 * directed,
                mutation_scale=8 * directed + 1.5 * width,
                color=colour,
                linewidth=width,
                linestyle=dashes,
                **style,
            )
        )
    else:
        line: dict[str, Any] = {
            "colors": colour,
            "linewidths": width,
            "linestyles": [dashes],
            "capstyle": "butt",
        }
        axes.add_collection(LineCollection([np.array([start, end])], **line, **style))


def draw_groups(axes: Axes, view: Surroundings, scale: float) -> None:
    """Draw an outline around the nodes of each group."""
    blob = _BLOB * scale
    for group in view.groups:
        colour, _, width = _line(group.effect)
        lines = [view.at[ends] for ends in view.edges.T if np.isin(ends, group.nodes).all()]
        tint = _TINTS.get(colour, "#F4F4F4")
        # A wide line below a slightly narrower one leaves an outline of their union.
        for paint, line, order in (
            (INK if group.is_explaining else colour, blob + 2 * min(width, 4) + 2, 0.1),
            (colour, blob + 2 * min(width, 4), 0.2),
            (tint, blob, 0.3),
        ):
            joined = {"linewidths": line, "colors": paint, "capstyle": "round"}
            axes.add_collection(LineCollection(lines, zorder=order, clip_on=False, **joined))
            x, y = view.at[list(group.nodes)].T
            axes.scatter(x, y, s=line**2, color=paint, lw=0, zorder=order, clip_on=False)


def name_groups(labels: Labels, view: Surroundings, scale: float) -> None:
    """Write the names of groups: of nodes above the topmost, of edges beside one of them."""
    style: dict[str, Any] = {"size": points(8.5), "weight": "bold", "zorder": 5}
    for group in view.groups:
        top = max(group.nodes, key=lambda at: float(view.at[at][1]))
        forms = _forms(part_label(view.explanation, group.number))
        labels.write(forms, view.at[top], _BLOB * scale, upwards=True, **style)
    edges = {edge.number: edge for edge in view.part_edges}
    for number, edge in edges.items():
        if number in view.explanation.part_members:
            middle = view.at[list(edge.ends)].mean(axis=0)
            labels.write(_forms(part_label(view.explanation, number)), middle, 0.0, **style)


def _forms(name: str) -> list[str]:
    return [wrapped(name, 18), shorten(name, 10)]


def part_entries(view: Surroundings, measure: Measure) -> list[tuple[Artist, str]]:
    """Return the legend entries for the edges and groups that occur."""
    drawn = view.part_marks
    entries: list[tuple[Artist, str]] = []
    for direction, text in measure.directions.items():
        effects = [each.effect for each in drawn if each.effect is not None]
        found = [each for each in effects if each.direction == direction]
        if found:
            colour, dashes, _ = _line(found[0])
            entries.append((Line2D([], [], color=colour, linestyle=dashes, linewidth=4), text))
    if any(each.is_explaining for each in drawn):
        mark = Patch(facecolor="white", edgecolor=INK, linewidth=2)
        entries.append((mark, "dark outline: in the network"))
    return entries
