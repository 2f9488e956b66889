"""Strengths: how much perturbing a part changes a prediction, in either direction.

The strength of a part is the product of its evidence and its size.

*Evidence* is the coefficient of a fit of the squared ranks of the absolute changes, or the lower
bound of the absolute effect if that is relatively larger. Ranks use all samples, and a few large
changes do not dominate them. But they say little about how large changes are: a change of 0.00001
has a high rank if most samples change nothing.

A probability close to 0 or 1 hardly changes in most samples, so these samples are tied. Each rank
is then the mean of two ranks: one with these ties, and one with the ties broken by the changes of
the log-odds.

*Size* is the mean absolute change if the part is perturbed minus that if it is not, over samples in
which no other strong part is perturbed. In the other samples, most of the change is due to strong
parts. A size below three standard errors cannot be distinguished from 0, so every size is at least
three standard errors. A size is also at least the absolute effect minus twice its margin, because
some parts change the prediction only together with a strong one. For the same reason a hundredth of
the largest size is added to each: if either of two groups of atoms suffices for a prediction,
perturbing only one of them changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .designs import CELLS_AT_ONCE, PerturbedSamples
from .regression import Cells, StackedFits

__all__ = ["broken_ties", "movements", "strengths"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]

_LEFT = 0.5
"""At least this share of the samples has none of the strong nodes perturbed."""
_TOLD_APART = 3.0
_ADDED = 0.01
"""This share of the largest size is added to every size."""
_VISIBLE = 1e-5
"""Smaller changes of a saturated probability are ranked by the change of its log-odds."""
_SMALLEST = 1e-300


class _Strong(NamedTuple):
    """Strong nodes, sorted by prediction: the cell, the prediction and the column of each."""

    cell: Integers
    row: Integers
    column: Integers


def movements(sizes: Vector) -> Vector:
    """Return the squared ranks ``[..., n]`` of absolute changes in each row, scaled from 0 to 1."""
    order = np.argsort(sizes, axis=1)
    ordered = np.take_along_axis(sizes, order, axis=1)
    first = np.ones(sizes.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, sizes.size))
    # Ties get the mean of their ranks.
    ranks = np.repeat(starts % sizes.shape[1] + (counts + 1) / 2, counts).reshape(sizes.shape)
    found = np.empty_like(ranks)
    np.put_along_axis(found, order, np.square(ranks / sizes.shape[1]), axis=1)
    return found


def strengths(
    bits: PerturbedSamples,
    cells: Cells,
    fits: StackedFits,
    changes: Vector,
    ties: Mapping[int, Vector],
    movement: Vector,
    low: Vector,
    high: Vector,
    probability: float,
) -> Vector:
    """Return the strength of every candidate, from 0 to 1: relative to the strongest one.

    Args:
        bits: the perturbed samples.
        cells: the candidates of each prediction.
        fits: several fits; the last ones, one for each prediction, are those of the ranks.
        changes: the absolute change of each prediction in each sample, ``[predictions, n]``.
        ties: for saturated predictions, what breaking ties adds to the ranks ``[n]``.
        movement: the coefficient of the ranks for every candidate.
        low, high: the 95% interval of the effect of every candidate.
        probability: the probability that a node is perturbed in a sample.
    """
    size = _sizes(bits, cells, _strong_nodes(cells, fits, probability), changes, probability)
    rows = [*(changes - changes.mean(axis=1, keepdims=True)), *ties.values()]
    slopes = bits.sums(rows) / bits.variance[:, None]
    average = slopes[cells.column, cells.row]
    bound = np.maximum(low, -high)
    size = np.maximum(size, bound - (high - low) / 2)
    for number, at in enumerate(ties, start=len(changes)):
        span = cells.slices[at]
        movement[span] += slopes[cells.column[span], number]
    found = np.empty(len(cells.row))
    for span in cells.slices:
        largest = max(float(np.max((average[span], bound[span]), initial=0.0)), _SMALLEST)
        evidence = np.maximum(_relative(movement[span]), np.maximum(bound[span], 0.0) / largest)
        found[span] = _relative(evidence * (_ADDED + _relative(size[span])))
    return found


def broken_ties(changes: Vector, log_odds: Vector) -> Vector:
    """Return half of the difference that breaking ties makes to the squared ranks, centred.

    A fit is linear in its outcome. So the coefficient of this difference is added to that of the
    ranks with ties, without another fit; it is not adjusted for other parts.

    Args:
        changes: the absolute changes ``[n]`` of a probability.
        log_odds: those of its log-odds.
    """
    seen = changes > _VISIBLE
    keys = np.stack((changes, np.where(seen, changes, -1 / (1 + log_odds))))
    tied, broken = movements(keys)
    return np.asarray((broken - tied - (broken - tied).mean()) / 2)


def _relative(values: Vector) -> Vector:
    """Return values from 0 to 1: relative to the largest one, and 0 instead of negative ones."""
    return np.maximum(values, 0.0) / max(float(values.max(initial=0.0)), _SMALLEST)


def _sizes(
    bits: PerturbedSamples, cells: Cells, strong: _Strong, changes: Vector, probability: float
) -> Vector:
    """Return the size of every candidate; at least three standard errors."""
    undisturbed, of_strong = _only_one(bits, strong, changes)
    count = np.maximum(undisturbed.sum(axis=1), 1)
    mean = np.einsum("kn,kn->k", undisturbed, changes) / count
    changes = undisturbed * (changes - mean[:, None])
    variance = np.einsum("kn,kn->k", changes, changes) / count
    sums, counts = np.split(bits.sums([*changes, *undisturbed]), 2, axis=1)
    within = counts[cells.column, cells.row]
    spread = within * (1 - within / count[cells.row])
    size = np.zeros(len(cells.row))
    np.divide(sums[cells.column, cells.row], spread, out=size, where=spread > 0)
    size[strong.cell] = of_strong - mean[strong.row]
    error = np.sqrt(variance / (count * probability * (1 - probability)))
    return np.maximum(size, _TOLD_APART * error[cells.row])


def _strong_nodes(cells: Cells, fits: StackedFits, probability: float) -> _Strong:
    """Return the nodes of each prediction that clearly have the largest coefficients."""
    most = max(1.0, np.log(_LEFT) / np.log1p(-max(probability, _SMALLEST)) // 1)
    first = len(fits.mean) - len(cells.slices)
    cell, active = cells.of_fits(fits, first)
    row, column = fits.row[active] - first, fits.column[active]
    order = np.lexsort((column, -fits.coefficient[active], row))
    order = order[fits.coefficient[active][order] > 0]
    row = row[order]
    chosen = np.arange(len(row)) - np.searchsorted(row, row) < most
    order = order[chosen]
    return _Strong(cell[order], row[chosen], column[order])


def _only_one(
    bits: PerturbedSamples, strong: _Strong, changes: Vector
) -> tuple[NDArray[np.float64], Vector]:
    """Separate samples by how many strong nodes of a prediction are perturbed.

    Returns:
        For each prediction 1 in the samples in which none is perturbed and 0 in others; and for
        each strong node the mean change in the samples in which it is the only one.
    """
    undisturbed = np.ones_like(changes)
    means = np.empty(len(strong.row))
    starts = np.flatnonzero(np.diff(strong.row, prepend=-1))
    ends = np.append(starts, len(strong.row))
    step = max(1, CELLS_AT_ONCE // (bits.num_samples * max(1, np.diff(ends).max(initial=1))))
    for at in range(0, len(starts), step):
        some = slice(ends[at], ends[min(at + step, len(starts))])
        row = strong.row[some]
        perturbed = bits.rows(strong.column[some])
        number = np.add.reduceat(perturbed, starts[at : at + step] - some.start, axis=0)
        undisturbed[row[starts[at : at + step] - some.start]] = number == 0
        perturbed *= np.repeat(number == 1, np.diff(ends[at : at + step + 1]), axis=0)
        count = np.maximum(perturbed.sum(axis=1), 1)
        means[some] = np.einsum("kn,kn->k", perturbed, changes[row]) / count
    return undisturbed, means
