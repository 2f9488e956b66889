"""Confidence intervals of effects.

Changes of a prediction are often rare and large, so that the mean of the hundred samples in which a
node is perturbed is far from normal. An interval of a mean and its standard error then misses the
truth too often, and always on the same side: a node that happens to be perturbed in no sample with
a large change has a small standard error and a wrong mean.

Here an interval inverts the randomisation test instead. Its sides are quantiles of the estimate's
error if the perturbed samples were drawn anew, with the skewness of the outcome and without the
luck of one node's draw. These hold for a node that shifts the outcome. A node can also change its
variance; then the sides grow in proportion to Neyman's standard error, which allows for that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .bits import PerturbedSamples
from .cells import Cells, StackedFits
from .randomization import outcome_quantiles

__all__ = ["interval_sides"]

Vector = NDArray[np.float64]

_TAIL = 0.025


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
    total = np.einsum("kn,kn->k", fits.residual, fits.residual)[cells.row]
    variance = bits.variance[cells.column]
    share = bits.count[cells.column] / bits.num_samples
    within = squares[cells.column, cells.row]
    unequal = within * (1 - share) ** 2 + (total - within) * share**2
    equal = total / bits.num_samples * variance
    ratio = np.divide(unequal, equal, out=np.zeros(len(equal)), where=(equal > 0) & (share > 0))
    wider = np.sqrt(np.maximum(ratio, 0)) * _student(bits)[cells.column]
    low, high = outcome_quantiles(fits.residual - fits.mean[:, None], probability, _TAIL)
    expected = bits.num_samples * probability * (1 - probability)
    scale = np.maximum(wider, 1.0) / np.sqrt(expected * variance)
    return high[cells.row] * scale, -low[cells.row] * scale


def _student(bits: PerturbedSamples) -> Vector:
    """Return Student's quantile of each column over the normal one.

    The degrees of freedom are those of the smaller group, of perturbed or of other samples.
    """
    rarer = np.minimum(bits.count, bits.num_samples - bits.count)
    # Student's quantile is slow, but there are few distinct counts.
    counts, which = np.unique(rarer, return_inverse=True)
    quantile = special.stdtrit(np.maximum(counts - 1, 1), 1 - _TAIL)
    return np.asarray((quantile / special.ndtri(1 - _TAIL))[which])
