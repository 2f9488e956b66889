"""Significance of p-values, with corrections for multiple testing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import check_fraction, check_name, resolve
from .errors import InputError
from .limits import brief

__all__ = ["CORRECTIONS", "SignificanceConfig", "significant"]


def _uncorrected(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    return log_p


def _benjamini_hochberg(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return adjusted log p-values that control the false discovery rate."""
    order = np.argsort(log_p, kind="stable")[::-1]
    steps = np.log(len(log_p) / np.arange(len(log_p), 0, -1))
    adjusted = np.empty_like(log_p)
    adjusted[order] = np.minimum.accumulate(log_p[order] + steps)
    return np.minimum(adjusted, 0.0)


CORRECTIONS = {"none": _uncorrected, "benjamini_hochberg": _benjamini_hochberg}


def significant(
    log_p: NDArray[np.float64], level: float, correction: str = "none"
) -> NDArray[np.bool_]:
    """Return which p-values are below the level, after a correction for multiple testing.

    Examples:
        >>> p = np.array([0.01, 0.04, 0.5])
        >>> significant(np.log(p), 0.05).tolist()
        [True, True, False]
        >>> significant(np.log(p), 0.05, "benjamini_hochberg").tolist()
        [True, False, False]
    """
    correct = resolve(correction, "correction", CORRECTIONS)
    if correct is None:
        raise InputError(
            f"correction must be one of {', '.join(CORRECTIONS)}, not {brief(correction)}"
        )
    return np.asarray(correct(log_p) < np.log(level))


@dataclass(frozen=True, kw_only=True)
class SignificanceConfig:
    """Significance level and correction for multiple testing.

    Attributes:
        significance: the threshold on p-values.
        correction: for multiple testing, ``benjamini_hochberg`` or ``none``.

    Raises:
        InputError: invalid value.
    """

    significance: float = 0.05
    correction: str = "benjamini_hochberg"

    def __post_init__(self) -> None:
        check_fraction(self.significance, "significance")
        check_name(self.correction, "correction", CORRECTIONS)
        object.__setattr__(self, "significance", float(self.significance))

    def passed(self, log_p: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which p-values are significant."""
        return significant(log_p, self.significance, self.correction)
