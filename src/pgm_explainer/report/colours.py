"""Colours that everyone can tell apart: Okabe and Ito's."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "BLUE",
    "CLASSES",
    "GREY",
    "INK",
    "ORANGE",
    "SKY",
    "VERMILLION",
    "YELLOW",
    "class_colours",
    "ink_on",
]

BLUE, ORANGE, YELLOW, PURPLE = "#0072B2", "#E69F00", "#F0E442", "#CC79A7"
GREEN, SKY, VERMILLION = "#009E73", "#56B4E9", "#D55E00"
INK, GREY = "#333333", "#D0D0D0"

CLASSES = (BLUE, ORANGE, YELLOW, PURPLE, GREEN, SKY, VERMILLION, INK)
"""In this order the first few differ most in lightness, so that they differ in grey print too."""

_DARK = 100
"""Of 255: darker colours are so dark that white can be read on them better than black."""


def class_colours(classes: Iterable[int], first: int | None) -> dict[int, str]:
    """Give a colour to each class, if possible the same in every picture.

    Where there are more classes than colours, the one of interest comes ``first``, and those left
    without a colour are not in the answer.
    """
    present = sorted(set(classes))
    if not present or present[-1] < len(CLASSES):
        return {number: CLASSES[number] for number in present}
    present.sort(key=lambda number: number != first)
    return dict(zip(present, CLASSES, strict=False))


def ink_on(colour: str) -> str:
    """Return black or white, whichever can be read on a colour."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < _DARK else "black"
