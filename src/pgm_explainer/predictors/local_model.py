"""The model at one place: what it says of the predictions in question, checked before believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, as_array
from ..errors import InputError, ModelError, PGMExplainerError
from ..graph import Subgraph
from .base import Predictor
from .outcomes import Outcomes
from .scores import ScoreReader

__all__ = ["LocalModel"]

_SAME_WITHIN = 1e-3
"""Two answers to the same question may differ by rounding (float16 on some devices), not more."""

_FAR_OUT = 1000.0


@dataclass(frozen=True)
class LocalModel:
    """A black box bound to a part of the graph and to the predictions that matter.

    Attributes:
        outcomes: which of its answers are recorded.
        reader: what its scores are.
        scores: its raw scores ``[predictions, C]`` on the unperturbed features.
        before: probabilities (or values) ``[predictions, C]`` made of them.
    """

    predictor: Predictor
    part: Subgraph
    outcomes: Outcomes
    reader: ScoreReader
    scores: FloatArray
    before: FloatArray

    @classmethod
    def observe(
        cls,
        predictor: Predictor,
        part: Subgraph,
        x: FloatArray,
        outcomes: Outcomes,
        kind: str = "auto",
        output: int | None = None,
    ) -> LocalModel:
        """Ask about the unperturbed features ``x [n, F]`` and check that the answer can be trusted.

        Raises:
            ModelError: wrong shape, NaN or infinity, another answer when asked again, or another
                answer in the company of other features.
        """
        answer = _ask(predictor, part, np.array(x[None]), outcomes)
        # What scores are shows best in all that were answered, not only in those recorded.
        if kind == "auto" and answer.shape[-1] == 1:
            answer = np.concatenate((answer, _stretched(predictor, part, x, outcomes)))
        reader = ScoreReader.of(kind, output, answer)
        once = _finite(outcomes.take(answer))[0]
        stranger = np.broadcast_to(x[:1], x.shape)  # mixing two equal samples would not show
        again = outcomes.take(_ask(predictor, part, np.stack((x, x, stranger)), outcomes))
        _check_repeatable(once, _finite(again[:2]))
        return cls(predictor, part, outcomes, reader, np.array(once), np.array(reader(once)))

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return probabilities (or values) ``[B, predictions, C]`` for features ``x [B, n, F]``."""
        answer = _ask(self.predictor, self.part, x, self.outcomes)
        after = self.reader(_finite(self.outcomes.take(answer)))
        if after.shape[-1] != self.before.shape[-1]:
            raise ModelError(
                f"the model answered with {after.shape[-1]} classes, after "
                f"{self.before.shape[-1]} the first time"
            )
        return after

    def holds_on(self, wider: Subgraph, x: FloatArray, outcomes: Outcomes) -> bool:
        """Say whether a wider part of the graph, with features ``x``, gives the same predictions.

        If not, the model sees beyond its own part, and what it says there is not what it says of
        the whole graph.
        """
        if (len(wider.nodes), len(wider.edges)) == (len(self.part.nodes), len(self.part.edges)):
            return True
        answer = _ask(self.predictor, wider, np.array(x[None]), outcomes)
        scores = _finite(outcomes.take(answer))[0]
        # The raw scores: probabilities of a model that is sure would hide a difference.
        return bool(abs(scores - self.scores).max() <= _SAME_WITHIN * max(1.0, abs(scores).max()))


def _ask(predictor: Predictor, part: Subgraph, x: FloatArray, outcomes: Outcomes) -> FloatArray:
    samples, nodes = x.shape[:2]
    shape = list(x.shape)
    try:
        scores = as_array(outcomes.ask(predictor, x, part), "the model's answer")
    except InputError as error:
        raise ModelError(str(error)) from error
    except PGMExplainerError:
        raise
    except Exception as error:  # whatever a model raises, its user should hear where
        raise ModelError(
            f"the model failed when asked about features of shape {shape}: "
            f"{type(error).__name__}: {error}{_hint(error)}"
        ) from error
    wanted = outcomes.leading_shape(samples, nodes)
    if scores.ndim != len(wanted) + 1 or scores.shape[:-1] != wanted or scores.shape[-1] == 0:
        expected = ", ".join(map(str, (*wanted, "classes")))
        raise ModelError(
            f"the model answered with shape {list(scores.shape)} to features of shape {shape}; "
            f"this task needs [{expected}]; {_guess(scores.shape, wanted)}"
        )
    return scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float32)


def _guess(answered: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """What a wrong shape may come from."""
    one_row = len(wanted) == 2 and len(answered) == 2 and answered[0] == wanted[0]
    if one_row and answered[1] != wanted[1]:  # else it may be one score for each prediction
        return "one row for a whole graph is for task='graph'"
    return "is it a model of the right task, and of one graph?"


def _hint(error: Exception) -> str:
    if isinstance(error, TypeError) and "Tensor" in str(error):
        return "; a function is given NumPy arrays: pass the module itself, or convert them"
    return ""


def _stretched(
    predictor: Predictor, part: Subgraph, x: FloatArray, outcomes: Outcomes
) -> FloatArray:
    """Answers to features far out, where one score between 0 and 1 shows if it is a logit.

    A model may well refuse such features; then there is nothing to see.
    """
    try:
        answer = _ask(predictor, part, np.stack((_FAR_OUT * x, -_FAR_OUT * x)), outcomes)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return np.empty((0, *outcomes.leading_shape(0, len(x))[1:], 1))
    return np.where(np.isfinite(answer), answer, 0.5)


def _finite(scores: FloatArray) -> FloatArray:
    if not np.isfinite(scores).all():
        bad = scores[~np.isfinite(scores)].flat[0]
        raise ModelError(f"the model answered with {bad}; its scores must be finite numbers")
    return scores


def _check_repeatable(once: FloatArray, again: FloatArray) -> None:
    scale = _SAME_WITHIN * max(1.0, float(abs(once).max()))
    if abs(again[0] - again[1]).max() > scale:
        raise ModelError(
            "the model gave two different answers to the same features in one batch: it is random "
            "(dropout still on? call model.eval()) or mixes the samples of a batch"
        )
    if abs(again[0] - once).max() > scale:
        raise ModelError(
            "the model answered differently when asked twice about the same features: it is "
            "random (dropout still on? call model.eval()), or its answer depends on what else is "
            "in the batch (batch norm in training mode?)"
        )
