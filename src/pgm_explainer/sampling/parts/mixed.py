"""Parts of several kinds together, such as nodes and edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...arrays import IntArray
from ...choices import Description
from ...errors import InputError
from ...graph import Graph, Subgraph
from ...limits import brief
from ...variables import VariableId
from ..population import Population
from .base import Batch, PartKind, Parts

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["Mixed"]


@dataclass(frozen=True)
class Mixed:
    """Parts of several kinds; each part is perturbed independently of all others."""

    kinds: tuple[PartKind, ...]

    def __post_init__(self) -> None:
        names = [kind.name for kind in self.kinds]
        different = {(kind.name, getattr(kind, "of", None)) for kind in self.kinds}
        if len(names) < 2 or len(different) < len(names):
            raise InputError(f"a mix of parts needs two or more different kinds, not {names}")
        groups = [name for kind in self.kinds for name, _ in getattr(kind, "members", ())]
        if len(set(groups)) < len(groups):
            name, _ = Counter(groups).most_common(1)[0]
            raise InputError(f"two groups are called {brief(name)}; names must be unique")

    @property
    def name(self) -> str:
        return " and ".join(kind.name for kind in self.kinds)

    def describe(self) -> Description:
        """Return the descriptions of all kinds."""
        kinds = tuple(kind.describe() for kind in self.kinds)
        if any(kind.own for kind in kinds):
            return Description(self.name, own=True)
        return Description("mixed", {"kinds": kinds})

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> Parts:
        bound = []
        for kind in sorted(self.kinds, key=lambda each: each.name != "nodes"):
            bound.append(kind.bind(graph, population, config, first))
            first = max(first, bound[-1].stop)
        return MixedParts(bound)


class MixedParts(Parts):
    """The parts of several kinds, numbered one kind after the other; nodes come first."""

    def __init__(self, kinds: Sequence[Parts]) -> None:
        self._kinds = kinds
        self.first = kinds[0].first
        self.count = kinds[-1].stop - self.first
        self.changes_features = any(kind.changes_features for kind in kinds)
        self.changes_edges = any(kind.changes_edges for kind in kinds)
        self.changes_edge_inputs = any(kind.changes_edge_inputs for kind in kinds)
        self.needs_whole_graph = any(kind.needs_whole_graph for kind in kinds)
        self.members = {part: each for kind in kinds for part, each in kind.members.items()}

    def labels(self, parts: IntArray) -> list[VariableId]:
        return [label for kind, mine in self._split(parts) for label in kind.labels(mine)]

    def reaching(self, nodes: IntArray) -> IntArray:
        return self._join(lambda kind: kind.reaching(nodes))

    def within(self, subgraph: Subgraph) -> IntArray:
        return self._join(lambda kind: kind.within(subgraph))

    def nodes_in(self, parts: IntArray) -> IntArray:
        return self._join(lambda kind: kind.nodes_in(parts))

    def own(self, ends: IntArray) -> IntArray:
        return self._join(lambda kind: kind.own(ends))

    def candidates(self, nodes: IntArray, ends: IntArray) -> IntArray:
        return self._join(lambda kind: kind.candidates(nodes, ends))

    def perturb(
        self,
        batch: Batch,
        subgraph: Subgraph,
        samples: IntArray,
        parts: IntArray,
        perturbed: NDArray[np.bool_],
    ) -> Batch:
        for kind in self._kinds:
            start, stop = np.searchsorted(parts, (kind.first, kind.stop))
            mine = slice(int(start), int(stop))
            batch = kind.perturb(batch, subgraph, samples, parts[mine], perturbed[:, mine])
        return batch

    def outermost(self, parts: IntArray, nodes: IntArray) -> IntArray:
        return np.concatenate([kind.outermost(mine, nodes) for kind, mine in self._split(parts)])

    def changed_share(self, parts: IntArray) -> NDArray[np.float64]:
        return np.concatenate([kind.changed_share(mine) for kind, mine in self._split(parts)])

    def check(self) -> None:
        for kind in self._kinds:
            kind.check()

    def notes(self, parts: IntArray) -> Sequence[str]:
        return [note for kind, mine in self._split(parts) for note in kind.notes(mine)]

    def _split(self, parts: IntArray) -> list[tuple[Parts, IntArray]]:
        """Return the parts of each kind; ``parts`` is ascending."""
        return [
            (kind, parts[slice(*np.searchsorted(parts, (kind.first, kind.stop)))])
            for kind in self._kinds
        ]

    def _join(self, find: Callable[[Parts], IntArray]) -> IntArray:
        return np.concatenate([find(kind) for kind in self._kinds])
