"""Conversion of raw scores (logits, probabilities or log-probabilities) to probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ..arrays import FloatArray
from ..errors import InputError, ModelError

__all__ = ["SCORE_KINDS", "ScoreReader", "detect_score_kind"]

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
