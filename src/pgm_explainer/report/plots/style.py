"""Colours that everyone can tell apart (Okabe and Ito's), and text that shows names as they are."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from matplotlib.colors import to_rgb

from ..names import shorten, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = [
    "BLUE",
    "GREY",
    "INK",
    "ORANGE",
    "SKY",
    "VERMILLION",
    "YELLOW",
    "class_colours",
    "finish",
    "ink_on",
    "legend",
    "say",
    "wrapped",
    "write",
]

BLUE, ORANGE, YELLOW, PURPLE = "#0072B2", "#E69F00", "#F0E442", "#CC79A7"
GREEN, SKY, VERMILLION = "#009E73", "#56B4E9", "#D55E00"
INK, GREY = "#333333", "#D0D0D0"

_CLASSES = (BLUE, ORANGE, YELLOW, PURPLE, GREEN, SKY, VERMILLION, INK)
"""In this order the first few differ most in lightness, so that they differ in grey print too."""


def class_colours(classes: Iterable[int], first: int | None) -> dict[int, str]:
    """Give a colour to each class, if possible the same in every picture.

    Where there are more classes than colours, the one of interest comes ``first``, and those left
    without a colour are not in the answer.
    """
    present = sorted(set(classes))
    if not present or present[-1] < len(_CLASSES):
        return {number: _CLASSES[number] for number in present}
    present.sort(key=lambda number: number != first)
    return dict(zip(present, _CLASSES, strict=False))


def ink_on(colour: str) -> str:
    """Return black or white, whichever can be read on a colour."""
    red, green, blue = to_rgb(colour)
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"


def write(axes: Axes, x: float, y: float, text: str, **options: Any) -> Text:
    """Write centred text, taking no ``$`` in it for mathematics."""
    options = {"ha": "center", "va": "center", "color": INK, "parse_math": False, **options}
    return axes.text(x, y, text, **options)


def wrapped(name: str, columns: int) -> str:
    """Return a name in one or two short lines; what is too long loses its middle."""
    if width(name) <= columns:
        return name
    words = textwrap.wrap(name, columns, break_long_words=False)
    if len(words) == 2:
        return "\n".join(shorten(line, columns) for line in words)
    short = shorten(name, 2 * columns)
    return f"{short[: len(short) // 2 + 1].strip()}\n{short[len(short) // 2 + 1 :].strip()}"


def legend(axes: Axes, entries: Sequence[tuple[Artist, str]], **place: Any) -> None:
    """Say what marks mean."""
    # Labels are set afterwards: given directly, one that starts with "_" would be left out.
    shown = axes.legend(
        [artist for artist, _ in entries],
        [" "] * len(entries),
        fontsize=8,
        **place,
    )
    for text, (_, label) in zip(shown.get_texts(), entries, strict=True):
        text.set(text=shorten(label, 40), parse_math=False)


def say(axes: Axes, text: str) -> None:
    """Say something instead of drawing it."""
    write(axes, 0.5, 0.5, text, transform=axes.transAxes)


def finish(axes: Axes, title: str) -> None:
    """Give a picture its title and take the frame away."""
    axes.set_title(title, size=10, color=INK, parse_math=False)
    axes.set_axis_off()
