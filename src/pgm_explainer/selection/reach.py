"""How much of what a target hears can come from each candidate, whatever the model makes of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..graph import Graph

__all__ = ["reach_of"]

_OFTEN = 0.15
"""Who is on that share of walks is heard well: being on more of them counts for no more."""
_LEAST = 0.1
"""Of nobody more than nine tenths are taken off: what decides the prediction is told, if far."""


def reach_of(graph: Graph, ends: IntArray, candidates: IntArray, hops: int) -> NDArray[np.float64]:
    """Return the reach of each candidate, up to 1: its share of walks to the ends of a target.

    The influence of a node in a network of L layers, averaged over what it might have learnt, is
    as often as random walks of L steps lead there (Xu et al., 2018, Theorem 1). The candidate on
    most walks has 1, and so has whoever is on 15 % of them; none has less than 0.1. Of a whole
    graph all have 1.

    Examples:
        Node 0 hears 1 to 5, and 5 hears 6 to 10.

        >>> heard = np.stack((np.arange(1, 11), np.repeat([0, 5], 5)))
        >>> reach = reach_of(Graph(heard, num_nodes=11), np.array([0]), np.arange(1, 11), hops=2)
        >>> reach.round(3).tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0, 0.267, 0.267, 0.267, 0.267, 0.267]
    """
    if not len(ends) or not len(candidates):
        return np.ones(len(candidates))
    often = np.minimum(graph.visits(ends, candidates, hops), _OFTEN)
    return np.maximum(often / often.max(), _LEAST)
