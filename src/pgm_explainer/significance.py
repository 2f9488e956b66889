"""Which of many p-values are significant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arrays import resolve
from .errors import InputError

__all__ = ["CORRECTIONS", "significant"]


def _uncorrected(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    return log_p


def _benjamini_hochberg(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjusted log p-values that bound the share of false discoveries."""
    order = np.argsort(log_p, kind="stable")[::-1]
    steps = np.log(len(log_p) / np.arange(len(log_p), 0, -1))
    adjusted = np.empty_like(log_p)
    adjusted[order] = np.minimum.accumulate(log_p[order] + steps)
    return np.minimum(adjusted, 0.0)


CORRECTIONS = {"none": _uncorrected, "benjamini_hochberg": _benjamini_hochberg}


def significant(
    log_p: NDArray[np.float64], level: float, correction: str = "none"
) -> NDArray[np.bool_]:
    """Return which p-values are below the level, after a correction for their number.

    Examples:
        >>> p = np.array([0.01, 0.04, 0.5])
        >>> significant(np.log(p), 0.05).tolist()
        [True, True, False]
        >>> significant(np.log(p), 0.05, "benjamini_hochberg").tolist()
        [True, False, False]
    """
    correct = resolve(correction, "correction", CORRECTIONS)
    if correct is None:
        raise InputError(f"correction must be a name: {', '.join(CORRECTIONS)}")
    return np.asarray(correct(log_p) < np.log(level))
