"""Least squares of outcomes on which nodes are perturbed, for any number of nodes.

The coins are independent of each other, so the coefficient of a node is its average effect over
random states of all the others, whatever the model looks like; adjusting for the others only
removes noise. Nodes that hardly matter would add noise instead, so only those that stand out are
adjusted for.

Products of the strongest, two by two, remove more noise, and tests use that. Effects and their
intervals do not: what three nodes do together is hardly ever sampled by default, and with products
the intervals would be as narrow as if it were known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .bits import PerturbedSamples
from .randomization import OpenTests

__all__ = ["Fit", "fit_all"]

Vector = NDArray[np.float64]

_ROUNDS = 4
_STANDS_OUT = _IN_QUESTION = 3.0
_BY_CHANCE = 0.02
"""How likely it may be that any node that does nothing is adjusted for. What stands out of skewed
samples by chance would explain them too well, and make others significant."""
_SHARE_OF_SAMPLES = 0.1
"""At most one adjusted node for ten samples: more would fit noise."""
_IN_PAIRS = 6


@dataclass(frozen=True)
class Fit:
    """An outcome, what it was adjusted for, and what that left.

    Attributes:
        columns: the candidates, as columns of the perturbed samples.
        active: those of them that were adjusted for.
        coefficients: one for each of these.
        residual: what the fit does not explain, ``[n]``, scaled up for the terms it used.
    """

    columns: NDArray[np.int64]
    active: NDArray[np.int64]
    coefficients: Vector
    residual: Vector


def fit_all(
    bits: PerturbedSamples,
    outcomes: Sequence[tuple[NDArray[np.int64], Vector]],
    probability: float,
) -> list[tuple[Fit, Fit]]:
    """Fit each outcome ``[n]`` by those of its candidate columns that stand out.

    Returns:
        Of each outcome the fit by these alone, and the fit by these and pairs of the strongest.
    """
    growing = [_Growing(columns, _centred(outcome)) for columns, outcome in outcomes]
    waiting = growing
    for _ in range(_ROUNDS):
        if not waiting:
            break
        sums = bits.sums(np.stack([each.fit.residual for each in waiting], axis=1))
        tests = OpenTests(probability)
        for each, its in zip(waiting, sums.T, strict=True):
            each.test(bits, its, probability, tests)
        tests.close()
        waiting = [each for each in waiting if each.grow(bits)]
    return [each.with_pairs(bits) for each in growing]


class _Growing:
    """A fit that grows by the columns that stand out from what it leaves."""

    def __init__(self, columns: NDArray[np.int64], outcome: Vector) -> None:
        self._outcome = outcome
        self.fit = Fit(columns, columns[:0], np.empty(0), outcome)
        self._some = columns[:0]
        self._log_p = np.empty(0)

    def test(
        self, bits: PerturbedSamples, sums: Vector, probability: float, tests: OpenTests
    ) -> None:
        """Have the columns tested that may stand out, given each column's sum of the residual."""
        columns, residual = self.fit.columns, self.fit.residual
        coin = probability * (1 - probability)
        noise = coin * float(residual @ residual)
        self._some = columns[sums[columns] ** 2 > _IN_QUESTION**2 * noise]
        if len(self.fit.active):
            self._some = self._some[~np.isin(self._some, self.fit.active)]
        self._log_p = np.zeros(len(self._some))
        everywhere = np.arange(len(self._some))
        tests.add(self._log_p, everywhere, sums[self._some], residual[None])

    def grow(self, bits: PerturbedSamples) -> bool:
        """Adjust for the columns that stand out; say whether there were any."""
        active = self.fit.active
        room = max(1, int(_SHARE_OF_SAMPLES * bits.num_samples)) - len(active)
        new = np.flatnonzero(self._log_p < np.log(_BY_CHANCE / max(1, len(self.fit.columns))))
        new = new[np.argsort(self._log_p[new], kind="stable")][: max(0, room)]
        if not len(new):
            return False
        active = np.append(active, self._some[new])
        self.fit = _solved(self._design(bits, active), self._outcome, self.fit.columns, active)
        return True

    def with_pairs(self, bits: PerturbedSamples) -> tuple[Fit, Fit]:
        """Return the fit, and the fit that pairs of its strongest columns improve."""
        alone = self.fit
        if len(alone.active) < 2:
            return alone, alone
        design = self._design(bits, alone.active)
        pairs = _pairs(design, alone.residual, alone.coefficients)
        if not pairs.shape[1]:
            return alone, alone
        design = np.concatenate((design, pairs), axis=1)
        return alone, _solved(design, self._outcome, alone.columns, alone.active)

    def _design(self, bits: PerturbedSamples, active: NDArray[np.int64]) -> Vector:
        return np.asarray(bits.dense(active) - bits.count[active] / bits.num_samples)


def _centred(outcome: Vector) -> Vector:
    """The outcome less its mean; nothing at all where it is constant, whatever rounding leaves."""
    if np.ptp(outcome) == 0:
        return np.zeros_like(outcome)
    return outcome - outcome.mean()


def _solved(
    design: Vector, outcome: Vector, columns: NDArray[np.int64], active: NDArray[np.int64]
) -> Fit:
    coefficients = _least_squares(design, outcome)
    left = max(1, len(outcome) - 1 - design.shape[1])
    residual = (outcome - design @ coefficients) * np.sqrt(len(outcome) / left)
    return Fit(columns, active, coefficients[: len(active)], residual)


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
