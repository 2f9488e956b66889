"""Names for display: printable, shortened, and aligned by their width."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..sampling import VariableId

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = [
    "aligned",
    "class_label",
    "label_of",
    "listed",
    "pad",
    "printable",
    "shorten",
    "value_labels",
    "variable_label",
    "width",
]


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
    """Return the label of a node: ``5``, or ``paper 4`` for ``("paper", 4)``."""
    return printable(" ".join(map(str, node)) if isinstance(node, tuple) else node)


def class_label(explanation: Explanation, number: int) -> str:
    """Return the label of a class: its name or, without names, ``class 2``."""
    if explanation.settings.model.class_names is not None:
        return printable(explanation.class_name(number))
    output = explanation.settings.model.output
    if output is None:
        return f"class {number}"
    return f"label {output}" if number == 1 else f"not label {output}"


def value_labels(explanation: Explanation) -> list[str]:
    """Return the labels of the predicted values of a regression."""
    names, output = explanation.settings.model.class_names, explanation.settings.model.output
    if names is not None:
        return list(map(printable, names if output is None else [names[output]]))
    if output is not None:
        return [f"value {output}"]
    return [f"value {at}" for at in range(len(explanation.values))]


def variable_label(explanation: Explanation, node: VariableId) -> str:
    """Return the label of a variable of the network: a node, a pair or the graph."""
    if explanation.task == "edge" and node == explanation.target and isinstance(node, tuple):
        return " – ".join(label_of(end) for end in node)
    return label_of(node)


def width(text: str) -> int:
    """Return the width of a text in terminal columns.

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
    """Right-align a text in this many columns."""
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


def shorten(text: str, columns: int) -> str:
    """Shorten a text to at most this many columns by cutting its middle.

    Examples:
        >>> shorten("Department of Biology 8", 12)
        'Depart…ogy 8'
    """
    widths = list(map(width, text))
    middle = len(text) // 2
    head, tail = sum(widths[:middle]), sum(widths[middle:])
    if head + tail <= columns:
        return text
    stop, start = middle, middle
    while head + tail >= columns:
        if head > tail:
            stop -= 1
            head -= widths[stop]
        else:
            tail -= widths[start]
            start += 1
    return f"{text[:stop]}…{text[start:]}"


def listed(items: Sequence[str]) -> str:
    """Join items as ``a``, ``a and b`` or ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
