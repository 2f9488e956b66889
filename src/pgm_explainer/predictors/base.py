"""The black box, seen through the smallest window: features in, scores out."""

from __future__ import annotations

from typing import Any, Protocol

from ..arrays import FloatArray, IntArray
from ..graph import Subgraph

__all__ = ["Predictor"]


class Predictor(Protocol):
    """Anything that scores many versions of a graph's features in one call.

    It may also tell ``num_layers``, how far messages travel in it; ``flow``, which way they go
    along an edge (one of :data:`~pgm_explainer.graph.FLOWS`, by default from source to target);
    and that it is ``latency_bound``, so that few large batches suit it better than many small ones.

    Attributes:
        accepts_subgraph: whether it can be asked about a part of the graph. If not, every call is
            about the whole graph, and an explanation costs by the size of the graph.
    """

    @property
    def accepts_subgraph(self) -> bool: ...

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any:
        """Score features ``x [B, n, F]`` of the nodes of ``part``.

        Args:
            x: features, a fresh array that may be written to.
            part: the nodes and edges in question; not to be written to.
            pairs: in an edge task, the pairs of nodes ``[2, P]`` in question, in the numbering of
                ``part``; else not given.

        Returns:
            ``[B, n, C]`` for a node task, ``[B, C]`` for a graph task, ``[B, P, C]`` for an edge
            task: logits, probabilities, log-probabilities or values, as an array or a tensor.
        """
        ...
