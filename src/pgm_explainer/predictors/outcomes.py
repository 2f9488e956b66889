"""Which of a model's answers an explanation is about: those of nodes, of pairs, or the one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ..arrays import FloatArray, IntArray
from ..graph import Subgraph
from .base import Predictor

__all__ = ["GraphOutcome", "NodeOutcomes", "Outcomes", "PairOutcomes"]


class Outcomes(Protocol):
    """The predictions that are recorded, and how to get them."""

    @property
    def belong_to_nodes(self) -> bool:
        """Whether each prediction is that of a recorded node, and so part of its variable."""
        ...

    def ask(self, predictor: Predictor, x: FloatArray, part: Subgraph) -> Any:
        """Ask the model about features ``x [B, n, F]``."""
        ...

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        """Return the shape that the answer must have, but for the scores of one prediction."""
        ...

    def take(self, scores: FloatArray) -> FloatArray:
        """Return the recorded ones of the answered scores, as ``[B, predictions, C]``."""
        ...


@dataclass(frozen=True)
class NodeOutcomes:
    """The predictions of some nodes, given by their positions within the part."""

    rows: IntArray
    belong_to_nodes: bool = True

    def ask(self, predictor: Predictor, x: FloatArray, part: Subgraph) -> Any:
        return predictor(x, part)

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples, nodes)

    def take(self, scores: FloatArray) -> FloatArray:
        if len(self.rows) == scores.shape[1]:  # all of them: no copy of what may be large
            return scores
        return scores[:, self.rows]


@dataclass(frozen=True)
class GraphOutcome:
    """The one prediction of the whole graph."""

    belong_to_nodes: bool = False

    def ask(self, predictor: Predictor, x: FloatArray, part: Subgraph) -> Any:
        return predictor(x, part)

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples,)

    def take(self, scores: FloatArray) -> FloatArray:
        return scores[:, None]


@dataclass(frozen=True)
class PairOutcomes:
    """The predictions of some pairs of nodes ``[2, P]``, in the part's own numbering."""

    pairs: IntArray
    belong_to_nodes: bool = False

    def ask(self, predictor: Predictor, x: FloatArray, part: Subgraph) -> Any:
        return predictor(x, part, self.pairs)

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples, self.pairs.shape[1])

    def take(self, scores: FloatArray) -> FloatArray:
        return scores
