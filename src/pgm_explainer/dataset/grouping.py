"""Which targets of a shard share one set of samples.

A set of samples costs the model by the part of the graph that all its targets need. What two
targets both need is paid for once if they are explained together, so they are wherever they share
more than a little; targets that share nothing gain nothing, and would only take memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
_OPEN = 8
"""Groups that others may still join: each remembers its part of the graph."""


def groups(explainer: PGMExplainer, targets: Sequence[Any]) -> list[list[int]]:
    """Return groups of places in ``targets`` that share samples and fit into memory."""
    found: list[_Group] = []
    for place, target in enumerate(targets):
        candidates = _candidates(explainer, target)
        roomy = [each for each in found[-_OPEN:] if each.has_room_for(candidates)]
        group = next((each for each in roomy if each.is_nearly_all), None)
        reached = candidates[:0]
        if group is None:  # only now does it matter how far the target sees
            reached = explainer.graph.within_hops(candidates, explainer.num_layers)
            group = next((each for each in roomy if each.welcomes(reached)), None)
        if group is None:
            group = _Group.empty(explainer)
            found.append(group)
            if len(found) > _OPEN:
                found[-_OPEN - 1].forget()
        group.add(place, candidates, reached)
    return [group.places for group in found]


def _candidates(explainer: PGMExplainer, target: Any) -> IntArray:
    try:
        return explainer.candidates(target)
    except PGMExplainerError:  # it will fail by itself, and say why
        return np.empty(0, dtype=np.int64)


@dataclass
class _Group:
    """Some targets, and the nodes that the model is asked about for them, as they grow.

    Attributes:
        seen: which nodes those are.
        size: how many.
        needed: candidates of all targets together.
    """

    seen: NDArray[np.bool_]
    size: int
    needed: int = 0
    places: list[int] = field(default_factory=list)

    @classmethod
    def empty(cls, explainer: PGMExplainer) -> _Group:
        nodes = explainer.graph.num_nodes
        # Where the whole graph is asked about, every target shares all of it.
        size = 0 if explainer.predictor.accepts_subgraph else nodes
        return cls(np.zeros(nodes, dtype=bool), size)

    @property
    def is_nearly_all(self) -> bool:
        """Say whether so much of the graph is needed that more of it makes no difference."""
        return self.size > _NEARLY_ALL * len(self.seen)

    def has_room_for(self, candidates: IntArray) -> bool:
        return self.needed + len(candidates) <= _CANDIDATES_AT_ONCE

    def welcomes(self, reached: IntArray) -> bool:
        """Say whether a target shares enough of what it needs, or needs little."""
        new = np.count_nonzero(~self.seen[reached])
        return bool(self.size + new <= _SMALL or new <= (1 - _SHARED) * len(reached))

    def add(self, place: int, candidates: IntArray, reached: IntArray) -> None:
        self.places.append(place)
        self.needed += len(candidates)
        self.size += int(np.count_nonzero(~self.seen[reached]))
        self.seen[reached] = True

    def forget(self) -> None:
        """Give the memory back that was for telling who may join."""
        self.seen = self.seen[:0]
