"""Strengths: how much perturbing a node changes a prediction, in either direction.

A node matters by the mean absolute change that perturbing it causes. Samples with other strong
nodes perturbed hardly show it: what the others do is then most of the change. The *size* of a node
is therefore estimated from samples in which no other strong node is perturbed. It is the mean
absolute change with the node perturbed minus that without.

Sizes within three standard errors of 0 cannot be told apart, and a node that matters only together
with other strong nodes has no size of its own. So a size is at least three standard errors, and at
least the effect minus twice its margin.

The *movement* is the coefficient of the squared ranks of the absolute changes. It uses all samples
and tells small changes apart, but says little about how large they are: a change of 0.00001 has a
high rank if most samples change nothing. The strength is the size times the square root of the
movement. The exponent was chosen on graphs and models that no page reports.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bits import PerturbedSamples
from .cells import Cells, StackedFits
from .designs import CELLS_AT_ONCE

__all__ = ["strengths"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]

_LEFT = 0.5
"""As many strong nodes are kept unperturbed as leave this share of the samples."""
_TOLD_APART = 3.0


class _Strong(NamedTuple):
    """Strong nodes, sorted by prediction: the cell, the prediction and the column of each."""

    cell: Integers
    row: Integers
    column: Integers


def strengths(
    bits: PerturbedSamples,
    cells: Cells,
    fits: StackedFits,
    changes: Vector,
    movement: Vector,
    certain: Vector,
    probability: float,
) -> Vector:
    """Return the strength of every candidate, not scaled.

    Args:
        bits: the perturbed samples.
        cells: the candidates of each prediction.
        fits: the last of these fits, one for each prediction, are those of the movement.
        changes: the absolute change of each prediction in each sample, ``[predictions, n]``.
        movement: the movement of every candidate.
        certain: a lower bound of the absolute effect of every candidate.
        probability: the probability that a node is perturbed in a sample.
    """
    strong = _strong_nodes(cells, fits, probability)
    undisturbed, of_strong = _only_one(bits, strong, changes)
    count = undisturbed.sum(axis=1)
    mean = np.einsum("kn,kn->k", undisturbed, changes) / np.maximum(count, 1)
    changes = undisturbed * (changes - mean[:, None])
    noise = np.einsum("kn,kn->k", changes, changes) / np.maximum(count, 1) ** 2
    sums, counts = np.split(bits.sums([*changes, *undisturbed]), 2, axis=1)
    within = counts[cells.column, cells.row]
    variance = within * (1 - within / np.maximum(count, 1)[cells.row])
    size = np.zeros(len(cells.row))
    np.divide(sums[cells.column, cells.row], variance, out=size, where=variance > 0)
    size[strong.cell] = of_strong - mean[strong.row]
    floor = _TOLD_APART * np.sqrt(noise / (probability * (1 - probability)))
    size = np.maximum(np.maximum(size, floor[cells.row]), certain)
    return size * np.sqrt(np.maximum(movement, 0.0))


def _strong_nodes(cells: Cells, fits: StackedFits, probability: float) -> _Strong:
    """Return the nodes of each prediction that clearly have the largest movements."""
    most = max(1, int(np.log(_LEFT) / np.log1p(-probability)))
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
