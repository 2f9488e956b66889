"""Confidence intervals of effects.

Changes of a prediction are often rare and large. The mean over the hundred or so samples in which a
node is perturbed is then far from normally distributed. An interval of the mean plus or minus
standard errors misses the true effect too often, and always on the same side: if a node happens to
be perturbed in no sample with a large change, both its mean and its standard error are too small.

Here an interval inverts the randomisation test instead. Its two sides are quantiles of the error
that the estimate would have if the perturbed samples were drawn anew. They follow the skewness of
the outcome, and do not depend on the luck of one node's draw. They are valid if perturbing the node
only shifts the outcome. If a node has a clear effect, or its perturbed samples vary more than by
chance, it also changes the variance. Then the sides are widened in proportion to Neyman's standard
error, which allows for unequal variances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .designs import PerturbedSamples
from .randomization import outcome_quantiles
from .regression import Cells, StackedFits

__all__ = ["interval_sides"]

Vector = NDArray[np.float64]

_TAIL = 0.025
_EVIDENT = 2.0
"""The z-score above which the variance of a node's perturbed samples counts as larger."""


def interval_sides(
    bits: PerturbedSamples,
    cells: Cells,
    fits: StackedFits,
    squares: Vector,
    probability: float,
) -> tuple[Vector, Vector]:
    """Return how far the 95 % interval of each candidate reaches below and above its effect.

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
    squares: Vector,
    probability: float,
) -> Vector:
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


def _student(bits: PerturbedSamples) -> Vector:
    """Return, for each column, the ratio of the quantiles of Student's t and of the normal.

    The degrees of freedom are those of the smaller group: the perturbed samples or the others.
    """
    rarer = np.minimum(bits.count, bits.num_samples - bits.count)
    # Student's quantile is slow, but there are few distinct counts.
    counts, which = np.unique(rarer, return_inverse=True)
    quantile = special.stdtrit(np.maximum(counts - 1, 1), 1 - _TAIL)
    return np.asarray((quantile / special.ndtri(1 - _TAIL))[which])
