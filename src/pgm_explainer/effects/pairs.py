"""Pairs of nodes whose joint effect is not the sum of their effects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .table import PairEffect

__all__ = ["pair_effects"]

Vector = NDArray[np.float64]

_FEWEST = 4
"""Samples with both, with either and with none of the two, for a pair to be judged."""
_MOST = 5
_CONFIDENCE = 0.975


def pair_effects(
    nodes: list[int],
    bits: Vector,
    residual: Vector,
    effects: Vector,
    probability: float,
    level: float,
) -> tuple[PairEffect, ...]:
    """Return the pairs whose joint effect is significantly not the sum of the two.

    Args:
        nodes: the strongest nodes.
        bits: which samples each is perturbed in, ``[n, nodes]``, zeros and ones.
        residual: the outcome without the effects of single nodes, ``[n]``.
        effects: of each node, averaged over perturbations of all others.
        probability: of each node to be perturbed.
        level: of significance; it is divided by the number of pairs (Bonferroni).
    """
    first, second = np.triu_indices(len(nodes), 1)
    excess, error, freedom = _differences_in_differences(bits, residual, first, second)
    # Each of the two effects has seen the other node perturbed, so often, and holds some of it.
    excess, error = (1 - 2 * probability) * excess, abs(1 - 2 * probability) * error
    usable = error > 0
    t = np.divide(abs(excess), error, out=np.zeros(len(first)), where=usable)
    p = np.maximum(2 * special.stdtr(freedom, -t), np.finfo(float).tiny)
    margin = special.stdtrit(freedom, _CONFIDENCE) * error
    found = np.flatnonzero(usable & (p < level / max(1, len(first))))
    found = found[np.argsort(-abs(excess[found]), kind="stable")][:_MOST]
    return tuple(
        PairEffect(
            (nodes[first[at]], nodes[second[at]]),
            float(effects[first[at]] + effects[second[at]] + excess[at]),
            float(excess[at]),
            float(excess[at] - margin[at]),
            float(excess[at] + margin[at]),
            float(np.log(p[at])),
        )
        for at in found
    )


def _differences_in_differences(
    bits: Vector, residual: Vector, first: NDArray[np.intp], second: NDArray[np.intp]
) -> tuple[Vector, Vector, Vector]:
    """What both change beyond the sum of the two, standard errors and degrees of freedom.

    The error is Welch's, from the variances of the four groups of samples: both perturbed, either
    one, none. It is 0 where a group is too small to tell.
    """
    counts, sums, squares = (
        _by_group(bits, weights, first, second)
        for weights in (np.ones_like(residual), residual, residual**2)
    )
    enough = counts.min(axis=0) >= _FEWEST
    counts = np.where(enough, counts, 2.0 + _FEWEST)
    means = sums / counts
    shares = np.maximum(squares / counts - means**2, 0) / (counts - 1)
    error = np.sqrt(shares.sum(axis=0))
    freedom = error**4 / np.maximum((shares**2 / (counts - 1)).sum(axis=0), 1e-300)
    excess = means[0] - means[1] - means[2] + means[3]
    return excess, np.where(enough, error, 0.0), np.maximum(freedom, 1.0)


def _by_group(
    bits: Vector, weights: Vector, first: NDArray[np.intp], second: NDArray[np.intp]
) -> Vector:
    """Sums of weights ``[4, pairs]`` over samples with both, the first, the second, neither."""
    both = (bits.T @ (weights[:, None] * bits))[first, second]
    single = bits.T @ weights
    only_first, only_second = single[first] - both, single[second] - both
    return np.stack(
        (both, only_first, only_second, weights.sum() - both - only_first - only_second)
    )
