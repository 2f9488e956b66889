"""The black box, seen through the smallest window: features in, scores out."""

from __future__ import annotations

from typing import Any, Protocol

from ..arrays import FloatArray
from ..graph import Subgraph

__all__ = ["Predictor"]


class Predictor(Protocol):
    """Anything that scores many versions of a graph's features in one call.

    Attributes:
        accepts_subgraph: whether it can be asked about a part of the graph. If not, every call is
            about the whole graph, and an explanation costs by the size of the graph.
    """

    @property
    def accepts_subgraph(self) -> bool: ...

    def __call__(self, x: FloatArray, part: Subgraph) -> Any:
        """Score features ``x [B, n, F]`` of the nodes of ``part``.

        Returns:
            ``[B, n, C]`` for a node task, ``[B, C]`` for a graph task: logits, probabilities or
            log-probabilities, as an array or a tensor.
        """
        ...
