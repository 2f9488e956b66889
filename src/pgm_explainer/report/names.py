"""What things are called, as it can be printed: safe, short, and as wide as it is said to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..printing import aligned, label_of, pad, printable, width
from ..variables import VariableId

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


def class_label(explanation: Explanation, number: int) -> str:
    """Return what a picture calls a class: by its name or, where it has none, ``class 2``."""
    if explanation.settings.model.class_names is not None:
        return printable(explanation.class_name(number))
    output = explanation.settings.model.output
    if output is None:
        return f"class {number}"
    return f"label {output}" if number == 1 else f"not label {output}"


def value_labels(explanation: Explanation) -> list[str]:
    """Return what the values of a regression are called."""
    names, output = explanation.settings.model.class_names, explanation.settings.model.output
    if names is not None:
        return list(map(printable, names if output is None else [names[output]]))
    if output is not None:
        return [f"value {output}"]
    return [f"value {at}" for at in range(len(explanation.values))]


def variable_label(explanation: Explanation, node: VariableId) -> str:
    """Return what a picture calls a variable of the network: a node, a pair or the graph."""
    if explanation.task == "edge" and node == explanation.target and isinstance(node, tuple):
        return " – ".join(label_of(end) for end in node)
    return label_of(node)


def shorten(text: str, columns: int) -> str:
    """Return a text of so many columns at most, the middle left out: names differ at their ends.

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
    """Join as people do: ``a``, ``a and b``, ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
