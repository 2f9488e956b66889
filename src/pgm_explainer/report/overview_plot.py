"""The overview of a data set as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from .names import shorten
from .overview_text import name_of, shown

if TYPE_CHECKING:
    from ..dataset.overview import Overview

__all__ = ["plot_overview"]

_BLUE, _LIGHT = "#0072B2", "#9ecae1"
_BARS = 12
_LABEL = 28


def plot_overview(overview: Overview) -> Figure:
    """Draw, as bars, what explains most predictions and which explanations are shared most."""
    panels = [
        ("nodes", "predictions explained", overview.nodes),
        ("kinds of nodes", "predictions explained", overview.kinds),
        ("features", "predictions explained", overview.features),
    ]
    panels = [panel for panel in panels if panel[2]]
    count = max(1, len(panels) + bool(overview.shared))
    figure = Figure(figsize=(5.2 * count, 4.2), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)[0]
    for place, (what, unit, entries) in zip(axes, panels, strict=False):
        _bars(
            place,
            [name_of(each.what, _LABEL) for each in entries],
            [each.explains for each in entries],
        )
        if what == "nodes":
            _bars(place, [""] * len(entries), [each.direct or 0 for each in entries], _BLUE)
            place.set_title("nodes that explain most\n(dark: directly)", size=10)
        else:
            place.set_title(f"{what} that explain most", size=10)
        place.set_xlabel(unit)
    if overview.shared:
        names = [f"by {shown(each.nodes)}" for each in overview.shared]
        _bars(axes[-1], names, [len(each.targets) for each in overview.shared], _BLUE)
        axes[-1].set_title("explanations shared by most targets", size=10)
        axes[-1].set_xlabel("targets")
    elif not panels:
        axes[0].set_axis_off()
        axes[0].text(0.5, 0.5, "no explanation names any node", ha="center")
    return figure


def _bars(axes: Any, names: Sequence[str], values: Sequence[int], colour: str = _LIGHT) -> None:
    places = range(min(len(names), _BARS))
    axes.barh(list(places), values[:_BARS], color=colour)
    if any(names):
        short = [shorten(name, _LABEL) for name in names[:_BARS]]
        axes.set_yticks(list(places), short, size=8, parse_math=False)
        axes.invert_yaxis()  # the first on top
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right"]].set_visible(False)
