"""Randomisation p-values and confidence intervals, from sums over perturbed samples.

Whether a node is perturbed in a sample is decided by an independent coin flip. If perturbing the
node has no effect, its perturbed samples are a random choice of all samples. The sum of the outcome
over them then has a known distribution, even if the outcome is skewed, heavy-tailed or nearly
always zero. The p-value is a tail probability of that sum. It is computed by the saddlepoint
approximation of Lugannani and Rice, whose relative error stays small in the far tail, where a
normal approximation is wrong by orders of magnitude (Robinson 1982, *Saddlepoint approximations for
permutation tests*).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .designs import PerturbedSamples
    from .regression import Cells, StackedFits

__all__ = [
    "atoms",
    "interval_sides",
    "log_tails",
    "normal_log_p",
    "outcome_log_tails",
    "outcome_quantiles",
]

FloatVector = NDArray[np.float64]

_EXTREMES = 48
_BINS = 64
_STEPS = 40
_QUANTILE_STEPS = 5
_ROWS_AT_ONCE = 2048
_CELLS_AT_ONCE = 1 << 20
_FURTHEST = 300.0
"""The largest tilt. The tilt is the parameter of the saddlepoint approximation that makes coins
more or less likely to be 1; at the largest, the result of every coin is practically certain."""
_CLOSE = 1e-9
_TAIL = 0.025
_EVIDENT = 2.0
"""The z-score above which the variance of a node's perturbed samples is larger than by chance."""


def normal_log_p(z: FloatVector) -> FloatVector:
    """Return the two-sided log p-value of a standard normal statistic."""
    return np.minimum(np.log(2.0) + scipy.special.log_ndtr(-abs(z)), 0.0)


def atoms(values: FloatVector) -> tuple[FloatVector, FloatVector]:
    """Approximate ``values [..., n]`` by at most 160 values ``[..., a]`` with weights ``[a]``.

    The largest and smallest values, which determine the tails, are exact. The others are binned and
    replaced by the means of their bins.
    """
    ordered = np.sort(values, axis=-1)
    count = ordered.shape[-1]
    if count <= 2 * _EXTREMES + _BINS:
        return ordered, np.ones(count)
    middle = ordered[..., _EXTREMES:-_EXTREMES]
    starts = np.arange(_BINS) * middle.shape[-1] // _BINS
    weights = np.diff(np.append(starts, middle.shape[-1])).astype(np.float64)
    means = np.add.reduceat(middle, starts, axis=-1) / weights
    ones = np.ones(_EXTREMES)
    chosen = (ordered[..., :_EXTREMES], means, ordered[..., -_EXTREMES:])
    return np.concatenate(chosen, axis=-1), np.concatenate((ones, weights, ones))


def log_tails(
    totals: FloatVector, values: FloatVector, weights: FloatVector, probability: float
) -> FloatVector:
    """Return the two-sided log p-value of each total.

    Args:
        totals: sums ``[k]`` of (coin - probability) * value over all samples.
        values: the values ``[a]`` of the samples, or ``[k, a]`` if they differ between totals.
        weights: the number of samples that each value represents, ``[a]``.
        probability: the probability that a coin is 1.

    Examples:
        Ten samples have the same value, and all ten coins are 1.

        >>> p = log_tails(np.array([9.0]), np.ones(10), np.ones(10), probability=0.1)
        >>> bool(abs(p[0] - np.log(2 * 0.1**10)) < 1.0)
        True
    """
    # Contiguous, because the rounding of a sum depends on the memory layout.
    values = np.ascontiguousarray(np.broadcast_to(values, (len(totals), values.shape[-1])))
    scale = np.sqrt((weights * values**2).sum(axis=-1, keepdims=True))
    scale = np.where(scale > 0, scale, 1.0)
    values = values / scale
    weights = np.broadcast_to(weights, values.shape)
    totals = totals / scale[:, 0]
    sign = np.where(totals < 0, -1.0, 1.0)
    upper = _log_upper(sign * totals, sign[:, None] * values, weights, probability)
    return np.minimum(np.log(2.0) + upper, 0.0)


