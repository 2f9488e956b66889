"""Text that can be printed safely, and tables whose columns line up in a terminal."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from .variables import VariableId

__all__ = ["aligned", "label_of", "pad", "printable", "value_text", "width"]

_LARGEST = 1e9
"""Larger values have an exponent."""


def printable(text: object) -> str:
    r"""Return a name with line breaks and control characters escaped.

    Examples:
        >>> printable("a\nb")
        'a\\nb'
    """
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in plain
    )


def label_of(node: VariableId) -> str:
    """Return the label of a node in plots: ``5``, or ``paper 4`` for ``("paper", 4)``."""
    return printable(" ".join(map(str, node)) if isinstance(node, tuple) else node)


def value_text(value: float) -> str:
    """Return a value of the data in few digits; empty if it is not known.

    Examples:
        >>> [value_text(each) for each in (0.8333, 1.0, 12345.67, 2e12, float("nan"))]
        ['0.833', '1', '12,346', '2e+12', '']
    """
    if math.isnan(value):
        return ""
    whole = 1000 <= abs(value) < _LARGEST or value == round(value)
    return f"{value:,.0f}" if whole and abs(value) < _LARGEST else f"{value:.3g}"


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    Examples:
        >>> width("abc"), width("東京"), width("e\u0301")
        (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )


def pad(text: str, columns: int) -> str:
    """Return a text padded on the left to this many terminal columns."""
    return " " * (columns - width(text)) + text


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with right-aligned columns and no trailing spaces.

    Examples:
        >>> aligned([["node", "effect"], ["5", "0.12"]])
        ['node  effect', '   5    0.12']
    """
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(pad(cell, columns) for cell, columns in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
