"""Predictors that pass changed features on to another predictor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..errors import ModelUnavailableError
from ..graph import SampledEdges, Subgraph
from .base import Predictor

__all__ = ["IntegerPredictor", "SequencePredictor", "WrappedPredictor"]


class WrappedPredictor(Predictor):
    """A predictor with the capabilities of another one."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        for name in ("accepts_subgraph", "latency_bound", "batches_graphs", "num_layers", "flow"):
            setattr(self, name, getattr(predictor, name))
        self.module, self.inputs = predictor.module, predictor.inputs

    @property
    def works_elsewhere(self) -> bool:  # type: ignore[override]
        return self.predictor.works_elsewhere

    @property
    def accepts_edges(self) -> bool:
        return self.predictor.accepts_edges

    def has_edge_inputs(self, whole: Subgraph) -> bool:
        return self.predictor.has_edge_inputs(whole)

    def has_prediction(self, nodes: IntArray) -> NDArray[np.bool_]:
        return self.predictor.has_prediction(nodes)


class SequencePredictor(WrappedPredictor):
    """A predictor that is called with features ``[B, n, T * F]``, for a model of ``[B, n, T, F]``.

    Args:
        predictor: the model, which takes features with time steps.
        steps: T, the number of time steps.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.predictors import SequencePredictor, as_predictor
        >>> predictor = SequencePredictor(as_predictor(lambda x: x[:, :, -1]), steps=2)
        >>> np.asarray(predictor(np.array([[[1.0, 2, 3, 4]]]), None)).tolist()
        [[[3.0, 4.0]]]
    """

    def __init__(self, predictor: Predictor, steps: int) -> None:
        super().__init__(predictor)
        self.steps = steps

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any:
        further = () if pairs is None else (pairs,)
        return self.predictor(self.shaped(x), part, *further)

    def on_edges(
        self, x: FloatArray, part: Subgraph, edges: SampledEdges, pairs: IntArray | None = None
    ) -> Any:
        further = () if pairs is None else (pairs,)
        return self.predictor.on_edges(self.shaped(x), part, edges, *further)

    def shaped(self, x: FloatArray) -> FloatArray:
        return x.reshape(*x.shape[:2], self.steps, -1)


class IntegerPredictor(WrappedPredictor):
    """A predictor for integer features, such as the indices of an embedding.

    The model is called with integers. If it fails on them, as a linear layer does, but not on the
    same features as floats, it is called with floats from then on.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.predictors import IntegerPredictor, as_predictor
        >>> table = np.array([[0.0, 1], [2, 0]])  # an embedding
        >>> predictor = IntegerPredictor(as_predictor(lambda x: table[x[..., 0]]))
        >>> np.asarray(predictor(np.array([[[1], [0]]]), None)).tolist()
        [[[2.0, 0.0], [0.0, 1.0]]]
    """

    def __init__(self, predictor: Predictor) -> None:
        super().__init__(predictor)
        self._takes_integers: bool | None = None

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any:
        further = () if pairs is None else (pairs,)
        return self._answer(lambda features: self.predictor(features, part, *further), x)

    def on_edges(
        self, x: FloatArray, part: Subgraph, edges: SampledEdges, pairs: IntArray | None = None
    ) -> Any:
        further = () if pairs is None else (pairs,)
        return self._answer(lambda some: self.predictor.on_edges(some, part, edges, *further), x)

    def shaped(self, x: FloatArray) -> FloatArray:
        return self.predictor.shaped(x)

    def _answer(self, call: Callable[[FloatArray], Any], x: FloatArray) -> Any:
        if self._takes_integers is not None:
            return call(x if self._takes_integers else x.astype(np.float32))
        try:
            answer = call(x.copy())  # a copy, because the model may modify it and fail
        except ModelUnavailableError:
            raise
        except Exception as error:  # a model may raise anything
            try:
                answer = call(x.astype(np.float32))
            except Exception:
                raise error from None
            self._takes_integers = False
        else:
            self._takes_integers = True
        return answer
