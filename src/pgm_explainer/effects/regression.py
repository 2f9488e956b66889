"""Least squares of an outcome on which parts are perturbed, for any number of parts.

The coins are independent of each other, so the coefficient of a part is its average effect over
random states of all the others, whatever the model looks like; adjusting for the others only
removes noise. Parts that hardly matter would add noise instead, so only those that stand out
(and products of the strongest two by two) are adjusted for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .bits import PerturbedSamples

__all__ = ["Fit", "fit"]

Vector = NDArray[np.float64]

_ROUNDS = 4
_STANDS_OUT = 3.0
_SHARE_OF_SAMPLES = 0.1
"""At most one adjusted part for ten samples: more would fit noise."""
_IN_PAIRS = 6


@dataclass(frozen=True)
class Fit:
    """What was adjusted for, and what it left.

    Attributes:
        active: the columns that were adjusted for.
        coefficients: one for each of them.
        residual: what the fit does not explain, ``[n]``, scaled up for the terms it used.
        additive: what the columns alone, without pairs, do not explain, ``[n]``.
    """

    active: NDArray[np.int64]
    coefficients: Vector
    residual: Vector
    additive: Vector


def fit(bits: PerturbedSamples, outcome: Vector) -> Fit:
    """Fit an outcome ``[n]`` by the parts that stand out, and pairs of the strongest."""
    samples = len(outcome)
    most = max(1, int(_SHARE_OF_SAMPLES * samples))
    centred = outcome - outcome.mean()
    variance = _variances(bits)
    active = np.empty(0, dtype=np.int64)
    found = Fit(active, np.empty(0), centred, centred)
    threshold = max(_STANDS_OUT, float(np.sqrt(2 * np.log(max(1, len(bits))))))
    for _ in range(_ROUNDS):
        scores = bits.sums(found.residual[:, None])[:, 0]
        noise = np.sqrt(variance * np.mean(found.residual**2))
        z = np.divide(abs(scores), noise, out=np.zeros(len(bits)), where=noise > 0)
        z[active] = 0
        new = np.flatnonzero(z > threshold)
        new = new[np.lexsort((new, -z[new]))][: most - len(active)]
        if not len(new):
            break
        active = np.append(active, new)
        found = _solve(bits.dense(active), centred, active)
    return found


def _variances(bits: PerturbedSamples) -> Vector:
    """The sum of squares of each centred column."""
    return bits.count * (1 - bits.count / bits.num_samples)


def _solve(columns: Vector, centred: Vector, active: NDArray[np.int64]) -> Fit:
    columns = columns - columns.mean(axis=0)
    coefficients = _least_squares(columns, centred)
    pairs = _pairs(columns, centred - columns @ coefficients, coefficients)
    design = np.concatenate((columns, pairs), axis=1)
    if pairs.shape[1]:
        coefficients = _least_squares(design, centred)
    left = max(1, len(centred) - 1 - design.shape[1])
    residual = (centred - design @ coefficients) * np.sqrt(len(centred) / left)
    own = coefficients[: len(active)]
    return Fit(active, own, residual, centred - columns @ own)


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
