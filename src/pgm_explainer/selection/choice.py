"""Which nodes the network holds: what changes the prediction first, then what moves along."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..effects import Effects
from .config import SelectionConfig
from .select import Dependents

__all__ = ["STRONG", "causes", "choose_nodes"]

STRONG = 0.1
"""A cause is strong if it has at least this share of the strongest one's strength."""


def choose_nodes(effects: Effects, dependents: Dependents, config: SelectionConfig) -> IntArray:
    """Return the nodes of the network, most important first.

    Strong causes come first: nodes with a significant effect and at least a tenth of the strength
    of the strongest one. Nodes that depend on the target follow in the order of the ranking, and
    then the weak causes that are left.
    """
    ranked = dependents.ranking.nodes
    candidates = frozenset(ranked.tolist())
    found = [node for node in causes(effects).tolist() if node in candidates]
    strong = frozenset(causes(effects, STRONG).tolist())
    ordered = [node for node in found if node in strong]
    ordered += [*dependents.related.tolist(), *found]
    if not config.only_significant:
        ordered += ranked.tolist()
    return np.array(list(dict.fromkeys(ordered))[: config.max_nodes], dtype=np.int64)


def causes(effects: Effects, at_least: float = 0.0) -> IntArray:
    """Return the nodes with a significant effect and at least such a strength, strongest first."""
    chosen: NDArray[np.bool_] = effects.significant & (effects.strength >= at_least)
    return effects.nodes[chosen]
