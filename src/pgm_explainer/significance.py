"""Which of many p-values are significant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import check_fraction, check_name, resolve
from .errors import InputError

__all__ = ["CORRECTIONS", "SignificanceConfig", "significant"]


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


@dataclass(frozen=True, kw_only=True)
class SignificanceConfig:
    """When a p-value is significant.

    Attributes:
        significance: the level that a p-value must be below.
        correction: for the number of p-values: ``benjamini_hochberg`` or ``none``.

    Raises:
        InputError: a value that cannot be used.
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
