"""Text, legends and titles shared by all plots."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from ..colours import INK
from ..names import shorten, width

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = [
    "Fill",
    "bar",
    "explain_bars",
    "finish",
    "fits",
    "inches",
    "label_values",
    "legend",
    "name_rows",
    "points",
    "rows_size",
    "rows_that_fit",
    "show_message",
    "title_rows",
    "wrapped",
    "write",
]

Fill = tuple[str, str]
"""The colour and the pattern of a bar."""
_FEWEST_ROWS = 5
_BELOW, _LINE = 0.45, 0.15
"""The height of an axis with its label, and of each further line of the label, in inches."""
_TITLE, _LABEL, _KEY = 60, 60, 6
"""Maximum letters in a line of a title and in a legend label; letters that a legend key takes."""
_ONE_COLUMN = 4
"""A legend with more entries has two columns, unless only one is wanted."""
_LEGEND = 0.96
"""The share of the width that a legend may take."""
_NARROW = 5.0
"""Up to this width of a plot, in inches, a title is not written above the names of rows."""
_NAMES = 0.33
"""The maximum share of the width that the names of rows take."""
_LETTER = 0.6
"""The width of a letter, as a share of the size of the text; a little more than the average."""
_INSIDE = 0.775
"""The share of a figure that its axes take before they are laid out."""
_BESIDE_ROWS = 12.5
"""The height of title, axis and legend around rows of bars, in lines of text."""
_ROW = 1.8
"""The minimum height of a row, in lines of text."""


def points(size: float) -> float:
    """Return the size of a text that has ``size`` points in a plot with the usual font size, 10."""
    return size * float(mpl.rcParams["font.size"]) / 10


def inches(axes: Axes) -> tuple[float, float]:
    """Return the width and height that a plot has, with the text around its axes.

    They do not depend on whether the figure was laid out already.
    """
    figure, place = axes.figure, axes.get_subplotspec()
    wide, high = figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi
    grid = None if place is None else place.get_gridspec()
    if place is None or not isinstance(grid, GridSpec):
        box = axes.get_position(original=True)
        return box.width * wide / _INSIDE, box.height * high / _INSIDE
    columns, rows = np.array(grid.get_width_ratios()), np.array(grid.get_height_ratios())
    across = columns[place.colspan.start : place.colspan.stop].sum() / columns.sum()
    down = rows[place.rowspan.start : place.rowspan.stop].sum() / rows.sum()
    return float(wide * across), float(high * down)


def fits(width: float, size: float) -> int:
    """Return how many letters of a size, in points, fit into a width in inches; at least 4."""
    return max(4, int(72 * width / (_LETTER * size)))


def rows_that_fit(axes: Axes) -> int:
    """Return how many rows of bars a plot has space for; at least one."""
    line = points(10) / 72
    return max(1, round((inches(axes)[1] / line - _BESIDE_ROWS) / _ROW))


def write(axes: Axes, x: float, y: float, text: str, **options: Any) -> Text:
    """Write centred text without parsing ``$`` as mathematics."""
    options = {"ha": "center", "va": "center", "color": INK, "parse_math": False, **options}
    return axes.text(x, y, text, **options)


def wrapped(name: str, columns: int) -> str:
    """Return a name in one or two short lines, with the middle cut if it is too long."""
    if width(name) <= columns:
        return name
    words = textwrap.wrap(name, columns, break_long_words=False)
    if len(words) == 2:
        return "\n".join(shorten(line, columns) for line in words)
    short = shorten(name, 2 * columns)
    return f"{short[: len(short) // 2 + 1].strip()}\n{short[len(short) // 2 + 1 :].strip()}"


def legend(axes: Axes, entries: Sequence[tuple[Artist, str]], **place: Any) -> None:
    """Add a legend, with up to ``ncols`` columns if they fit into the ``share`` of the width."""
    labels = [shorten(label, _LABEL) for _, label in entries]
    available = _LEGEND * place.pop("share", 1.0) * inches(axes)[0] * axes.figure.dpi
    most = min(place.pop("ncols", 1), len(entries))
    fewest = min(most, 2 if len(entries) > _ONE_COLUMN else 1)
    for columns in range(most, fewest - 1, -1):
        # A legend wider than the axes would make them narrower each time they are drawn.
        if _legend(axes, entries, labels, ncols=columns, **place) <= available:
            return
    letters = fits(available / axes.figure.dpi / fewest, points(8)) - _KEY
    labels = [wrapped(label, max(6, letters)) for label in labels]
    _legend(axes, entries, labels, ncols=fewest, **place)


def _legend(
    axes: Axes, entries: Sequence[tuple[Artist, str]], labels: Sequence[str], **place: Any
) -> float:
    """Draw a legend, in place of an earlier one, and return its width in pixels."""
    # Labels are set afterwards: given directly, one that starts with "_" would be left out.
    shown = axes.legend(
        [artist for artist, _ in entries],
        [" "] * len(entries),
        fontsize=points(8),
        columnspacing=1.2,
        **place,
    )
    for text, label in zip(shown.get_texts(), labels, strict=True):
        text.set(text=label, parse_math=False)
    return float(shown.get_window_extent().width)


def bar(axes: Axes, at: int, length: float, fill: Fill) -> None:
    """Draw the bar of a row."""
    colour, hatch = fill
    axes.barh(at, length, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.6)


def explain_bars(
    axes: Axes, kinds: Mapping[Fill, str], there: Collection[Fill], *more: tuple[Artist, str]
) -> None:
    """Add a legend of the fills of bars that occur, and of other marks."""
    entries: list[tuple[Artist, str]] = [
        (Patch(facecolor=fill[0], hatch=fill[1], edgecolor=INK), name)
        for fill, name in kinds.items()
        if fill in there
    ]
    _legend_below(axes, [*entries, *more])


def rows_size(rows: int) -> tuple[float, float]:
    """Return a figure size in inches for this many rows of bars."""
    return 7.0, 2.5 + 0.26 * max(_FEWEST_ROWS, rows)


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of bars, the first one on top."""
    letters = min(28, fits(_NAMES * inches(axes)[0], points(9)))
    short = [shorten(name, letters) for name in names]
    axes.set_yticks(range(len(names)), short, size=points(9))
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.tick_params(axis="x", labelsize=points(9))
    fewest = min(_FEWEST_ROWS, rows_that_fit(axes))  # bars of a few rows are not too thick
    axes.set_ylim(max(fewest, len(names)) - 0.4, -0.6)
    axes.spines[["top", "right"]].set_visible(False)


