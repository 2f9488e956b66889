"""Least squares of an outcome on which parts are perturbed, for any number of parts.

The coins are independent of each other, so the coefficient of a part is its average effect over
random states of all the others, whatever the model looks like; adjusting for the others only
removes noise. Parts that hardly matter would add noise instead, so only those that stand out
are adjusted for.

Products of the strongest two by two remove more noise, and tests use that. Effects and their
intervals do not: what three parts do together is hardly ever sampled by default, and with products
the intervals would be as narrow as if it were known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .bits import PerturbedSamples
from .randomization import atoms, log_tails

__all__ = ["Fit", "fit"]

Vector = NDArray[np.float64]

_ROUNDS = 4
_STANDS_OUT = 3.0
_BY_CHANCE = 0.1
"""How likely it may be that any part that does nothing is adjusted for. What stands out in skewed
samples by chance would explain them too well, and make others significant."""
_SHARE_OF_SAMPLES = 0.1
"""At most one adjusted part for ten samples: more would fit noise."""
_IN_PAIRS = 6


@dataclass(frozen=True)
class Fit:
    """What was adjusted for, and what it left.

    Attributes:
        active: the columns that were adjusted for.
        coefficients: one for each of them.
        residual: what they do not explain, ``[n]``, scaled up for the terms that were used.
    """

    active: NDArray[np.int64]
    coefficients: Vector
    residual: Vector


def fit(bits: PerturbedSamples, outcome: Vector, probability: float) -> tuple[Fit, Fit]:
    """Fit an outcome ``[n]`` by the parts that stand out: by them alone, and with pairs."""
    most = max(1, int(_SHARE_OF_SAMPLES * len(outcome)))
    centred = outcome - outcome.mean()
    active = np.empty(0, dtype=np.int64)
    alone = paired = Fit(active, np.empty(0), centred)
    for _ in range(_ROUNDS):
        log_p = _chances(bits, paired.residual, probability)
        log_p[active] = 0
        new = np.flatnonzero(log_p < np.log(_BY_CHANCE / len(bits)))
        new = new[np.lexsort((new, log_p[new]))][: most - len(active)]
        if not len(new):
            break
        active = np.append(active, new)
        alone, paired = _solve(bits.dense(active), centred, active)
    return alone, paired


def _chances(bits: PerturbedSamples, residual: Vector, probability: float) -> Vector:
    """The log p-value of each column that stands out; 0 of the others."""
    scores = bits.sums(residual[:, None])[:, 0]
    noise = np.sqrt(probability * (1 - probability) * (residual**2).sum())
    log_p = np.zeros(len(bits))
    some = np.flatnonzero(abs(scores) > _STANDS_OUT * noise)
    log_p[some] = log_tails(scores[some], *atoms(residual), probability)
    return log_p


def _solve(columns: Vector, centred: Vector, active: NDArray[np.int64]) -> tuple[Fit, Fit]:
    columns = columns - columns.mean(axis=0)
    alone = _solve_one(columns, centred, active)
    pairs = _pairs(columns, alone.residual, alone.coefficients)
    if not pairs.shape[1]:
        return alone, alone
    return alone, _solve_one(np.concatenate((columns, pairs), axis=1), centred, active)


def _solve_one(design: Vector, centred: Vector, active: NDArray[np.int64]) -> Fit:
    coefficients = _least_squares(design, centred)
    left = max(1, len(centred) - 1 - design.shape[1])
    residual = (centred - design @ coefficients) * np.sqrt(len(centred) / left)
    return Fit(active, coefficients[: len(active)], residual)


def _pairs(columns: Vector, residual: Vector, coefficients: Vector) -> Vector:
    """Products of two of the strongest columns, those that explain what is left."""
    contribution = abs(coefficients) * np.sqrt((columns**2).sum(axis=0))
    strongest = np.sort(np.argsort(-contribution, kind="stable")[:_IN_PAIRS])
    left, right = np.triu_indices(len(strongest), 1)
    products = columns[:, strongest[left]] * columns[:, strongest[right]]
    products = products - products.mean(axis=0)
    size = (products**2).sum(axis=0) * np.mean(residual**2)
    scores = abs(residual @ products)
    return products[:, scores > _STANDS_OUT * np.sqrt(np.maximum(size, 1e-300))]


def _least_squares(design: Vector, outcome: Vector) -> Vector:
    """Through the normal equations, which are well conditioned: the coins are independent."""
    gram = design.T @ design
    gram[np.diag_indices_from(gram)] += 1e-9 * np.trace(gram) / max(1, len(gram))
    return np.asarray(np.linalg.solve(gram, design.T @ outcome))
