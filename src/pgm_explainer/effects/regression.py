"""Least squares of outcomes on which nodes are perturbed, for any number of nodes.

The coins are independent of each other, so the coefficient of a node is its average effect over
random states of all the others, whatever the model looks like; adjusting for the others only
removes noise. Nodes that hardly matter would add noise instead, so only those that stand out
(and products of the strongest, two by two) are adjusted for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .bits import PerturbedSamples

__all__ = ["Fit", "fit_all"]

Vector = NDArray[np.float64]

_ROUNDS = 4
_STANDS_OUT = 3.0
_SHARE_OF_SAMPLES = 0.1
"""At most one adjusted node for ten samples: more would fit noise."""
_IN_PAIRS = 6


@dataclass
class Fit:
    """An outcome, what it was adjusted for, and what that left.

    Attributes:
        columns: the candidates, as columns of the perturbed samples.
        outcome: its mean is 0, ``[n]``.
        active: the columns that were adjusted for.
        coefficients: one for each of them.
        residual: what the fit does not explain, ``[n]``, scaled up for the terms it used.
        additive: what the columns alone, without pairs, do not explain, ``[n]``.
    """

    columns: NDArray[np.int64]
    outcome: Vector
    active: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    coefficients: Vector = field(default_factory=lambda: np.empty(0))
    residual: Vector = field(default_factory=lambda: np.empty(0))
    additive: Vector = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        self.outcome = self.outcome - self.outcome.mean()
        self.residual = self.additive = self.outcome

    def stand_out(self, bits: PerturbedSamples, sums: Vector) -> NDArray[np.int64]:
        """Return the columns to adjust for next, given each column's sum of the residual."""
        spread = float(np.mean(self.residual**2))
        room = max(1, int(_SHARE_OF_SAMPLES * bits.num_samples)) - len(self.active)
        if not spread > 0 or room <= 0:
            return self.active[:0]
        threshold = max(_STANDS_OUT**2, 2 * float(np.log(max(1, len(self.columns)))))
        scores = sums[self.columns] ** 2 / (spread * bits.variance[self.columns])
        found = self.columns[scores > threshold]
        if len(self.active):
            found = found[~np.isin(found, self.active)]
        if len(found) > room:
            order = np.argsort(-abs(sums[found]), kind="stable")
            found = found[order[:room]]
        return found

    def solve(self, bits: PerturbedSamples, with_pairs: bool) -> None:
        """Fit the active columns, and pairs of the strongest."""
        columns = bits.dense(self.active)
        columns -= bits.count[self.active] / bits.num_samples
        own = _least_squares(columns, self.outcome)
        used = len(own)
        fitted = columns @ own
        if with_pairs:
            pairs = _pairs(columns, self.outcome - fitted, own)
            if pairs.shape[1]:
                design = np.concatenate((columns, pairs), axis=1)
                every = _least_squares(design, self.outcome)
                fitted, own, used = design @ every, every[: len(own)], len(every)
        samples = len(self.outcome)
        scale = np.sqrt(samples / max(1, samples - 1 - used))
        self.coefficients = own
        self.residual = (self.outcome - fitted) * scale
        self.additive = self.outcome - columns @ own


def fit_all(
    bits: PerturbedSamples, outcomes: Sequence[tuple[NDArray[np.int64], Vector]]
) -> list[Fit]:
    """Fit each outcome ``[n]`` by those of its candidate columns that stand out."""
    fits = [Fit(columns, outcome) for columns, outcome in outcomes]
    growing = fits
    for _ in range(_ROUNDS):
        if not growing:
            break
        sums = bits.sums(np.stack([each.residual for each in growing], axis=1))
        still = []
        for each, its in zip(growing, sums.T, strict=True):
            new = each.stand_out(bits, its)
            if len(new):
                each.active = np.append(each.active, new)
                each.solve(bits, with_pairs=False)
                still.append(each)
        growing = still
    for each in fits:
        if len(each.active) > 1:
            each.solve(bits, with_pairs=True)
    return fits


def _pairs(columns: Vector, residual: Vector, coefficients: Vector) -> Vector:
    """Products of two of the strongest columns, those that explain what is left."""
    strongest = np.argsort(-abs(coefficients), kind="stable")[:_IN_PAIRS]
    left, right = np.triu_indices(len(strongest), 1)
    products = columns[:, strongest[left]] * columns[:, strongest[right]]
    products -= products.mean(axis=0)
    size = np.einsum("ij,ij->j", products, products) * np.mean(residual**2)
    scores = (residual @ products) ** 2
    return products[:, scores > _STANDS_OUT**2 * np.maximum(size, 1e-300)]


def _least_squares(design: Vector, outcome: Vector) -> Vector:
    """Through the normal equations, which are well conditioned: the coins are independent."""
    gram = design.T @ design
    gram.flat[:: len(gram) + 1] += 1e-9 * (1 + gram[0, 0])
    return np.asarray(np.linalg.solve(gram, design.T @ outcome))
