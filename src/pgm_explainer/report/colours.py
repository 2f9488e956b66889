"""Colours that everyone can tell apart: Okabe and Ito's."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "BLUE",
    "CHANGED",
    "CLASSES",
    "FALLS",
    "GREY",
    "INK",
    "KEPT",
    "ORANGE",
    "RISES",
    "SKY",
    "VERMILLION",
    "YELLOW",
    "class_colours",
    "ink_on",
]

BLUE, ORANGE, YELLOW = "#0072B2", "#E69F00", "#F0E442"
GREEN, SKY, VERMILLION = "#009E73", "#56B4E9", "#D55E00"
PURPLE = "#E5A9CB"  # lighter than theirs, which is as dark as their green
INK, GREY = "#333333", "#D0D0D0"

KEPT, CHANGED = SKY, ORANGE
"""Of a prediction: these are no class's, unless classes are many."""
FALLS, RISES = VERMILLION, BLUE
"""Of effects below and above 0."""
CLASSES = (BLUE, YELLOW, GREEN, PURPLE, VERMILLION, INK, SKY, ORANGE)
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
