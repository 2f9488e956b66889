"""Text, legends and titles shared by all plots."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from matplotlib.transforms import ScaledTranslation

from ..colours import INK
from ..names import shorten, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = [
    "finish",
    "legend",
    "legend_below",
    "name_rows",
    "rows_size",
    "say",
    "title_rows",
    "wrapped",
    "write",
]

_FEWEST_ROWS = 5
_BELOW = 0.45
_TITLE = 60


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
    """Add a legend."""
    # Labels are set afterwards: given directly, one that starts with "_" would be left out.
    shown = axes.legend(
        [artist for artist, _ in entries],
        [" "] * len(entries),
        fontsize=8,
        **place,
    )
    for text, (_, label) in zip(shown.get_texts(), entries, strict=True):
        text.set(text=shorten(label, 40), parse_math=False)


def rows_size(rows: int) -> tuple[float, float]:
    """Return a figure size in inches for this many rows of bars."""
    return 7.0, 2.5 + 0.26 * max(_FEWEST_ROWS, rows)


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of bars, the first one on top."""
    axes.set_yticks(range(len(names)), [shorten(name, 28) for name in names], size=9)
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.set_ylim(max(_FEWEST_ROWS, len(names)) - 0.4, -0.6)
    axes.spines[["top", "right"]].set_visible(False)


def title_rows(axes: Axes, text: str, hidden: int) -> None:
    """Write a title with the number of rows that are not drawn."""
    more = f"\n({hidden} more are not drawn)" if hidden else ""
    axes.set_title(textwrap.fill(text, _TITLE) + more, size=10, color=INK, parse_math=False)


def legend_below(axes: Axes, entries: Sequence[tuple[Artist, str]]) -> None:
    """Add a legend below the axis and its label, where it covers no bar."""
    below = ScaledTranslation(0, -_BELOW, axes.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0)}
    legend(axes, entries, **place, bbox_transform=axes.transAxes + below, ncols=2, frameon=False)


def say(axes: Axes, text: str) -> None:
    """Write a message in place of a plot."""
    write(axes, 0.5, 0.5, text, transform=axes.transAxes)


def finish(axes: Axes, title: str) -> None:
    """Add a title and remove the frame."""
    axes.set_title(title, size=10, color=INK, parse_math=False)
    axes.set_axis_off()
