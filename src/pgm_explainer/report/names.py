"""Names for display: printable, shortened, and aligned by their width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..printing import aligned, label_of, pad, printable, width
from ..variables import VariableId
from .wording import part_label

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = [
    "aligned",
    "class_label",
    "graph_label",
    "label_of",
    "listed",
    "pad",
    "predicted_values",
    "printable",
    "shorten",
    "value_labels",
    "variable_label",
    "width",
]


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


def predicted_values(explanation: Explanation) -> str:
    """Return what a regression predicts: ``the value 3.2``, or ``price 3.2 and tax 0.6``."""
    names, output = explanation.settings.model.class_names, explanation.settings.model.output
    values = [f"{value:.4g}" for value in explanation.values]
    if names is None:
        plural = "s" if len(values) > 1 else ""
        return (
            f"the value{plural} {listed(values)}{'' if output is None else f' of output {output}'}"
        )
    called = zip(value_labels(explanation), values, strict=True)
    return listed([f"{name} {value}" for name, value in called])


def variable_label(explanation: Explanation, node: VariableId) -> str:
    """Return the label of a variable of the network: a part, a pair or the graph."""
    if explanation.task == "edge" and node == explanation.target and isinstance(node, tuple):
        return " – ".join(label_of(end) for end in node)
    if explanation.position is not None and node == explanation.target:
        return f"{label_of(node)} {graph_label(explanation)}"
    if explanation.part_labels and node != explanation.target:
        return part_label(explanation, explanation.names.index(node))
    return label_of(node)


def graph_label(explanation: Explanation) -> str:
    """Return the label of one of many graphs, to follow ``graph``: ``3``, or ``3 (aspirin)``."""
    title = f" ({printable(explanation.title)})" if explanation.title else ""
    return f"{explanation.position}{title}"


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
