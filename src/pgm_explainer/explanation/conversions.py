"""Conversions of an explanation: other names, and the node numbers of one of many graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import IntArray
from ..graph import Graph
from ..node_names import NodeNames
from ..variables import GRAPH, VariableId
from .smallest_change import renamed_change

if TYPE_CHECKING:
    from .explanation import Explanation

__all__ = ["of_node", "of_one_graph", "renamed", "shifted", "target_of"]


def target_of(task: str, ends: IntArray, names: NodeNames) -> VariableId:
    """Return the label of a target, given the indices of its nodes."""
    named = names.of(ends.tolist())
    return GRAPH if task == "graph" else tuple(named) if task == "edge" else named[0]


def renamed(explanation: Explanation, labels: Any, typed: bool) -> Explanation:
    """Return the same explanation with names by node index.

    Args:
        typed: whether each name is a pair of a node type and a name.
    """
    task, ends, features = explanation.task, explanation.ends, explanation.features
    new = NodeNames.read(labels, explanation.around.tolist(), typed)
    if explanation.part_labels:
        new = new.with_parts(explanation.part_labels, target_of(task, ends, new))
    target = target_of(task, ends, new)
    network = explanation.network
    if network is not None:
        others = [node for node in network.nodes if node != explanation.target]
        renaming = {node: new[explanation.names.index(node)] for node in others}
        network = network.renamed({**renaming, explanation.target: target})
    return replace(
        explanation,
        target=target,
        network=network,
        ranking=replace(explanation.ranking, names=new),
        effects=replace(explanation.effects, names=new),
        features=None if features is None else replace(features, names=new),
        names=new,
        smallest_change=renamed_change(explanation, new),
    )


def of_node(explanation: Explanation) -> Explanation:
    """Return the explanation with the target ``node``, if its variable is ``(node,)``."""
    (node,) = explanation.ends.tolist()
    network = explanation.network
    network = None if network is None else network.renamed({explanation.target: node})
    return replace(explanation, target=node, network=network)


def of_one_graph(
    explanation: Explanation, first: int, stop: int, position: int | None = None, title: str = ""
) -> Explanation:
    """Return the explanation with nodes numbered in their own graph, and other parts after them.

    Args:
        explanation: an explanation of one graph, with nodes numbered among those of all graphs.
        first: the first node of the graph.
        stop: the first node of the next graph.
        position: the position of the graph among all graphs.
        title: the name of the graph; empty if it has none.
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
