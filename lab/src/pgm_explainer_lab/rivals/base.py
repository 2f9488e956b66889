"""The common interface of all compared explainers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ..arrays import FloatArray
from .case import Case

__all__ = ["Queries", "Rival", "SignedRival", "top_nodes"]


@dataclass(frozen=True)
class Queries:
    """The cost of an explanation: the maximum number of passes of one graph through the model.

    Attributes:
        shared: whether the passes are shared by all targets of a graph.
    """

    forwards: int
    backwards: int = 0
    shared: bool = False


class Rival(Protocol):
    """An explainer that returns the importance of each node for a prediction."""

    @property
    def name(self) -> str:
        """Its name in tables."""
        ...

    @property
    def queries(self) -> Queries:
        """The number of passes through the model."""
        ...

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        """Yield for each target, in order, the importance ``[N]`` of every node of the graph.

        Higher is more important. Nodes that are not part of the explanation, such as those that
        are not candidates, have minus infinity. ``[None]`` is the only target of a graph task. The
        result for a target does not depend on the other targets.
        """
        ...


@runtime_checkable
class SignedRival(Rival, Protocol):
    """An explainer that also returns whether a node supports the prediction or opposes it."""

    def attributions(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        """Yield for each target, in order, how much each node ``[N]`` raises the prediction.

        A node has a positive value if perturbing it lowers the score of the predicted class.
        """
        ...


def top_nodes(importance: FloatArray, count: int) -> list[int]:
    """Return the ``count`` most important nodes, most important first; fewer if there are fewer.

    Equal importances are ordered by node number.

    Examples:
        >>> top_nodes(np.array([0.2, -np.inf, 0.9, 0.2]), 2)
        [2, 0]
    """
    order = np.argsort(-importance, kind="stable")[:count]
    return order[importance[order] > -np.inf].tolist()
