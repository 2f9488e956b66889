"""Which targets of a shard share one set of samples.

The cost of a set of samples depends on the subgraph that its targets need. Targets with overlapping
subgraphs are explained together, so the overlap is computed once. Targets without overlap gain
nothing from this and would only take memory.
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
"""Limit on the candidates of a group, which take about 64 bytes each."""
_SMALL = 2000
"""Subgraphs of at most this many nodes may always join a group."""
_SHARED = 0.1
"""The share of a target's subgraph that must be in the group already for it to join."""
_NEARLY_ALL = 0.5
_OPEN = 8
"""Number of groups that are open for more targets; each stores its subgraph."""


def groups(explainer: PGMExplainer, targets: Sequence[Any]) -> list[list[int]]:
    """Return groups of positions in ``targets`` that share samples and fit into memory."""
    found: list[_Group] = []
    for place, target in enumerate(targets):
        candidates = _candidates(explainer, target)
        with_space = [each for each in found[-_OPEN:] if each.has_space_for(candidates)]
        group = next((each for each in with_space if each.is_nearly_all), None)
        reached = candidates[:0]
        if group is None:  # only these checks need the receptive field, which takes time to compute
            reached = _reached(explainer, target, candidates)
            group = next((each for each in with_space if each.accepts(reached)), None)
        if group is None:
            group = _Group.empty(explainer)
            found.append(group)
            if len(found) > _OPEN:
                found[-_OPEN - 1].close()
        group.add(place, candidates, reached)
    return [group.places for group in found]


def _candidates(explainer: PGMExplainer, target: Any) -> IntArray:
    try:
        return explainer.candidates(target)
    except PGMExplainerError:  # this target will fail in the job, with its own error
        return np.empty(0, dtype=np.int64)


def _reached(explainer: PGMExplainer, target: Any, candidates: IntArray) -> IntArray:
    """Return the nodes that the model is called on for a target."""
    if explainer.parts.stop == explainer.graph.num_nodes:  # parts are nodes
        return explainer.graph.within_hops(candidates, explainer.num_layers)
    return explainer.receptive_field(target) if len(candidates) else candidates


@dataclass
class _Group:
    """A growing group of targets and the nodes of their common subgraph.

    Attributes:
        seen: which nodes are in the subgraph.
        size: the number of these nodes.
        needed: the number of candidates of all targets together.
    """

    seen: NDArray[np.bool_]
    size: int
    needed: int = 0
    places: list[int] = field(default_factory=list)

    @classmethod
    def empty(cls, explainer: PGMExplainer) -> _Group:
        nodes = explainer.graph.num_nodes
        # If the model is called on the whole graph, all targets share it.
        size = 0 if explainer.predictor.accepts_subgraph else nodes
        return cls(np.zeros(nodes, dtype=bool), size)

    @property
    def is_nearly_all(self) -> bool:
        """Return whether the subgraph is close to the whole graph."""
        return self.size > _NEARLY_ALL * len(self.seen)

    def has_space_for(self, candidates: IntArray) -> bool:
        return self.needed + len(candidates) <= _CANDIDATES_AT_ONCE

    def accepts(self, reached: IntArray) -> bool:
        """Return whether a target shares enough of its subgraph, or has a small one."""
        new = np.count_nonzero(~self.seen[reached])
        return bool(self.size + new <= _SMALL or new <= (1 - _SHARED) * len(reached))

    def add(self, place: int, candidates: IntArray, reached: IntArray) -> None:
        self.places.append(place)
        self.needed += len(candidates)
        self.size += int(np.count_nonzero(~self.seen[reached]))
        self.seen[reached] = True

    def close(self) -> None:
        """Release the memory that is needed only while targets may join."""
        self.seen = self.seen[:0]
