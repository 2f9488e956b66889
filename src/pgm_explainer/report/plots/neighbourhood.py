"""The graph around a prediction, with the explaining nodes marked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from ...arrays import IntArray
from ..layout import Positions, place_nodes, visible_nodes
from ..names import label_of, printable, width
from .labels import write_beside
from .style import (
    BLUE,
    GREY,
    INK,
    VERMILLION,
    class_colours,
    finish,
    ink_on,
    legend,
    wrapped,
    write,
)

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
    view = _View(explanation, visible_nodes(explanation, max_shown))
    if not len(view.nodes):
        finish(axes, "Around the prediction")
        return
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    view.draw_edges(axes)
    view.draw_nodes(axes)
    entries = view.legend_entries()
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
    legend(axes, entries, ncols=min(len(entries), 4), frameon=False, **place)
    finish(axes, view.title)
    view.label_nodes(axes)


@dataclass(frozen=True)
class _View:
    """What is drawn: some nodes of an explanation's neighbourhood, ascending."""

    explanation: Explanation
    nodes: IntArray

    @cached_property
    def edges(self) -> IntArray:
        """Edges ``[2, e]`` among the nodes drawn, by their positions."""
        part = self.explanation.neighbourhood
        if part is None:
            return np.empty((2, 0), dtype=np.int64)
        ends = part.nodes[part.edge_index]
        return np.searchsorted(self.nodes, ends[:, np.isin(ends, self.nodes).all(axis=0)])

    @cached_property
    def at(self) -> Positions:
        return place_nodes(len(self.nodes), self.edges)

    @cached_property
    def is_target(self) -> Any:
        return np.isin(self.nodes, self.explanation.ends)

    @cached_property
    def is_explaining(self) -> Any:
        ranking = self.explanation.ranking
        return np.isin(self.nodes, ranking.nodes[ranking.selected])

    @cached_property
    def classes(self) -> dict[int, int]:
        """The predicted class of each node drawn that has one."""
        around = np.union1d(self.explanation.ranking.nodes, self.explanation.ends).tolist()
        known = dict(zip(around, self.explanation.node_classes.tolist(), strict=False))
        return {node: known[node] for node in self.nodes.tolist() if known.get(node, -1) >= 0}

    @cached_property
    def palette(self) -> dict[int, str]:
        return class_colours(self.classes.values(), self.explanation.predicted_class)

    @property
    def title(self) -> str:
        ranking = self.explanation.ranking
        count = len(ranking)
        explaining = int(np.count_nonzero(ranking.selected))
        hidden = len(np.union1d(ranking.nodes, self.explanation.ends)) - len(self.nodes)
        missing = f"; not drawn: {hidden}" if hidden > 0 else ""
        return f"Around the prediction (explaining: {explaining} of {count} nodes{missing})"

    def colour(self, at: int) -> str:
        if not self.classes:
            return BLUE if self.is_explaining[at] else VERMILLION if self.is_target[at] else GREY
        return self.palette.get(self.classes.get(int(self.nodes[at]), -1), GREY)

    def draw_edges(self, axes: Axes) -> None:
        marked = (self.is_target | self.is_explaining)[self.edges].all(axis=0)
        for chosen, colour, line in ((~marked, GREY, 0.7), (marked, INK, 1.6)):
            ends = self.at[self.edges[:, chosen]].transpose(1, 0, 2)
            axes.add_collection(
                LineCollection(list(ends), colors=colour, linewidths=line, zorder=1)
            )

    def draw_nodes(self, axes: Axes) -> None:
        marked = self.is_target | self.is_explaining
        small = np.clip(60.0 / np.sqrt(len(self.nodes)), 3.5, 9.0)
        for at, (x, y) in enumerate(self.at):
            axes.scatter(
                x,
                y,
                s=(_MARK if marked[at] else small) ** 2,
                color=self.colour(at),
                marker="s" if self.is_target[at] else "o",
                edgecolors=INK,
                linewidths=2.2 if marked[at] else 0.4,
                zorder=3 if marked[at] else 2,
            )

    def legend_entries(self) -> list[tuple[Artist, str]]:
        """The marks, then the classes by the user's own names."""
        entries: list[tuple[Artist, str]] = []
        if self.is_target.any():
            entries.append((_mark("white", "s", 9, 2), "target"))
        if self.is_explaining.any():
            fill = "white" if self.classes else BLUE
            entries.append((_mark(fill, "o", 9, 2), "explaining node"))
        settings = self.explanation.settings
        numbered = settings.get("class_names") is None
        what = "class" if settings.get("output") is None else "label"
        for number, colour in sorted(self.palette.items()):
            name = printable(self.explanation.class_name(number))
            entries.append((_mark(colour, "o", 7, 0.4), f"{what} {name}" if numbered else name))
        coloured = [node for node, number in self.classes.items() if number in self.palette]
        if 0 < len(coloured) < len(self.nodes):
            entries.append((_mark(GREY, "o", 7, 0.4), "another class, or none"))
        return entries

    def label_nodes(self, axes: Axes) -> None:
        """Write names into the marks or, if any is too long for that, beside them all."""
        marked = np.flatnonzero(self.is_target | self.is_explaining).tolist()
        called = self.explanation.ranking.called
        names = {at: label_of(called(int(self.nodes[at]))) for at in marked}
        if all(width(name) <= _FITS_A_MARK for name in names.values()):
            for at, name in names.items():
                x, y = self.at[at]
                write(axes, x, y, name, size=8, color=ink_on(self.colour(at)), **_BOLD)
        else:
            beside = {at: wrapped(name, 16) for at, name in names.items()}
            write_beside(axes, beside, self.at, _MARK, size=7, **_BOLD)


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
