"""Models of sequences, whose features have a row for each time step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..graph import SampledEdges, Subgraph
from .base import Predictor

__all__ = ["SequencePredictor"]


class SequencePredictor(Predictor):
    """A predictor that is called with features ``[B, n, T * F]``, for a model of ``[B, n, T, F]``.

    Args:
        predictor: the model, which takes features with time steps.
        steps: T, the number of time steps.
    """

    def __init__(self, predictor: Predictor, steps: int) -> None:
        self.predictor, self.steps = predictor, steps
        for name in ("accepts_subgraph", "latency_bound", "batches_graphs", "num_layers", "flow"):
            setattr(self, name, getattr(predictor, name))
        self.module, self.inputs = predictor.module, predictor.inputs

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any:
        further = () if pairs is None else (pairs,)
        return self.predictor(self.shaped(x), part, *further)

    def on_edges(
        self, x: FloatArray, part: Subgraph, edges: SampledEdges, pairs: IntArray | None = None
    ) -> Any:
        further = () if pairs is None else (pairs,)
        return self.predictor.on_edges(self.shaped(x), part, edges, *further)

    @property
    def accepts_edges(self) -> bool:
        return self.predictor.accepts_edges

    def has_edge_inputs(self, whole: Subgraph) -> bool:
        return self.predictor.has_edge_inputs(whole)

    def has_prediction(self, nodes: IntArray) -> NDArray[np.bool_]:
        return self.predictor.has_prediction(nodes)

    def shaped(self, x: FloatArray) -> FloatArray:
        return x.reshape(*x.shape[:2], self.steps, -1)