def outcome_log_tails(
    totals: FloatVector,
    outcomes: FloatVector,
    rows: NDArray[np.int64],
    probability: float,
) -> FloatVector:
    """Return the two-sided log p-value of each total ``[k]``.

    Args:
        totals: sums of (coin - probability) * outcome over all samples.
        outcomes: some outcomes ``[r, n]``.
        rows: for each total, the row of its outcome, ``[k]``.
        probability: the probability that a coin is 1.
    """
    used, which = np.unique(rows, return_inverse=True)
    if not len(used):
        return np.empty(0)
    step = max(1, _CELLS_AT_ONCE // outcomes.shape[1])
    parts = [atoms(outcomes[used[at : at + step]]) for at in range(0, len(used), step)]
    values, weights = np.concatenate([part for part, _ in parts]), parts[0][1]
    answers = np.empty(len(totals))
    for start in range(0, len(totals), _ROWS_AT_ONCE):
        some = slice(start, start + _ROWS_AT_ONCE)
        answers[some] = log_tails(totals[some], values[which[some]], weights, probability)
    return answers


def outcome_quantiles(
    outcomes: FloatVector, probability: float, tail: float
) -> tuple[FloatVector, FloatVector]:
    """Return the quantiles ``tail`` and ``1 - tail`` of sums of (coin - probability) * outcome.

    Args:
        outcomes: some outcomes ``[r, n]``.
        probability: the probability that a coin is 1.
        tail: the probability of a more extreme sum on each side.

    Returns:
        The lower and the upper quantile of each outcome's sum, ``[r]``.
    """
    step = max(1, _CELLS_AT_ONCE // outcomes.shape[1])
    parts = [atoms(outcomes[at : at + step]) for at in range(0, len(outcomes), step)]
    values = np.concatenate([part for part, _ in parts])
    weights = np.broadcast_to(parts[0][1], values.shape)
    scale = np.sqrt((weights * values**2).sum(axis=1))
    values = values / np.where(scale > 0, scale, 1.0)[:, None]
    lower = _upper_quantiles(-values, weights, probability, tail)
    upper = _upper_quantiles(values, weights, probability, tail)
    return -scale * lower, scale * upper


def _upper_quantiles(
    values: FloatVector, weights: FloatVector, probability: float, tail: float
) -> FloatVector:
    """Return the totals that the sums exceed with a given probability.

    The squares of the values must sum to 1. The tilt is found by Newton's method, with bisection if
    a step leaves the bracket. If the quantile is the largest possible sum, it has the largest tilt.
    """
    mass = weights * values
    centre = probability * mass.sum(axis=1)
    odds = (1 - probability) / probability
    low, high = np.zeros(len(values)), np.full(len(values), _FURTHEST)
    deviation = np.sqrt(probability * (1 - probability))
    tilt = np.full(len(values), min(-scipy.special.ndtri(tail) / deviation, _FURTHEST / 2))
    totals = np.zeros(len(values))
    for _ in range(_QUANTILE_STEPS):
        chance = 1 / (1 + odds * np.exp(-tilt[:, None] * values))
        part = mass * chance
        totals = part.sum(axis=1) - centre
        curvature = (part * values * (1 - chance)).sum(axis=1)
        excess = _log_tail(totals, tilt, curvature, values, weights, centre, probability)
        excess -= np.log(tail)
        low, high = np.where(excess > 0, tilt, low), np.where(excess > 0, high, tilt)
        # The log-probability falls by about the tilt per unit of the total.
        newton = tilt + excess / np.maximum(tilt * curvature + 1 / tilt, 1e-300)
        inside = (newton > low) & (newton < high)
        tilt = np.where(inside, newton, (low + high) / 2)
    return totals


def _log_upper(
    totals: FloatVector, values: FloatVector, weights: FloatVector, probability: float
) -> FloatVector:
    """Return the log-probability that the sum is at least each (positive) total."""
    mass = weights * values
    centre = probability * mass.sum(axis=1)
    tilt, curvature = _saddlepoint(totals + centre, values, mass, probability)
    return _log_tail(totals, tilt, curvature, values, weights, centre, probability)


def _log_tail(
    totals: FloatVector,
    tilt: FloatVector,
    curvature: FloatVector,
    values: FloatVector,
    weights: FloatVector,
    centre: FloatVector,
    probability: float,
) -> FloatVector:
    """Return the log-probability that the sum is at least each total, given its saddlepoint."""
    exponent = tilt[:, None] * values
    log_means = np.log1p(probability * np.expm1(exponent))
    cumulant = (weights * log_means).sum(axis=1) - tilt * centre
    # Chernoff's bound always holds; the approximation is sharper where it is defined.
    bound = np.minimum(cumulant - tilt * totals, 0.0)
    root = np.sqrt(np.maximum(-2 * bound, _CLOSE))
    steep = tilt * np.sqrt(np.maximum(curvature, _CLOSE**2))
    usable = (tilt > _CLOSE) & (tilt < 0.99 * _FURTHEST) & (steep > _CLOSE) & (root > 1e-3)
    root, steep = np.where(usable, root, 1.0), np.where(usable, steep, 1.0)
    log_density = -0.5 * root**2 - 0.5 * np.log(2 * np.pi)
    ratio = np.exp(log_density - scipy.special.log_ndtr(-root)) * (1 / steep - 1 / root)
    sharp = scipy.special.log_ndtr(-root) + np.log1p(np.maximum(ratio, -0.9))
    return np.where(usable, np.minimum(sharp, bound), bound)


def _saddlepoint(
    totals: FloatVector, values: FloatVector, mass: FloatVector, probability: float
) -> tuple[FloatVector, FloatVector]:
    """Return the tilt at which the expected sum equals the total, and the variance at that tilt.

    The tilt is found by Newton's method, with bisection if a step leaves the bracket.
    """
    low, high = np.zeros(len(totals)), np.full(len(totals), _FURTHEST)
    variance = probability * (1 - probability) * (mass * values).sum(axis=1)
    start = totals - probability * mass.sum(axis=1)
    tilt = np.clip(start / np.maximum(variance, 1e-300), 0.0, _FURTHEST / 2)
    odds = (1 - probability) / probability
    tilts, curvatures, waiting = np.empty_like(tilt), np.empty_like(tilt), np.arange(len(tilt))
    for _ in range(_STEPS):
        chance = 1 / (1 + odds * np.exp(-tilt[:, None] * values))
        part = mass * chance
        slope = part.sum(axis=1)
        curvature = (part * values * (1 - chance)).sum(axis=1)
        tilts[waiting], curvatures[waiting] = tilt, curvature
        short = slope < totals
        low, high = np.where(short, tilt, low), np.where(short, high, tilt)
        newton = tilt + (totals - slope) / np.maximum(curvature, 1e-300)
        inside = (newton > low) & (newton < high)
        after = np.where(inside, newton, (low + high) / 2)
        left = abs(after - tilt) > 1e-6 * np.maximum(1.0, tilt)
        if not left.any():
            break
        tilt, waiting, totals = after[left], waiting[left], totals[left]
        low, high, values, mass = low[left], high[left], values[left], mass[left]
    return tilts, curvatures


def interval_sides(
    bits: PerturbedSamples,
    cells: Cells,
    fits: StackedFits,
    squares: FloatVector,
    probability: float,
) -> tuple[FloatVector, FloatVector]:
    """Return how far the 95% interval of each candidate reaches below and above its effect.

    Changes of a prediction are often rare and large. The mean over the hundred or so samples in
    which a node is perturbed is then far from normally distributed. An interval of the mean plus or
    minus standard errors misses the true effect too often, and always on the same side: if a node
    happens to be perturbed in no sample with a large change, both its mean and its standard error
    are too small.

    Here an interval inverts the randomisation test instead. Its two sides are quantiles of the
    error that the estimate would have if the perturbed samples were drawn again. They follow the
    skewness of the outcome, and do not depend on one random draw. They are valid if
    perturbing the node only shifts the outcome. If a node has a clear effect, or its perturbed
    samples vary more than by chance, it also changes the variance. Then the sides are widened in
    proportion to Neyman's standard error, which allows for unequal variances.

    Args:
        bits: the perturbed samples.
        cells: the candidates of each prediction.
        fits: the fit of each prediction.
        squares: sums ``[V, fits]`` of squared residuals over the perturbed samples of each column.
        probability: the probability that a node is perturbed in a sample.
    """
    variance = bits.variance[cells.column]
    low, high = outcome_quantiles(fits.residual - fits.mean[:, None], probability, _TAIL)
    expected = bits.num_samples * probability * (1 - probability)
    scale = _widening(bits, cells, fits, squares, probability) / np.sqrt(expected * variance)
    return high[cells.row] * scale, -low[cells.row] * scale


def _widening(
    bits: PerturbedSamples,
    cells: Cells,
    fits: StackedFits,
    squares: FloatVector,
    probability: float,
) -> FloatVector:
    """Return the ratio of Neyman's standard error to that for equal variances; at least 1."""
    square = fits.residual**2
    mean = square.mean(axis=1)
    square -= mean[:, None]
    chance = np.sqrt(probability * (1 - probability) * np.einsum("kn,kn->k", square, square))
    count, mean = bits.count[cells.column], mean[cells.row]
    excess = squares[cells.column, cells.row] - count * mean
    matters = excess > _EVIDENT * chance[cells.row]
    matters[cells.of_fits(fits, 0)[0]] = True
    matters &= mean > 0
    relative = np.divide(excess, mean, out=np.zeros(len(excess)), where=matters)
    # Neyman's squared error is within * (1 - share)**2 + (total - within) * share**2.
    relative *= (1 - 2 * count / bits.num_samples) / bits.variance[cells.column]
    ratio = np.sqrt(np.maximum(1 + relative, 0)) * _student(bits)[cells.column]
    return np.where(matters, np.maximum(ratio, 1.0), 1.0)


def _student(bits: PerturbedSamples) -> FloatVector:
    """Return, for each column, the ratio of the quantiles of Student's t and of the normal.

    The degrees of freedom are those of the smaller group: the perturbed samples or the others.
    """
    rarer = np.minimum(bits.count, bits.num_samples - bits.count)
    # Student's quantile is slow, but there are few distinct counts.
    counts, which = np.unique(rarer, return_inverse=True)
    quantile = scipy.special.stdtrit(np.maximum(counts - 1, 1), 1 - _TAIL)
    return np.asarray((quantile / scipy.special.ndtri(1 - _TAIL))[which])
