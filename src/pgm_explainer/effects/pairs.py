"""Pairs of nodes whose joint effect is not the sum of their effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import IntArray
from .designs import CELLS_AT_ONCE, PerturbedSamples, joint_sums
from .table import PairEffect

__all__ = ["Candidates", "pair_effects"]

Vector = NDArray[np.float64]

_FEWEST = 4
"""The smallest number of samples in each of the four groups (both, either one, none perturbed)."""
_MOST = 5
_OUTSIDE = 0.05
"""The probability that an interval does not contain the excess of its pair."""


@dataclass(frozen=True)
class Candidates:
    """The strongest nodes of a prediction.

    Attributes:
        nodes: their indices.
        columns: their columns of the perturbed samples.
        effects: the effect of each, averaged over random perturbations of all other nodes.
        residual: the outcome minus the effects of single nodes, ``[n]``, divided by ``scale``.
        probabilities: the outcome, ``[n]``, if it is a probability; else None.
    """

    nodes: IntArray
    columns: IntArray
    effects: Vector
    residual: Vector
    scale: float
    probabilities: Vector | None = None


def pair_effects(
    bits: PerturbedSamples, predictions: Sequence[Candidates], probability: float, level: float
) -> list[tuple[PairEffect, ...]]:
    """Return for each prediction the pairs with a significant interaction.

    Args:
        bits: the samples in which each node is perturbed.
        predictions: the strongest nodes of each prediction.
        probability: the probability that a node is perturbed.
        level: the significance level, which is divided by the number of pairs (Bonferroni).
    """
    found: list[tuple[PairEffect, ...]] = [()] * len(predictions)
    groups: dict[int, list[int]] = {}
    for at, each in enumerate(predictions):
        groups.setdefault(len(each.nodes), []).append(at)
    for size, members in groups.items():
        if size < 2:
            continue
        step = max(1, CELLS_AT_ONCE // (size * bits.num_samples))
        for start in range(0, len(members), step):
            together = members[start : start + step]
            some = [predictions[at] for at in together]
            tests = _tests(bits, some, probability)
            for at, each, excess, margin, log_p in zip(together, some, *tests, strict=True):
                found[at] = _strongest(bits, each, excess, margin, log_p, level)
    return found


def _strongest(
    bits: PerturbedSamples,
    candidates: Candidates,
    excess: Vector,
    margin: Vector,
    log_p: Vector,
    level: float,
) -> tuple[PairEffect, ...]:
    """Return the significant pairs with the largest excess."""
    found = np.flatnonzero(log_p < np.log(level / len(log_p)))
    found = found[np.argsort(-abs(excess[found]), kind="stable")][:_MOST]
    pairs = np.stack(np.triu_indices(len(candidates.nodes), 1), axis=1)
    reported = []
    for at in found:
        pair, total = pairs[at], float(candidates.effects[pairs[at]].sum())
        sides = np.array([0.0, -margin[at], margin[at]])
        joint = total + candidates.scale * (excess[at] + sides)
        if candidates.probabilities is not None:
            perturbed = bits.rows(candidates.columns[pair]).any(axis=0)
            joint = _possible(joint, candidates.probabilities[~perturbed])
        first, second = candidates.nodes[pair].tolist()
        difference, low, high = (joint - total).tolist()
        numbers = float(joint[0]), difference, low, high, float(log_p[at])
        reported.append(PairEffect((first, second), *numbers))
    return tuple(reported)


def _possible(joint: Vector, without: Vector) -> Vector:
    """Return joint effects on a probability, clipped to the range of possible values.

    A joint effect is the difference of two mean probabilities. A sum of estimates may be larger
    than is possible, given the mean ``without`` perturbing the pair.
    """
    return np.clip(joint, -without.mean(), 1 - without.mean())


def _tests(
    bits: PerturbedSamples, predictions: Sequence[Candidates], probability: float
) -> tuple[Vector, Vector, Vector]:
    """Return the excess of each pair, its margin and its log p-value, ``[..., pairs]``.

    The excess is the joint effect of two nodes minus the sum of their effects.

    Args:
        bits: the samples in which each node is perturbed.
        predictions: predictions with the same number of nodes.
    """
    excess, error, freedom = _differences_in_differences(*_moments(bits, predictions))
    # Each of the two effects already includes a share of the interaction, because the other node
    # was also perturbed in this fraction of the samples.
    excess, error = (1 - 2 * probability) * excess, abs(1 - 2 * probability) * error
    usable = error > 0
    t = np.divide(abs(excess), error, out=np.zeros_like(error), where=usable)
    p = np.maximum(2 * scipy.special.stdtr(freedom, -t), np.finfo(float).tiny)
    # Only significant pairs are reported, so the intervals are corrected for all pairs as well.
    margin = scipy.special.stdtrit(freedom, 1 - _OUTSIDE / 2 / excess.shape[-1]) * error
    return excess, margin, np.where(usable, np.log(p), 0.0)


def _moments(bits: PerturbedSamples, predictions: Sequence[Candidates]) -> list[Vector]:
    """Return counts, sums and sums of squares ``[4, ..., pairs]`` of the four groups of samples."""
    columns = np.stack([each.columns for each in predictions])
    residual = np.stack([each.residual for each in predictions])
    values = (residual, residual**2)
    totals = (np.full(len(columns), bits.num_samples), *(each.sum(axis=1) for each in values))
    found = zip(joint_sums(bits, columns, values), totals, strict=True)
    return [_by_group(sums, total[:, None]) for sums, total in found]


def _differences_in_differences(
    counts: Vector, sums: Vector, squares: Vector
) -> tuple[Vector, Vector, Vector]:
    """Return the excess of each pair, its standard error and degrees of freedom.

    The samples are in four groups: both nodes perturbed, either one, none. With the defaults, about
    ten in a thousand have both. If the outcome has two values, these ten may all be equal by
    chance, and their own variance would then be 0. So each group gets the largest variance of the
    four, with the degrees of freedom of the smallest group. The error is 0 if a group is too small.
    """
    enough = counts.min(axis=0) >= _FEWEST
    counts = np.where(enough, counts, 2.0 + _FEWEST)
    means = sums / counts
    variance = (np.maximum(squares / counts - means**2, 0) * counts / (counts - 1)).max(axis=0)
    error = np.sqrt(variance * (1 / counts).sum(axis=0))
    excess = means[0] - means[1] - means[2] + means[3]
    return excess, np.where(enough, error, 0.0), counts.min(axis=0) - 1


def _by_group(joint: Vector, total: Vector) -> Vector:
    """Return sums ``[4, ..., pairs]`` over samples with both, either one and neither.

    Args:
        joint: sums ``[..., k, k]`` over the samples of two columns, or of one on the diagonal.
        total: sums over all samples.
    """
    first, second = np.triu_indices(joint.shape[-1], 1)
    both = joint[..., first, second]
    only_first, only_second = joint[..., first, first] - both, joint[..., second, second] - both
    return np.stack((both, only_first, only_second, total - both - only_first - only_second))
