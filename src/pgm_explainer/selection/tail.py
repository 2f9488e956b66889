"""The logarithm of chi-square tail probabilities, without underflow."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

__all__ = ["log_chi_square_tail"]

_TINY = 1e-280
_TERMS = 60


def log_chi_square_tail(statistic: ArrayLike, dof: ArrayLike) -> NDArray[np.float64]:
    """Return ``log P(X >= statistic)`` for X chi-square with ``dof`` degrees of freedom.

    The p-values of strong dependences underflow to 0 and could not be ranked; their logarithms can.
    With zero degrees of freedom the result is 0 (p = 1).

    Examples:
        >>> round(float(log_chi_square_tail(5000.0, 9)), 3)
        -2475.068
    """
    x, shape = np.broadcast_arrays(np.asarray(statistic, float) / 2, np.asarray(dof, float) / 2)
    testable = shape > 0
    tail = np.where(testable, special.gammaincc(np.where(testable, shape, 1.0), x), 1.0)
    far = tail < _TINY
    log_tail = np.array(np.log(np.where(far, 1.0, tail)))
    if far.any():
        log_tail[far] = _log_far_tail(shape[far], x[far])
    return log_tail


def _log_far_tail(shape: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Legendre's continued fraction of the upper incomplete gamma function, by Lentz's method."""
    denominator = x + 1 - shape
    ratio = 1 / denominator
    fraction = ratio.copy()
    growth = np.full_like(x, 1 / np.finfo(float).tiny)
    for term in range(1, _TERMS):
        numerator = -term * (term - shape)
        denominator = denominator + 2
        ratio = 1 / (numerator * ratio + denominator)
        growth = denominator + numerator / growth
        fraction *= ratio * growth
    return -x + shape * np.log(x) - special.gammaln(shape) + np.log(fraction)