def label_values(axes: Axes, text: str, width: float | None = None) -> None:
    """Label the axis of values, in up to two lines of a width in inches."""
    letters = fits((1 - _NAMES) * inches(axes)[0] if width is None else width, points(9))
    lines = textwrap.fill(shorten(text, min(100, 2 * letters - 4)), letters)
    axes.set_xlabel(lines, size=points(9), color=INK)
    axes.xaxis.label.set_parse_math(False)


def title_rows(axes: Axes, text: str, hidden: int) -> None:
    """Write a title with the number of rows that are not drawn."""
    more = f"\n({hidden} more are not drawn)" if hidden else ""
    width, _ = inches(axes)
    share = 1.0 if width > _NARROW else 0.95 - _NAMES
    _title(axes, text, min(_TITLE, fits(share * width, points(10))), more)


def _title(axes: Axes, text: str, letters: int, more: str = "") -> None:
    """Write a title in as many lines as it needs."""
    lines = textwrap.fill(text, letters)
    axes.set_title(lines + more, size=points(10), color=INK, parse_math=False)


def _legend_below(axes: Axes, entries: Sequence[tuple[Artist, str]]) -> None:
    """Add a legend below the axis and its label, where it covers no bar."""
    lines = axes.get_xlabel().count("\n")
    down = points(10) / 10 * (_BELOW + lines * _LINE)
    below = ScaledTranslation(0, -down, axes.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "share": 1 - _NAMES}
    legend(axes, entries, **place, bbox_transform=axes.transAxes + below, ncols=2, frameon=False)


def show_message(axes: Axes, text: str) -> None:
    """Write a message in place of a plot."""
    letters = fits(inches(axes)[0], points(10))
    lines = "\n".join(textwrap.fill(line, letters) for line in text.splitlines())
    write(axes, 0.5, 0.5, lines, size=points(10), transform=axes.transAxes)


def finish(axes: Axes, title: str) -> None:
    """Add a title and remove the frame."""
    _title(axes, title, fits(inches(axes)[0], points(10)))
    axes.set_axis_off()
