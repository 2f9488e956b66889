"""Raw scores as probabilities: logits, probabilities or log-probabilities, detected or stated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ..arrays import FloatArray
from ..errors import InputError, ModelError

__all__ = ["SCORE_KINDS", "ScoreReader", "detect_score_kind"]

SCORE_KINDS = ("auto", "logits", "probabilities", "log_probabilities", "values")
"""``values`` are the numbers a regression predicts: nothing is made of them."""

_TOLERANCE = 1e-3


def detect_score_kind(scores: FloatArray) -> str:
    """Say what scores ``[..., C]`` look like; never ``values``, which must be stated.

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
    """Turns scores into probabilities.

    Attributes:
        kind: what the scores are; never ``auto``.
        output: the column that is explained, if only one of several independent ones is (a label
            of many, a value of many). Its score is then that of a yes-or-no question.
    """

    kind: str
    output: int | None = None

    @classmethod
    def of(cls, kind: str, output: int | None, scores: FloatArray) -> ScoreReader:
        """Settle what ``auto`` means by looking at scores ``[..., C]``."""
        if kind == "auto":
            kind = detect_score_kind(cls(kind, output)._explained(scores))
        return cls(kind, output)

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return probabilities ``[..., C]``, or values as they are.

        A single score is taken as that of the second of two classes.

        Raises:
            ModelError: the scores are not what they should be.
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
        """The column that is explained, if it is only one."""
        if self.output is None:
            return scores
        if self.output >= scores.shape[-1]:
            raise InputError(
                f"output {self.output} is out of range: the model gives {scores.shape[-1]} scores"
            )
        return scores[..., self.output : self.output + 1]

    def _check(self, probabilities: FloatArray) -> None:
        if not (_within_unit(probabilities) and _adds_up(probabilities)):
            stated = self.kind.replace("_", "-")
            raise ModelError(
                f"the model's scores were taken for {stated}, but are not (values from "
                f"{probabilities.min():.4g} to {probabilities.max():.4g}, adding up to "
                f"{probabilities.sum(axis=-1).flat[0]:.4g}); state what they are, for example "
                f"scores='logits'"
            )


def _softmax(scores: FloatArray) -> FloatArray:
    """The softmax over the last axis, worked out with that axis first, where it is short work."""
    powers = np.array(np.moveaxis(scores, -1, 0), order="C")
    powers -= powers.max(axis=0)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=0)
    return np.moveaxis(powers, 0, -1)


def _within_unit(scores: FloatArray) -> bool:
    return bool(scores.min() >= -_TOLERANCE and scores.max() <= 1 + _TOLERANCE)


def _adds_up(probabilities: FloatArray) -> bool:
    return np.allclose(probabilities.sum(axis=-1), 1, atol=_TOLERANCE)
