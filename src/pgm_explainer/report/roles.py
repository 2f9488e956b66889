"""Nodes of the network that carry no information about the prediction on their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sampling import VariableId
from .facts import fact_nodes, single_facts

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["idle_nodes"]

_MOVES = 0.005


def idle_nodes(explanation: Explanation) -> list[VariableId]:
    """Return the nodes for which no single fact changes the probability by half a point."""
    if explanation.network is None:
        return []
    base = explanation.query()
    moving = {
        node
        for (node, _), fact in single_facts(explanation).items()
        if abs(fact.holds - base) >= _MOVES
    }
    return [node for node in fact_nodes(explanation) if node not in moving]
