"""Features and time steps as a strip: columns are features or steps, rows are nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..variables import is_edge
from .effects import ShownEffect, shown_effects
from .names import label_of, printable
from .wording import wording_of

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["Strip", "is_strip", "strip_of"]

_ALL = "all nodes"


@dataclass(frozen=True)
class Strip:
    """The effects of parts that have no place in a graph.

    Attributes:
        title: what is shown, such as ``Effect of each step of each node``.
        columns: the names of features, steps or groups.
        rows: the names of nodes; one row if parts are not of single nodes.
        target_row: the position of the row of the target; None if there is none.
        cells: the effect at each row and column that has one.
        hidden: how many parts are not shown.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[str]
    target_row: int | None
    cells: Mapping[tuple[int, int], ShownEffect]
    hidden: int


def is_strip(explanation: Explanation) -> bool:
    """Return whether no part is a node, an edge or a group of these."""
    labels, members = explanation.part_labels, explanation.part_members
    candidates = set(explanation.ranking.nodes.tolist())
    return bool(labels) and all(
        number in labels and number not in members and not is_edge(labels[number])
        for number in candidates
    )


def strip_of(explanation: Explanation, most_rows: int, most_columns: int) -> Strip:
    """Return the effects as a strip, with the rows and columns that have the strongest effects."""
    effects = shown_effects(explanation, significant=False)
    found = {each.number: _place(explanation, each.number) for each in effects}
    # Effects come strongest first, and so do the nodes and columns that they belong to.
    nodes = list(dict.fromkeys(node for node, _ in found.values()))
    ends = [node for node in explanation.ends.tolist() if node in nodes]
    shown_nodes = list(dict.fromkeys([*ends, *nodes]))[:most_rows]
    columns = list(dict.fromkeys(column for _, column in found.values()))[:most_columns]
    places = [_place(explanation, number)[1] for number in sorted(explanation.part_labels)]
    columns.sort(key=list(dict.fromkeys(places)).index)
    cells = {
        (shown_nodes.index(node), columns.index(column)): each
        for each, (node, column) in zip(effects, found.values(), strict=True)
        if node in shown_nodes and column in columns
    }
    noun, per_node = wording_of(explanation.settings).noun, None not in nodes
    return Strip(
        f"Effect of each {noun}{' of each node' if per_node else ''} on the prediction",
        [printable(column).removeprefix(f"{noun} ") for column in columns],
        [_ALL if node is None else label_of(explanation.names[node]) for node in shown_nodes],
        shown_nodes.index(ends[0]) if ends else None,
        cells,
        len(effects) + explanation.effects.left_out - len(cells),
    )


def _place(explanation: Explanation, number: int) -> tuple[int | None, str]:
    """Return the node of a part, if it has a single one, and which of its data is perturbed."""
    label = explanation.part_labels[number]
    if isinstance(label, tuple) and len(label) == 2 and isinstance(label[0], int):
        return label[0], str(label[1])
    return None, label_of(label)
