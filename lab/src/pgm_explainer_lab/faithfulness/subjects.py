"""Subjects: a model, its graph, the predictions to explain, and what is known about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..arrays import IntArray
from ..rivals.case import Case

__all__ = ["Subject"]


@dataclass(frozen=True, eq=False)
class Subject:
    """Some predictions of one model on one graph.

    Attributes:
        name: its name in results and files, which identifies the model, the graph and the seed.
        case: the model and its graph.
        targets: the nodes whose predictions are explained; ``(None,)`` for the whole graph.
        kinds: for each target a group that is reported separately, such as the distance of its
            cause; empty if there are no groups.
        causes: for some targets the one node that determines the prediction.
        paths: for some targets the nodes from the cause to the target, both included.
        against: for some targets the nodes that are neutral, and those that are evidence against
            the prediction.
        shared: number of targets per group that all explainers explain and whose true effects are
            measured; None for all. PGM-Explainer explains all targets.
        counts: total number of targets in each group, used as weights of the groups.
        accuracy: the accuracy of the model on held-out data.
    """

    name: str
    case: Case
    targets: Sequence[int | None]
    kinds: Sequence[str] = ()
    causes: Mapping[int, int] = field(default_factory=dict)
    paths: Mapping[int, Sequence[int]] = field(default_factory=dict)
    against: Mapping[int, tuple[IntArray, IntArray]] = field(default_factory=dict)
    shared: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    accuracy: float | None = None

    def kind(self, target: int | None) -> str:
        """Return the group of a target; empty if it has none."""
        return self.kinds[self.targets.index(target)] if self.kinds else ""

    @property
    def judged(self) -> list[int | None]:
        """The targets that all explainers explain: the first ones of each group."""
        if self.shared is None:
            return list(self.targets)
        seen: Counter[str] = Counter()
        chosen = []
        for target in self.targets:
            kind = self.kind(target)
            seen[kind] += 1
            if seen[kind] <= self.shared:
                chosen.append(target)
        return chosen
