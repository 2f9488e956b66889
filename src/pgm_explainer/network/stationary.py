"""The distribution of a dependency network: the stationary one of an ordered Gibbs sampler.

A sweep redraws each variable in turn, given the others. On the whole joint distribution a sweep is
a linear map, and the stationary distribution is its fixed point.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["stationary_distribution", "sweep"]

Values = NDArray[np.float64]
_PRECISION = 1e-13
_FIRST_SWEEPS = 60
_MOST_SWEEPS = 5000
_RESTART, _CYCLES = 60, 20


def sweep(joint: Values, conditionals: Sequence[Values]) -> Values:
    """Redraw each variable once, in order.

    Args:
        joint: a distribution with an axis for each variable.
        conditionals: the distribution of each variable, in the same axes; those of variables it
            does not depend on have length 1.
    """
    for axis, table in enumerate(conditionals):
        joint = joint.sum(axis=axis, keepdims=True) * table
    return joint


def stationary_distribution(start: Values, conditionals: Sequence[Values]) -> tuple[Values, float]:
    """Return the stationary distribution, and how much one more sweep would change it.

    If there are several, because some conditionals are deterministic, it is the one that sweeps
    from ``start`` lead to.

    Returns:
        The distribution, and the sum of absolute changes by one more sweep.
    """
    joint, change = _iterate(start, conditionals, _FIRST_SWEEPS)
    if change > _PRECISION:
        joint = _solve(joint, conditionals)
        joint, change = _iterate(joint, conditionals, 2)
    if change > 100 * _PRECISION:
        joint, change = _iterate(joint, conditionals, _MOST_SWEEPS)
    return joint, change


def _iterate(joint: Values, conditionals: Sequence[Values], most: int) -> tuple[Values, float]:
    change = np.inf
    for _ in range(most):
        after = sweep(joint, conditionals)
        change = float(abs(after - joint).sum())
        joint = after
        if change <= _PRECISION:
            break
    if change > _PRECISION:  # averaged, as a slow sweep may oscillate
        joint = (joint + sweep(joint, conditionals)) / 2
    return joint / joint.sum(), change


def _solve(start: Values, conditionals: Sequence[Values]) -> Values:
    """Solve for the fixed point of a sweep that mixes slowly.

    For any distribution u, the solution of p - sweep(p) + u sum(p) = u sums to 1 and is a fixed
    point.
    """
    weights = start.ravel()

    def apply(vector: Values) -> Values:
        after = sweep(vector.reshape(start.shape), conditionals).ravel()
        return np.asarray(vector - after + weights * vector.sum())

    size = (start.size, start.size)
    operator = scipy.sparse.linalg.LinearOperator(size, matvec=apply, dtype=np.float64)
    found, _ = scipy.sparse.linalg.gmres(
        operator, weights, x0=weights, rtol=1e-14, atol=0.0, restart=_RESTART, maxiter=_CYCLES
    )
    found = np.maximum(found, 0.0)
    total = found.sum()
    usable = np.isfinite(total) and total > 0
    return np.asarray(found / total).reshape(start.shape) if usable else start
