"""The overview of a data set as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from .colours import BLUE
from .names import shorten
from .overview_text import listings, name_of, shown

if TYPE_CHECKING:
    from ..dataset.overview import Overview

__all__ = ["plot_overview"]

_BARS, _FEWEST = 12, 5
_LABEL = 28
_COLUMNS = 2


def plot_overview(overview: Overview) -> Figure:
    """Draw bars of what affects the most predictions and of the most shared explanations."""
    panels = listings(overview)
    count = max(1, len(panels) + bool(overview.shared))
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    figure = Figure(figsize=(5.2 * columns, 4.2 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for unused in axes[count:]:
        unused.remove()
    axes = axes[:count]
    for place, listing in zip(axes, panels, strict=False):
        _bars(
            place,
            [name_of(each.what, _LABEL) for each in listing.entries],
            [each.predictions for each in listing.entries],
            [listing.size(each) for each in listing.entries],
        )
        place.set_title(f"{listing.title}\n({listing.measure} beside the bar)", size=10)
        place.set_xlabel("predictions")
    if overview.shared:
        names = [f"by {shown(each.nodes)}" for each in overview.shared]
        _bars(axes[-1], names, [len(each.targets) for each in overview.shared])
        axes[-1].set_title("Explanations shared by the most targets", size=10)
        axes[-1].set_xlabel("targets")
    elif not panels:
        axes[0].set_axis_off()
        axes[0].text(0.5, 0.5, f"No {overview.noun} has a significant effect.", ha="center")
    return figure


def _bars(
    axes: Any, names: Sequence[str], values: Sequence[int], beside: Sequence[str] = ()
) -> None:
    places = range(min(len(names), _BARS))
    bars = axes.barh(list(places), values[:_BARS], color=BLUE)
    if beside:
        axes.bar_label(bars, [f" {each}" for each in beside[:_BARS]], size=8)
        axes.margins(x=0.25)
    short = [shorten(name, _LABEL) for name in names[:_BARS]]
    axes.set_yticks(list(places), short, size=8, parse_math=False)
    axes.set_ylim(max(_FEWEST, len(places)) - 0.4, -0.6)  # the first on top
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right"]].set_visible(False)
