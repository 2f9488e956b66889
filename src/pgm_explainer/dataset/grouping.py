"""Which targets of a shard share one set of samples.

A set of samples costs the model by the part of the graph that all its targets need. What two
targets both need is paid for once if they are explained together, so they are wherever they share
more than a little; targets that share nothing gain nothing, and would only take memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..errors import PGMExplainerError
from ..explainer import PGMExplainer

__all__ = ["groups"]

_CANDIDATES_AT_ONCE = 1 << 22
"""Of targets explained together: some 64 bytes each, for as long as they are."""
_SMALL = 2000
"""Nodes of a part so small that joining another costs nothing."""
_SHARED = 0.1
"""Of what a target needs, the share that must be needed already for it to join."""
_NEARLY_ALL = 0.5


def groups(explainer: PGMExplainer, targets: Sequence[Any]) -> Iterator[list[Any]]:
    """Split targets, in their order, into groups that share samples and fit into memory."""
    group: list[Any] = []
    needed = 0
    part = _Part(explainer)
    for target in targets:
        candidates = _candidates(explainer, target)
        too_many = needed + len(candidates) > _CANDIDATES_AT_ONCE
        if group and (too_many or not part.welcomes(candidates)):
            yield group
            group, needed, part = [], 0, _Part(explainer)
        group.append(target)
        needed += len(candidates)
        part.add(candidates)
    yield group


def _candidates(explainer: PGMExplainer, target: Any) -> IntArray:
    try:
        return explainer.candidates(target)
    except PGMExplainerError:  # it will fail by itself, and say why
        return np.empty(0, dtype=np.int64)


class _Part:
    """The nodes that the model is asked about for a group, as it grows."""

    def __init__(self, explainer: PGMExplainer) -> None:
        self._graph, self._hops = explainer.graph, explainer.num_layers
        self._seen: NDArray[np.bool_] = np.zeros(self._graph.num_nodes, dtype=bool)
        # Where the whole graph is asked about, every target shares all of it.
        everything = not explainer.predictor.accepts_subgraph
        self._size = self._graph.num_nodes if everything else 0

    def welcomes(self, candidates: IntArray) -> bool:
        """Say whether a target needs little that is not needed already."""
        reached = self._reach(candidates)
        new = np.count_nonzero(~self._seen[reached])
        return bool(self._size + new <= _SMALL or new <= (1 - _SHARED) * len(reached))

    def add(self, candidates: IntArray) -> None:
        reached = self._reach(candidates)
        self._size += int(np.count_nonzero(~self._seen[reached]))
        self._seen[reached] = True

    def _reach(self, candidates: IntArray) -> IntArray:
        """The nodes whose messages the candidates' own predictions come from."""
        if self._size > _NEARLY_ALL * self._graph.num_nodes:
            return candidates[:0]
        return self._graph.within_hops(candidates, self._hops)
