"""From raw scores (logits, probabilities or log-probabilities) to the explained class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ..arrays import FloatArray, IntArray, as_array
from ..errors import InputError, ModelError
from ..variables import VariableId

__all__ = ["SCORE_KINDS", "ScoreReader", "detect_score_kind", "explained_classes"]

SCORE_KINDS = ("auto", "logits", "probabilities", "log_probabilities", "values")
"""``values`` are the outputs of a regression, which are not converted."""

_TOLERANCE = 1e-3


def detect_score_kind(scores: FloatArray) -> str:
    """Return the most plausible kind of scores ``[..., C]``; never ``values``.

    Examples:
        >>> detect_score_kind(np.array([[0.25, 0.75]]))
        'probabilities'
        >>> detect_score_kind(np.array([[-1.0, 3.0]]))
        'logits'
    """
    single = scores.shape[-1] == 1
    if _within_unit(scores) and (single or _adds_up(scores)):
        return "probabilities"
    if not single and scores.max() <= _TOLERANCE and _adds_up(np.exp(scores)):
        return "log_probabilities"
    return "logits"


@dataclass(frozen=True)
class ScoreReader:
    """Converts scores to probabilities.

    Attributes:
        kind: the kind of scores; never ``auto``.
        output: the explained column, if only one of several independent outputs is explained. It is
            treated as a binary output.
    """

    kind: str
    output: int | None = None

    @classmethod
    def of(cls, kind: str, output: int | None, scores: FloatArray) -> ScoreReader:
        """Return a reader, with ``auto`` detected from scores ``[..., C]``."""
        if kind == "auto":
            kind = detect_score_kind(cls(kind, output)._explained(scores))
        return cls(kind, output)

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return probabilities ``[..., C]``, or unchanged values.

        A single score is taken as the score of the second of two classes.

        Raises:
            ModelError: the scores are not of the stated kind.
        """
        scores = self._explained(scores)
        if self.kind == "values":
            return scores
        if self.kind == "log_probabilities":
            scores = np.exp(scores)
        if scores.shape[-1] == 1:
            second = special.expit(scores) if self.kind == "logits" else scores
            scores = np.concatenate((1 - second, second), axis=-1)
        elif self.kind == "logits":
            return _softmax(scores)
        self._check(scores)
        return scores

    def _explained(self, scores: FloatArray) -> FloatArray:
        """Return the explained columns."""
        if self.output is None:
            return scores
        if self.output >= scores.shape[-1]:
            raise InputError(
                f"output={self.output} is out of range: the model returns {scores.shape[-1]} "
                f"scores, 0 to {scores.shape[-1] - 1}"
            )
        return scores[..., self.output : self.output + 1]

    def _check(self, probabilities: FloatArray) -> None:
        if not (_within_unit(probabilities) and _adds_up(probabilities)):
            stated = self.kind.replace("_", "-")
            raise ModelError(
                f"the model's scores are not {stated} (values from {probabilities.min():.4g} to "
                f"{probabilities.max():.4g}, adding up to "
                f"{probabilities.sum(axis=-1).flat[0]:.4g}); set the kind of scores, for example "
                f"scores='logits'"
            )


def _softmax(scores: FloatArray) -> FloatArray:
    """Return the softmax over the last axis, computed with that axis first, which is faster."""
    powers = np.array(np.moveaxis(scores, -1, 0), order="C")
    powers -= powers.max(axis=0)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=0)
    return np.moveaxis(powers, 0, -1)


def _within_unit(scores: FloatArray) -> bool:
    return bool(scores.min() >= -_TOLERANCE and scores.max() <= 1 + _TOLERANCE)


def _adds_up(probabilities: FloatArray) -> bool:
    return np.allclose(probabilities.sum(axis=-1), 1, atol=_TOLERANCE)


def explained_classes(
    chosen: Any, names: Sequence[VariableId], before: FloatArray, num_nodes: int | None
) -> IntArray:
    """Return the explained class of each prediction: the predicted one, or the chosen one.

    Args:
        chosen: a class; in a node task, also one for each node; None for the predicted class.
        names: the variables of the predictions.
        before: their probabilities (or values) ``[predictions, C]`` on the unperturbed features.
        num_nodes: the number of nodes in a node task, else None.

    Raises:
        InputError: the class does not exist, or there is not one for each node.
    """
    if chosen is None:
        return before.argmax(axis=-1)
    classes = as_array(chosen, "explained_class")
    if classes.ndim == 0:
        classes = np.full(len(names), classes)
    elif classes.shape == (num_nodes,):
        classes = classes[np.array(names, dtype=np.int64).ravel()]
    else:
        each = "node" if num_nodes is None else f"of the {num_nodes} nodes"
        raise InputError(
            f"explained_class must be one class, or in a node task one for each {each}; its shape "
            f"is {classes.shape}"
        )
    if classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= before.shape[1]:
        raise InputError(
            f"explained_class must be from 0 to {before.shape[1] - 1}, "
            f"not {np.asarray(chosen).tolist()}"
        )
    return classes.astype(np.int64)
