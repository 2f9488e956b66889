"""Choice of the nodes of the network, from effects and dependence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..effects import Effects
from .config import SelectionConfig
from .select import Dependents

__all__ = ["STRONG", "causes", "choose_nodes"]

STRONG = 0.01
"""A cause is strong if it has at least this fraction of the strength of the strongest node."""


def choose_nodes(effects: Effects, dependents: Dependents, config: SelectionConfig) -> IntArray:
    """Return the nodes of the network, most important first.

    A cause is a node with a significant effect. It is strong if it has at least a hundredth of the
    strength of the strongest node. Strong causes come first, then nodes that depend on the target
    (in the order of the ranking), then weak causes.
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
    """Return the nodes with a significant effect of at least this strength, strongest first."""
    chosen: NDArray[np.bool_] = effects.significant & (effects.strength >= at_least)
    return effects.nodes[chosen]
