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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .bits import PerturbedSamples
from .randomization import outcome_log_tails

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
_CELLS_AT_ONCE = 1 << 21


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
    fits = _Fits(bits, outcomes)
    waiting = np.arange(len(outcomes))
    for _ in range(_ROUNDS):
        waiting = fits.grow(waiting, probability)
        if not len(waiting):
            break
    return list(zip(fits.fits, fits.with_pairs(), strict=True))


class _Fits:
    """Fits that grow by the columns that stand out from what they leave.

    Fits of the same size are solved together. Each has the same bits alone and among others.
    """

    def __init__(
        self, bits: PerturbedSamples, outcomes: Sequence[tuple[NDArray[np.int64], Vector]]
    ) -> None:
        self._bits = bits
        self._outcomes = np.stack([_centred(outcome) for _, outcome in outcomes])
        self._open = np.zeros((len(outcomes), len(bits)), dtype=bool)
        for row, (columns, _) in zip(self._open, outcomes, strict=True):
            row[columns] = True
        chance = _BY_CHANCE / np.maximum(1, [len(columns) for columns, _ in outcomes])
        self._log_level = np.log(chance)
        self.fits = [
            Fit(columns, columns[:0], np.empty(0), outcome)
            for (columns, _), outcome in zip(outcomes, self._outcomes, strict=True)
        ]

    def grow(self, waiting: NDArray[np.int64], probability: float) -> NDArray[np.int64]:
        """Adjust for the columns that stand out; return the fits that there were any for."""
        residual = np.stack([self.fits[number].residual for number in waiting])
        sums = self._bits.sums(residual.T).T
        noise = probability * (1 - probability) * np.einsum("kn,kn->k", residual, residual)
        in_question = sums**2 > _IN_QUESTION**2 * noise[:, None]
        row, column = np.nonzero(in_question & self._open[waiting])
        log_p = outcome_log_tails(sums[row, column], residual, row, probability)
        stands_out = log_p < self._log_level[waiting][row]
        order = np.lexsort((log_p, row))
        order = order[stands_out[order]]
        ends = np.searchsorted(row[order], np.arange(len(waiting) + 1))
        grown, active = [], []
        for at in np.flatnonzero(np.diff(ends)).tolist():
            number = int(waiting[at])
            before = self.fits[number].active
            room = max(1, int(_SHARE_OF_SAMPLES * self._bits.num_samples)) - len(before)
            new = column[order[ends[at] : ends[at + 1]]][: max(0, room)]
            if len(new):
                self._open[number, new] = False
                grown.append(number)
                active.append(np.append(before, new))
        for group in self._alike(grown, active):
            numbers = [grown[at] for at in group]
            columns = np.stack([active[at] for at in group])
            solved = _least_squares(self._design(columns), self._outcomes[numbers])
            for number, its, *found in zip(numbers, columns, *solved, strict=True):
                self.fits[number] = Fit(self.fits[number].columns, its, *found)
        return np.array(grown, dtype=np.int64)

    def with_pairs(self) -> list[Fit]:
        """Return the fits, improved by pairs of their strongest columns."""
        improved = list(self.fits)
        numbers = [at for at, fit in enumerate(self.fits) if len(fit.active) > 1]
        for group in self._alike(numbers, [self.fits[number].active for number in numbers]):
            some = [numbers[at] for at in group]
            fits = [self.fits[number] for number in some]
            design = self._design(np.stack([fit.active for fit in fits]))
            pairs, useful = _pairs(
                design,
                np.stack([fit.residual for fit in fits]),
                np.stack([fit.coefficients for fit in fits]),
            )
            some_useful = np.flatnonzero(useful.any(axis=1))
            both = np.concatenate((design[some_useful], pairs[some_useful]), axis=1)
            outcomes = self._outcomes[[some[at] for at in some_useful]]
            unused = (~useful[some_useful]).sum(axis=1)
            solved = _least_squares(both, outcomes, unused)
            for at, coefficients, residual in zip(some_useful.tolist(), *solved, strict=True):
                fit = fits[at]
                own = coefficients[: len(fit.active)]
                improved[some[at]] = Fit(fit.columns, fit.active, own, residual)
        return improved

    def _design(self, columns: NDArray[np.int64]) -> Vector:
        """The centred bits ``[fits, m, n]`` of columns ``[fits, m]``."""
        return self._bits.centred(columns.ravel()).reshape(*columns.shape, -1)

    def _alike(
        self, numbers: Sequence[int], active: Sequence[NDArray[np.int64]]
    ) -> Iterator[list[int]]:
        """Positions of fits with as many active columns, few enough to solve at once."""
        groups: dict[int, list[int]] = {}
        for at in range(len(numbers)):
            groups.setdefault(len(active[at]), []).append(at)
        for size, members in groups.items():
            terms = size + _IN_PAIRS * (_IN_PAIRS - 1) // 2
            step = max(1, _CELLS_AT_ONCE // (terms * self._bits.num_samples))
            for start in range(0, len(members), step):
                yield members[start : start + step]


def _centred(outcome: Vector) -> Vector:
    """The outcome less its mean; nothing at all where it is constant, whatever rounding leaves."""
    if np.ptp(outcome) == 0:
        return np.zeros_like(outcome)
    return outcome - outcome.mean()


def _pairs(
    design: Vector, residual: Vector, coefficients: Vector
) -> tuple[Vector, NDArray[np.bool_]]:
    """Products of two of the strongest columns, and which of them explain what is left.

    Args:
        design: columns ``[fits, m, n]``.
        residual: what is left, ``[fits, n]``.
        coefficients: of the columns, ``[fits, m]``.

    Returns:
        Products ``[fits, pairs, n]``, 0 if they explain nothing, and which do, ``[fits, pairs]``.
    """
    strongest = np.argsort(-abs(coefficients), axis=1, kind="stable")[:, :_IN_PAIRS]
    left, right = np.triu_indices(strongest.shape[1], 1)
    chosen = np.take_along_axis(design, strongest[:, :, None], axis=1)
    products = chosen[:, left] * chosen[:, right]
    products -= products.mean(axis=2, keepdims=True)
    size = np.einsum("fpn,fpn->fp", products, products)
    size *= np.einsum("fn,fn->f", residual, residual)[:, None] / residual.shape[1]
    scores = np.einsum("fpn,fn->fp", products, residual) ** 2
    useful = scores > _STANDS_OUT**2 * np.maximum(size, 1e-300)
    products *= useful[:, :, None]
    return products, useful


def _least_squares(
    design: Vector, outcomes: Vector, unused: NDArray[np.int64] | int = 0
) -> tuple[Vector, Vector]:
    """Through the normal equations, which are well conditioned: the coins are independent.

    Args:
        design: columns ``[fits, m, n]``.
        outcomes: ``[fits, n]``.
        unused: how many columns of each are zero.

    Returns:
        Coefficients ``[fits, m]`` and residuals ``[fits, n]``, scaled up for the columns used.
    """
    terms, count = design.shape[1:]
    gram = design @ design.swapaxes(1, 2)
    every = np.arange(terms)
    gram[:, every, every] += 1e-9 * (1 + gram[:, :1, 0])
    coefficients = np.linalg.solve(gram, design @ outcomes[:, :, None])
    left = np.maximum(1, count - 1 - terms + np.asarray(unused))
    residual = outcomes - (coefficients.swapaxes(1, 2) @ design)[:, 0]
    residual *= np.sqrt(count / left).reshape(-1, 1)
    return np.asarray(coefficients[:, :, 0]), residual
