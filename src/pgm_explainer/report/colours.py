"""A colour-blind-safe palette: the colours of Okabe and Ito, and two darker ones for classes."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "BAR_COLOURS",
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
    "UNCLEAR",
    "VERMILLION",
    "class_colours",
    "ink_on",
]

BLUE, ORANGE, YELLOW = "#0072B2", "#E69F00", "#F0E442"
GREEN, SKY, VERMILLION = "#009E73", "#56B4E9", "#D55E00"
PURPLE = "#E5A9CB"  # lighter than the original, which is as dark as GREEN
WINE, BROWN = "#882255", "#7A4B1E"
INK, GREY = "#333333", "#D0D0D0"

KEPT, CHANGED = SKY, ORANGE
"""Colours of a prediction's state; classes use them only if there are many."""
FALLS, RISES, UNCLEAR = VERMILLION, BLUE, "#8A8A8A"
"""Colours of effects below and above 0, and of those whose direction is not clear."""
BAR_COLOURS = {"falls": FALLS, "rises": RISES, "both": UNCLEAR, "": GREY}
"""The colour of an effect by its direction."""
CLASSES = (YELLOW, PURPLE, GREEN, WINE, INK, BROWN, SKY, ORANGE)
"""Ordered so that the first few differ most in lightness, also in greyscale print.

The colours of effects are not among them: a plot may fill a node by class and outline it by effect.
"""

_DARK = 100
"""Luminance (of 255) below which white text is more readable than black."""


def class_colours(classes: Iterable[int], first: int | None) -> dict[int, str]:
    """Assign a colour to each class, the same in every picture if possible.

    If there are more classes than colours, the class ``first`` always gets one, and classes without
    a colour are left out.
    """
    present = sorted(set(classes))
    if not present or present[-1] < len(CLASSES):
        return {number: CLASSES[number] for number in present}
    present.sort(key=lambda number: number != first)
    return dict(zip(present, CLASSES, strict=False))


def ink_on(colour: str) -> str:
    """Return black or white, whichever is more readable on a colour."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < _DARK else "black"
