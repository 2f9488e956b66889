"""The model at one place: what it says of the predictions in question, checked before believed."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, as_array
from ..errors import InputError, ModelError, PGMExplainerError
from ..graph import Subgraph
from ..predictors.base import Predictor
from ..predictors.outcomes import Outcomes
from .scores import ScoreReader

__all__ = ["LocalModel", "answers_on", "differing", "scores_on", "settle_kind"]

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
        if kind == "auto":
            kind = settle_kind(answers_on(predictor, part, x, outcomes, output), output)
        reader = ScoreReader(kind, output)
        once = _finite(outcomes.take(_ask(predictor, part, np.array(x[None]), outcomes)))[0]
        stranger = np.broadcast_to(x[:1], x.shape)  # mixing two equal samples would not show
        again = _ask(predictor, part, np.stack((x, x, stranger)), outcomes)[:2]
        _check_repeatable(once, _finite(outcomes.take(again)))
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


def scores_on(
    predictor: Predictor, part: Subgraph, x: FloatArray, outcomes: Outcomes
) -> FloatArray:
    """Return the raw scores ``[B, predictions, C]`` for features ``x [B, n, F]`` of a part.

    ``x`` is the model's to write to.
    """
    return np.array(outcomes.take(_ask(predictor, part, x, outcomes)))


def differing(narrow: FloatArray, wide: FloatArray) -> NDArray[np.bool_]:
    """Say of each prediction whether a wider part of the graph gives other raw scores.

    If so, the model sees beyond the narrow part, and what it says there is not what it says of the
    whole graph. Probabilities of a model that is sure would hide the difference.

    Raises:
        ModelError: the two have different numbers of scores.
    """
    if narrow.shape != wide.shape:
        raise ModelError(
            f"the model gives {narrow.shape[-1]} scores for each prediction when it is asked about "
            f"one part of the graph, and {wide.shape[-1]} about another; the number of classes "
            f"must not depend on the part (a model of the whole graph takes x alone)"
        )
    size = np.maximum(1.0, abs(wide).max(axis=-1))
    with np.errstate(invalid="ignore"):  # what is not finite is refused where it is recorded
        return np.asarray(abs(wide - narrow).max(axis=-1) > _SAME_WITHIN * size)


def answers_on(
    predictor: Predictor, part: Subgraph, x: FloatArray, outcomes: Outcomes, output: int | None
) -> FloatArray:
    """Return rows ``[..., C]`` that show what scores are: all that are answered on a part.

    One score between 0 and 1 shows only far out whether it is a logit.
    """
    answer = _ask(predictor, part, np.array(x[None]), outcomes)
    if output is not None or answer.shape[-1] == 1:
        answer = np.concatenate((answer, _stretched(predictor, part, x, outcomes, answer)))
    rows = answer.reshape(-1, answer.shape[-1])
    return rows[np.isfinite(rows).all(axis=-1)]


def settle_kind(rows: FloatArray, output: int | None) -> str:
    """Say what kind of scores the model answered with."""
    return ScoreReader.of("auto", output, rows).kind if len(rows) else "logits"


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
            f"{type(error).__name__}: {error}{_hint(error, part)}"
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


def _hint(error: Exception, part: Subgraph) -> str:
    """What a failure may come from, and the way out."""
    if isinstance(error, TypeError) and "Tensor" in str(error):
        return "; a function is given NumPy arrays: pass the module itself, or convert them"
    all_nodes = re.search(rf"(?<!\d){part.whole_nodes}(?!\d)", str(error))
    if (
        not part.is_whole
        and all_nodes
        and isinstance(error, (RuntimeError, ValueError, IndexError))
    ):
        return (
            f"; the model seems to hold data for each of the {part.whole_nodes} nodes of the whole "
            f"graph, but was asked about a part of it: pass a function of x alone, which is always "
            f"asked about the whole graph, or a function of x, edge_index and nodes that cuts its "
            f"data to these nodes; a module may take the data by inputs=, which are cut for it"
        )
    return ""


def _stretched(
    predictor: Predictor, part: Subgraph, x: FloatArray, outcomes: Outcomes, near: FloatArray
) -> FloatArray:
    """Answers to features far out; none if the model refuses such features, as it well may."""
    try:
        return _ask(predictor, part, np.stack((_FAR_OUT * x, -_FAR_OUT * x)), outcomes)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return near[:0]


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
