"""Significance of p-values, with corrections for multiple testing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import check_fraction, check_name

__all__ = ["CORRECTIONS", "SignificanceConfig", "benjamini_hochberg"]

CORRECTIONS = ("none", "benjamini_hochberg")


def benjamini_hochberg(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return adjusted log p-values that control the false discovery rate."""
    order = np.argsort(log_p, kind="stable")[::-1]
    steps = np.log(len(log_p) / np.arange(len(log_p), 0, -1))
    adjusted = np.empty_like(log_p)
    adjusted[order] = np.minimum.accumulate(log_p[order] + steps)
    return np.minimum(adjusted, 0.0)


@dataclass(frozen=True, kw_only=True)
class SignificanceConfig:
    """Significance level and correction for multiple testing.

    Attributes:
        significance: the threshold on p-values.
        correction: for multiple testing, ``benjamini_hochberg`` or ``none``.

    Raises:
        InputError: invalid value.

    Examples:
        >>> log_p = np.log([0.01, 0.04, 0.5])
        >>> SignificanceConfig(correction="none").passed(log_p).tolist()
        [True, True, False]
        >>> SignificanceConfig(correction="benjamini_hochberg").passed(log_p).tolist()
        [True, False, False]
    """

    significance: float = 0.05
    correction: str = "benjamini_hochberg"

    def __post_init__(self) -> None:
        check_fraction(self.significance, "significance")
        correction = check_name(self.correction, "correction", CORRECTIONS)
        object.__setattr__(self, "correction", correction)
        object.__setattr__(self, "significance", float(self.significance))

    def passed(self, log_p: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which p-values are significant, after the correction."""
        adjusted = log_p if self.correction == "none" else benjamini_hochberg(log_p)
        return np.asarray(adjusted < np.log(self.significance))
