"""Maximum-likelihood estimation of many noisy-or distributions at once.

An active parent keeps the prediction with probability exp(-weight), independently of the others. So
P(kept) = exp(-design @ weights), and the log-likelihood is concave in the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Patterns", "count_patterns", "log_likelihood", "maximise"]

Vector = NDArray[np.float64]

_TINY = 1e-8
_LARGEST = 14.0
"""The largest weight, at which a prediction is kept with a probability of one in a million."""
_STEPS = 60
_CLOSE = 1e-7
_FEW_COLUMNS = 10
_COLUMNS_AT_ONCE = 32
_FEWEST_ROWS = 8
_CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Patterns:
    """The observed patterns of active parents.

    Attributes:
        design: a row of zeros and ones for each pattern, with a one first.
        kept, changed: the number of samples in which the prediction was kept and changed.
    """

    design: Vector
    kept: Vector
    changed: Vector


def count_patterns(bits: NDArray[np.bool_], changed: NDArray[np.bool_]) -> Patterns:
    """Count the patterns of bits ``[n, k]``, separately for kept and changed predictions."""
    columns = bits.shape[1]
    if columns <= _FEW_COLUMNS:
        powers = 1 << np.arange(columns)[::-1]
        which = bits @ powers
        both = np.bincount(2 * which + changed, minlength=2 << columns).reshape(-1, 2)
        seen = np.flatnonzero(both.any(axis=1))
        rows, counts = seen[:, None] & powers > 0, both[seen]
    else:
        which = np.zeros(len(bits), dtype=np.int64)
        first = which[:1]
        for start in range(0, columns, _COLUMNS_AT_ONCE):
            block = bits[:, start : start + _COLUMNS_AT_ONCE]
            powers = 1 << np.arange(block.shape[1])[::-1]
            # Renumbered in each step, so that the codes stay small.
            which = (which << block.shape[1]) + block @ powers
            _, first, which = np.unique(which, return_index=True, return_inverse=True)
        rows = bits[first]
        counts = np.bincount(2 * which + changed, minlength=2 * len(first)).reshape(-1, 2)
    design = np.ones((len(rows), columns + 1))
    design[:, 1:] = rows
    kept_and_changed = counts.astype(np.float64)
    return Patterns(design, kept_and_changed[:, 0], kept_and_changed[:, 1])


def log_likelihood(patterns: Patterns, weights: Vector) -> float:
    """Return the log-likelihood of weights."""
    exponent = np.maximum(patterns.design @ np.minimum(weights, _LARGEST), _TINY)
    changed = patterns.changed @ np.log(-np.expm1(-exponent))
    return float(changed - patterns.kept @ exponent)


def maximise(problems: Sequence[Patterns], smoothing: float) -> list[Vector]:
    """Return the weights of highest likelihood for each problem.

    Args:
        smoothing: added to the counts of *kept* and *changed* of every pattern.
    """
    found: list[Vector] = [np.empty(0)] * len(problems)
    for rows, members in _alike(problems):
        some = [problems[at] for at in members]
        design = np.stack([_padded(each.design, rows) for each in some])
        kept = np.stack([_padded(each.kept + smoothing, rows) for each in some])
        changed = np.stack([_padded(each.changed + smoothing, rows) for each in some])
        for at, weights in zip(members, _newton(design, kept, changed), strict=True):
            found[at] = weights
    return found


def _alike(problems: Sequence[Patterns]) -> Iterator[tuple[int, list[int]]]:
    """Group problems of the same size, with the number of patterns to pad them to.

    The padded size of a problem does not depend on the others, so that its result is bitwise
    independent of the problems that are solved with it.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for at, each in enumerate(problems):
        patterns, terms = each.design.shape
        rows = max(_FEWEST_ROWS, 1 << (patterns - 1).bit_length())
        groups.setdefault((rows, terms), []).append(at)
    for (rows, terms), members in groups.items():
        step = max(1, _CELLS_AT_ONCE // (rows * terms))
        for start in range(0, len(members), step):
            yield rows, members[start : start + step]


def _padded(values: Vector, rows: int) -> Vector:
    """Return the values padded with rows of zeros, which have no effect."""
    filled = np.zeros((rows, *values.shape[1:]))
    filled[: len(values)] = values
    return filled


def _newton(design: Vector, kept: Vector, changed: Vector) -> Vector:
    """Return the weights ``[g, k]`` of ``g`` problems.

    Newton steps are clipped to the bounds. If a clipped step lowers the likelihood, a shorter step
    closer to the gradient is tried (Levenberg-Marquardt).

    Args:
        design: ``[g, patterns, k]``.
        kept, changed: counts ``[g, patterns]``.
    """
    count, _, terms = design.shape
    weights = np.full((count, terms), 0.3)
    weights[:, 0] = 0.05
    size = ((kept + changed)[:, None, :] @ design)[:, 0] + 1e-9
    damping = np.full(count, 0.1)
    value, gradient, hessian = _derivatives(weights, design, kept, changed)
    answers, open_ones, every = weights.copy(), np.arange(count), np.arange(terms)
    for _ in range(_STEPS):
        bound = (weights <= _TINY) & (gradient < 0) | (weights >= _LARGEST) & (gradient > 0)
        curved = np.where(bound[:, :, None] | bound[:, None, :], 0.0, hessian)
        curved[:, every, every] += damping[:, None] * (size + curved[:, every, every])
        scale = 1 / np.sqrt(curved[:, every, every])  # preconditioning for weights near 0
        slope = np.where(bound, 0.0, gradient) * scale
        curved *= scale[:, :, None] * scale[:, None, :]
        step = np.linalg.solve(curved, slope[:, :, None])[:, :, 0] * scale
        trial = np.clip(weights + step, _TINY, _LARGEST)
        new_value, new_gradient, new_hessian = _derivatives(trial, design, kept, changed)
        gain = new_value - value
        better = gain >= 0
        weights = np.where(better[:, None], trial, weights)
        value = np.where(better, new_value, value)
        gradient = np.where(better[:, None], new_gradient, gradient)
        hessian = np.where(better[:, None, None], new_hessian, hessian)
        damping = np.where(better, np.maximum(damping / 10, 1e-8), damping * 10)
        answers[open_ones] = weights
        left = ~(better & (gain <= _CLOSE))
        if not left.any():
            break
        if not left.all():
            open_ones, weights, value = open_ones[left], weights[left], value[left]
            gradient, hessian, damping = gradient[left], hessian[left], damping[left]
            size, design, kept, changed = size[left], design[left], kept[left], changed[left]
    # Weights at a bound become probabilities of exactly 0 or 1.
    return np.where(answers <= 2 * _TINY, 0.0, np.where(answers >= _LARGEST, np.inf, answers))


def _derivatives(
    weights: Vector, design: Vector, kept: Vector, changed: Vector
) -> tuple[Vector, Vector, Vector]:
    """Return the log-likelihood of each problem, its gradient and its negative Hessian."""
    exponent = np.maximum((design @ weights[:, :, None])[:, :, 0], _TINY)
    odds = 1 / np.expm1(exponent)
    value = (changed * np.log(-np.expm1(-exponent)) - kept * exponent).sum(axis=1)
    gradient = ((changed * odds - kept)[:, None, :] @ design)[:, 0]
    curvature = changed * odds * (1 + odds)
    return value, gradient, (design.swapaxes(1, 2) * curvature[:, None, :]) @ design
