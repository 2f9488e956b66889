"""Raw scores as probabilities: logits, probabilities or log-probabilities, detected or stated."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..arrays import FloatArray
from ..errors import InputError

__all__ = ["SCORE_KINDS", "detect_score_kind", "to_probabilities"]

SCORE_KINDS = ("auto", "logits", "probabilities", "log_probabilities")
_TOLERANCE = 1e-3


def detect_score_kind(scores: FloatArray) -> str:
    """Say what scores ``[..., C]`` look like.

    Examples:
        >>> detect_score_kind(np.array([[0.25, 0.75]]))
        'probabilities'
        >>> detect_score_kind(np.array([[-1.0, 3.0]]))
        'logits'
    """
    single = scores.shape[-1] == 1
    within_unit = scores.min() >= 0 and scores.max() <= 1 + _TOLERANCE
    if within_unit and (single or _adds_up(scores)):
        return "probabilities"
    if not single and scores.max() <= _TOLERANCE and _adds_up(np.exp(scores)):
        return "log_probabilities"
    return "logits"


def _adds_up(probabilities: FloatArray) -> bool:
    return np.allclose(probabilities.sum(axis=-1), 1, atol=_TOLERANCE)


def to_probabilities(scores: FloatArray, kind: str) -> FloatArray:
    """Turn scores ``[..., C]`` of a known kind into probabilities.

    A single score is taken as that of the second of two classes.
    """
    if kind not in SCORE_KINDS[1:]:
        raise InputError(
            f"unknown kind of scores {kind!r}; choose one of: {', '.join(SCORE_KINDS)}"
        )
    if scores.shape[-1] == 1:
        second = special.expit(scores) if kind == "logits" else scores
        second = np.exp(scores) if kind == "log_probabilities" else second
        return np.concatenate((1 - second, second), axis=-1)
    if kind == "logits":
        return np.asarray(special.softmax(scores, axis=-1))
    return np.exp(scores) if kind == "log_probabilities" else scores
