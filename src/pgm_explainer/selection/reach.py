"""How much each candidate's evidence counts: by how much of what a target hears it can send."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..graph import Graph

__all__ = ["reach_of"]

_OFTEN = 0.15
"""Who is visited that often on average is heard well: to be heard better counts for no more."""
_LEAST = 0.01
"""The least that evidence counts for: what decides the prediction is told, however far it is."""
_LONGEST = 10
"""How long walks are at most; deeper networks hardly tell nodes apart, and walks take time."""


def reach_of(graph: Graph, ends: IntArray, candidates: IntArray, hops: int) -> NDArray[np.float64]:
    """Return how much the evidence for each candidate counts, from 0.01 to 1.

    What a node does to another in a network of random weights is, on average, as much as random
    walks lead from there to here (Xu et al., 2018). So effects are expected in proportion to how
    often walks from the target, against the messages, come by a node; and evidence, which grows
    with the square of an effect, to the square of that. Who is visited most has 1, and so has
    whoever is visited 0.15 times on average. Of a pair or a graph all have 1: there a node's
    variable is its perturbation alone, and cannot move with the target without moving it.

    Args:
        graph: along whose edges messages go.
        ends: the nodes of the prediction.
        candidates: ascending, all other nodes within ``hops`` of a target; any of a pair or graph.
        hops: how far candidates may be.

    Examples:
        Node 0 hears 1 to 5, and 5 hears 6 to 10.

        >>> heard = np.stack((np.arange(1, 11), np.repeat([0, 5], 5)))
        >>> reach = reach_of(Graph(heard, num_nodes=11), np.array([0]), np.arange(1, 11), hops=2)
        >>> reach.round(3).tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0, 0.071, 0.071, 0.071, 0.071, 0.071]
    """
    if len(ends) != 1 or not len(candidates):
        return np.ones(len(candidates))
    often = np.minimum(graph.visits(ends, candidates, min(hops, _LONGEST)), _OFTEN)
    return np.maximum((often / often.max()) ** 2, _LEAST)
