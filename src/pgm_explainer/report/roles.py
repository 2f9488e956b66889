"""Which nodes of the network add nothing to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sampling import VariableId
from .facts import single_facts, told_nodes

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["idle_nodes"]

_MOVES = 0.005


def idle_nodes(explanation: Explanation) -> list[VariableId]:
    """Return the nodes of which no single fact moves the network's answer by half a point."""
    if explanation.network is None:
        return []
    base = explanation.query()
    moving = {
        node
        for (node, _), fact in single_facts(explanation).items()
        if abs(fact.holds - base) >= _MOVES
    }
    return [node for node in told_nodes(explanation) if node not in moving]
