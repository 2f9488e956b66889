"""One interface for every explainer that is compared."""

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
    """What an explanation costs: at most so many passes of one graph through the model.

    Attributes:
        shared: whether they are made once for all targets of a graph, not once for each.
    """

    forwards: int
    backwards: int = 0
    shared: bool = False


class Rival(Protocol):
    """An explainer that says how important each node is to a prediction."""

    @property
    def name(self) -> str:
        """What it is called in tables."""
        ...

    @property
    def queries(self) -> Queries:
        """What it asks of the model."""
        ...

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        """Yield for each target, in order, the importance ``[N]`` of every node of the graph.

        Higher is more important. Nodes that are not part of the explanation, such as those that
        are not candidates, have minus infinity. ``[None]`` is the one target of a graph task. The
        answer for a target does not depend on the other targets.
        """
        ...


@runtime_checkable
class SignedRival(Rival, Protocol):
    """An explainer that also says whether a node speaks for or against the prediction."""

    def attributions(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        """Yield for each target, in order, how much each node ``[N]`` raises the prediction.

        A node whose perturbing lowers the predicted class's score has a positive value.
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
