"""P-values from the randomisation itself: how likely is a sum over randomly perturbed samples?

A node is perturbed in each sample by a coin flip that depends on nothing else. If perturbing it
changes nothing, the sum of any outcome over the samples in which it is perturbed is a sum over
random samples, whatever the outcome looks like: skewed, with heavy tails, or nearly always zero.
The tail of that sum is computed by Lugannani and Rice's saddlepoint approximation, whose relative
error stays small far out, where a normal approximation is wrong by orders of magnitude (Robinson
1982, *Saddlepoint approximations for permutation tests*).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["OpenTests", "atoms", "log_tails", "normal_log_p"]

FloatVector = NDArray[np.float64]

_EXTREMES = 48
_BINS = 64
_STEPS = 40
_ROWS_AT_ONCE = 2048
_FURTHEST = 300.0
"""Beyond this tilt every coin is as good as certain."""
_CLOSE = 1e-9


def normal_log_p(z: FloatVector) -> FloatVector:
    """Return the two-sided log p-value of a standard normal statistic."""
    return np.minimum(np.log(2.0) + special.log_ndtr(-abs(z)), 0.0)


def atoms(values: FloatVector) -> tuple[FloatVector, FloatVector]:
    """Return at most 160 values ``[..., a]`` and weights ``[a]`` that stand for many ``[..., n]``.

    The largest and the smallest, which decide a tail, stay as they are. Between them, neighbours
    are replaced by their mean.
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
        values: the values ``[a]`` of the samples, or ``[k, a]`` where each total has its own.
        weights: how many samples each value stands for, ``[a]``.
        probability: that a coin is 1.

    Examples:
        Ten samples matter equally, and all ten coins came up.

        >>> p = log_tails(np.array([9.0]), np.ones(10), np.ones(10), probability=0.1)
        >>> bool(abs(p[0] - np.log(2 * 0.1**10)) < 1.0)
        True
    """
    scale = np.sqrt((weights * values**2).sum(axis=-1, keepdims=True))
    scale = np.where(scale > 0, scale, 1.0)
    values = np.broadcast_to(values / scale, (len(totals), values.shape[-1]))
    weights = np.broadcast_to(weights, values.shape)
    totals = totals / np.broadcast_to(scale[..., 0], totals.shape)
    sign = np.where(totals < 0, -1.0, 1.0)
    upper = _log_upper(sign * totals, sign[:, None] * values, weights, probability)
    return np.minimum(np.log(2.0) + upper, 0.0)


class OpenTests:
    """Tests whose p-values are worked out together, since many at once take little longer."""

    def __init__(self, probability: float) -> None:
        self._probability = probability
        self._answers: list[tuple[FloatVector, NDArray[np.int64]]] = []
        self._totals: list[FloatVector] = []
        self._values: list[FloatVector] = []
        self._weights: FloatVector = np.empty(0)

    def add(
        self,
        answers: FloatVector,
        places: NDArray[np.int64],
        totals: FloatVector,
        outcomes: FloatVector,
    ) -> None:
        """Test totals at places against outcomes, one for all of them or one for each."""
        for start in range(0, len(places), _ROWS_AT_ONCE):
            some = places[start : start + _ROWS_AT_ONCE]
            own = outcomes if len(outcomes) == 1 else outcomes[start : start + _ROWS_AT_ONCE]
            values, self._weights = atoms(own)
            self._answers.append((answers, some))
            self._totals.append(totals[some])
            self._values.append(np.broadcast_to(values, (len(some), values.shape[1])))
            if sum(map(len, self._totals)) >= _ROWS_AT_ONCE:
                self.close()

    def close(self) -> None:
        """Put the p-values where they belong."""
        if not self._totals:
            return
        totals, values = np.concatenate(self._totals), np.concatenate(self._values)
        tails = log_tails(totals, values, self._weights, self._probability)
        ends = np.cumsum([len(each) for each in self._totals])[:-1]
        for (answers, places), its in zip(self._answers, np.split(tails, ends), strict=True):
            answers[places] = its
        self._answers, self._totals, self._values = [], [], []


def _log_upper(
    totals: FloatVector, values: FloatVector, weights: FloatVector, probability: float
) -> FloatVector:
    """The log-probability that the sum is at least each total, all of which are positive."""
    mass = weights * values
    centre = probability * mass.sum(axis=1)
    tilt, curvature = _saddlepoint(totals + centre, values, mass, probability)
    exponent = tilt[:, None] * values
    log_means = np.log1p(probability * np.expm1(exponent))
    cumulant = (weights * log_means).sum(axis=1) - tilt * centre
    # Chernoff's bound holds always; the approximation is sharper wherever it is defined.
    bound = np.minimum(cumulant - tilt * totals, 0.0)
    root = np.sqrt(np.maximum(-2 * bound, _CLOSE))
    steep = tilt * np.sqrt(np.maximum(curvature, _CLOSE**2))
    usable = (tilt > _CLOSE) & (tilt < 0.99 * _FURTHEST) & (steep > _CLOSE) & (root > 1e-3)
    root, steep = np.where(usable, root, 1.0), np.where(usable, steep, 1.0)
    log_density = -0.5 * root**2 - 0.5 * np.log(2 * np.pi)
    ratio = np.exp(log_density - special.log_ndtr(-root)) * (1 / steep - 1 / root)
    sharp = special.log_ndtr(-root) + np.log1p(np.maximum(ratio, -0.9))
    return np.where(usable, np.minimum(sharp, bound), bound)


def _saddlepoint(
    totals: FloatVector, values: FloatVector, mass: FloatVector, probability: float
) -> tuple[FloatVector, FloatVector]:
    """The tilt at which the expected sum is the total, and the sum's variance at that tilt.

    Found by Newton's method, within a bracket that halves where Newton's step leaves it.
    """
    low, high = np.zeros(len(totals)), np.full(len(totals), _FURTHEST)
    variance = probability * (1 - probability) * (mass * values).sum(axis=1)
    start = totals - probability * mass.sum(axis=1)
    tilt = np.clip(start / np.maximum(variance, 1e-300), 0.0, _FURTHEST / 2)
    odds = (1 - probability) / probability
    curvature, found = variance, np.zeros(len(totals), dtype=bool)
    for _ in range(_STEPS):
        chance = 1 / (1 + odds * np.exp(-tilt[:, None] * values))
        part = mass * chance
        slope = part.sum(axis=1)
        curvature = (part * values * (1 - chance)).sum(axis=1)
        short = slope < totals
        low, high = np.where(short, tilt, low), np.where(short, high, tilt)
        newton = tilt + (totals - slope) / np.maximum(curvature, 1e-300)
        inside = (newton > low) & (newton < high)
        after = np.where(inside, newton, (low + high) / 2)
        found |= abs(after - tilt) <= 1e-6 * np.maximum(1.0, tilt)
        if found.all():
            break
        # What is found stays as it is, however many steps the others take.
        tilt = np.where(found, tilt, after)
    return tilt, curvature
