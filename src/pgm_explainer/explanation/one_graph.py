"""The explanation of one of many graphs, with parts numbered as in that graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..graph import Graph
from ..variables import GRAPH, VariableId
from .explanation import Explanation

__all__ = ["of_one_graph", "shifted"]


def of_one_graph(
    explanation: Explanation, first: int, stop: int, position: int | None = None, title: str = ""
) -> Explanation:
    """Return the explanation with nodes numbered in their own graph, and other parts after them.

    Args:
        explanation: an explanation of one graph, with nodes numbered among those of all graphs.
        first: the first node of the graph.
        stop: the first node of the next graph.
        position: the position of the graph among all graphs.
        title: what the graph is called; empty if it has no name.
    """
    labels = explanation.part_labels
    numbers = {part: stop - first + at for at, part in enumerate(sorted(labels))}

    def own(part: int) -> int:
        return numbers[part] if part in numbers else part - first

    def own_node(member: Any) -> Any:
        return tuple(map(own_node, member)) if isinstance(member, tuple) else member - first

    def renumbered(table: Any) -> Any:
        nodes = np.array([own(part) for part in table.nodes.tolist()], dtype=np.int64)
        return replace(table, nodes=nodes)

    pairs = [
        replace(each, nodes=(own(each.nodes[0]), own(each.nodes[1])))
        for each in explanation.effects.pairs
    ]
    network, graph = explanation.network, explanation.graph
    if network is not None:
        names: dict[VariableId, VariableId] = {explanation.target: GRAPH}
        names |= {node: own(node) for node in network.nodes if isinstance(node, int)}
        network = network.renamed(names)
    return replace(
        explanation,
        target=GRAPH,
        position=position,
        title=title,
        ranking=renumbered(explanation.ranking),
        effects=replace(renumbered(explanation.effects), pairs=tuple(pairs)),
        network=network,
        graph=graph.component(first, stop) if isinstance(graph, Graph) else None,
        part_labels={numbers[part]: shifted(labels[part], first) for part in sorted(labels)},
        area=explanation.area - first,
        part_members={
            numbers[part]: tuple(own_node(each) for each in members)
            for part, members in explanation.part_members.items()
        },
    )


def shifted(label: VariableId, first: int) -> VariableId:
    """Return the label of a part, with ``first`` subtracted from its node indices."""
    if not isinstance(label, tuple):
        return label
    return tuple(each - first if isinstance(each, int) else each for each in label)
