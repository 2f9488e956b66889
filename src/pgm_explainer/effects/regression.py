"""Least-squares regression of outcomes on perturbation bits, for any number of nodes.

A perturbation bit is 1 if a node is perturbed in a sample, else 0. Bits are independent, so the
coefficient of a node is its effect, averaged over random perturbations of all other nodes; this
holds for any model. Including other nodes in the fit (adjusting for them) only removes noise. Nodes
without an effect would add noise, so only nodes that stand out are included.

Including products of pairs of the strongest nodes removes more noise. Tests use these products, but
effects and their intervals do not: joint perturbations of three nodes are rarely sampled, and the
intervals would be too narrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .designs import CELLS_AT_ONCE, Design, PerturbedSamples, joint_sums
from .randomization import outcome_log_tails

__all__ = ["Cells", "Fit", "StackedFits", "fit_all"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]

_ROUNDS = 4
_STANDS_OUT = _IN_QUESTION = 3.0
_BY_CHANCE = 0.02
"""The probability that at least one node without an effect is adjusted for. It is small because, in
skewed samples, such a node would explain too much and make other nodes significant."""
_SHARE_OF_SAMPLES = 0.1
"""At most one node per ten samples is adjusted for, to avoid overfitting."""
_IN_PAIRS = 6


@dataclass(frozen=True)
class Fit:
    """A least-squares fit of an outcome.

    Attributes:
        columns: the candidates, as columns of the perturbed samples.
        active: the candidates that were adjusted for.
        coefficients: the coefficient of each active column.
        residual: the residual ``[n]``, scaled up to correct for the degrees of freedom of the fit.
    """

    columns: Integers
    active: Integers
    coefficients: Vector
    residual: Vector


def fit_all(
    bits: PerturbedSamples,
    outcomes: Sequence[tuple[Integers, Vector]],
    probability: float,
) -> list[tuple[Fit, Fit]]:
    """Fit each outcome ``[n]`` with those of its candidate columns that stand out.

    Returns:
        For each outcome, the fit with these columns, and the fit with pairs of the strongest added.
    """
    fits = _Fits(bits, outcomes)
    waiting = np.arange(len(outcomes))
    for _ in range(_ROUNDS):
        waiting = fits.grow(waiting, probability)
        if not len(waiting):
            break
    return list(zip(fits.fits, fits.with_pairs(), strict=True))


class _Fits:
    """Fits to which columns are added if they are clearly correlated with the residual.

    Fits of the same size are solved in one batch. The result of a fit does not depend on the other
    fits, not even by rounding.
    """

    def __init__(self, bits: PerturbedSamples, outcomes: Sequence[tuple[Integers, Vector]]) -> None:
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

    def grow(self, waiting: Integers, probability: float) -> Integers:
        """Add the columns that stand out; return the fits that changed."""
        residual = np.stack([self.fits[number].residual for number in waiting])
        sums = self._bits.sums(residual).T
        noise = probability * (1 - probability) * np.einsum("kn,kn->k", residual, residual)
        in_question = sums**2 > _IN_QUESTION**2 * noise[:, None]
        row, column = np.nonzero(in_question & self._open[waiting])
        log_p = outcome_log_tails(sums[row, column], residual, row, probability)
        stands_out = log_p < self._log_level[waiting][row]
        order = np.lexsort((log_p, row))
        order = order[stands_out[order]]
        ends = np.searchsorted(row[order], np.arange(len(waiting) + 1))
        active: dict[int, Integers] = {}
        for at in np.flatnonzero(np.diff(ends)).tolist():
            number = int(waiting[at])
            before = self.fits[number].active
            left = max(1, int(_SHARE_OF_SAMPLES * self._bits.num_samples)) - len(before)
            new = column[order[ends[at] : ends[at + 1]]][: max(0, left)]
            if len(new):
                self._open[number, new] = False
                active[number] = np.append(before, new)
        for group in self._same_size(list(active), [len(each) for each in active.values()]):
            columns = np.stack([active[number] for number in group])
            solved = _least_squares(self._bits, columns, columns, self._outcomes[group])
            for number, chosen, *found in zip(group, columns, *solved, strict=True):
                self.fits[number] = Fit(self.fits[number].columns, chosen, *found)
        return np.array(list(active), dtype=np.int64)

    def with_pairs(self) -> list[Fit]:
        """Return the fits with products of pairs of their strongest columns added."""
        improved = list(self.fits)
        several = [at for at, fit in enumerate(self.fits) if len(fit.active) > 1]
        terms: dict[int, Integers] = {}
        in_pairs = [min(_IN_PAIRS, len(self.fits[at].active)) for at in several]
        for group in self._same_size(several, in_pairs):
            found = _useful_pairs(self._bits, [self.fits[at] for at in group])
            for at, pairs in zip(group, found, strict=True):
                if len(pairs):
                    singles = np.arange(len(self.fits[at].active))
                    terms[at] = np.concatenate((np.stack((singles, singles)), pairs), axis=1)
        for group in self._same_size(list(terms), [each.shape[1] for each in terms.values()]):
            fits = [self.fits[at] for at in group]
            columns = np.stack([fit.active[terms[at]] for at, fit in zip(group, fits, strict=True)])
            solved = _least_squares(self._bits, columns[:, 0], columns[:, 1], self._outcomes[group])
            coefficients = _of_centred(
                np.stack([terms[at] for at in group]), self._bits.mean[columns], solved[0]
            )
            for at, fit, slopes, residual in zip(group, fits, coefficients, solved[1], strict=True):
                improved[at] = Fit(fit.columns, fit.active, slopes[: len(fit.active)], residual)
        return improved

    def _same_size(self, numbers: Sequence[int], sizes: Sequence[Any]) -> Iterator[list[int]]:
        """Group fits of the same size into batches that are solved at once."""
        groups: dict[Any, list[int]] = {}
        for number, size in zip(numbers, sizes, strict=True):
            groups.setdefault(size, []).append(number)
        for size, members in groups.items():
            cells = int(np.sum(size)) * self._bits.num_samples
            step = max(1, CELLS_AT_ONCE // cells)
            for start in range(0, len(members), step):
                yield members[start : start + step]


def _centred(outcome: Vector) -> Vector:
    """Return the outcome minus its mean; exactly zero if it is constant."""
    if np.ptp(outcome) == 0:
        return np.zeros_like(outcome)
    return outcome - outcome.mean()


def _useful_pairs(bits: PerturbedSamples, fits: Sequence[Fit]) -> list[Integers]:
    """Return, for each fit, the pairs of strong columns whose product explains the residual.

    Args:
        bits: the samples in which each node is perturbed.
        fits: fits with the same number of strong columns.

    Returns:
        The positions ``[2, pairs]`` among the active columns, for each fit.
    """
    strongest = np.stack(
        [np.argsort(-abs(fit.coefficients), kind="stable")[:_IN_PAIRS] for fit in fits]
    )
    columns = np.stack([fit.active[top] for fit, top in zip(fits, strongest, strict=True)])
    residual = np.stack([fit.residual for fit in fits])
    counts, sums = joint_sums(bits, columns, [residual])
    left, right = np.triu_indices(columns.shape[1], 1)
    both, mean = counts[:, left, right], bits.mean[columns]
    one, other, num_samples = mean[:, left], mean[:, right], bits.num_samples
    # Moments of the product of two centred bits. The square of a centred bit is linear in the bit:
    # (1 - 2 * mean) * bit + mean**2.
    total = both - num_samples * one * other
    size = (1 - 2 * one) * (1 - 2 * other) * both + num_samples * one * other * (
        one + other - 3 * one * other
    )
    size -= total**2 / num_samples
    noise = np.einsum("fn,fn->f", residual, residual)[:, None] / num_samples
    # The residual is uncorrelated with single bits, so only the product of both bits matters.
    useful = sums[:, left, right] ** 2 > _STANDS_OUT**2 * np.maximum(size * noise, 1e-300)
    return [
        np.stack((top[left[some]], top[right[some]]))
        for top, some in zip(strongest, useful, strict=True)
    ]


def _least_squares(
    bits: PerturbedSamples, first: Integers, second: Integers, outcomes: Vector
) -> tuple[Vector, Vector]:
    """Solve the normal equations, which are well conditioned because bits are independent.

    Args:
        bits: the samples in which each node is perturbed.
        first, second: the columns of the terms ``[fits, m]``; see :class:`Design`.
        outcomes: ``[fits, n]``, with a mean of zero.

    Returns:
        Coefficients ``[fits, m]`` and residuals ``[fits, n]``, scaled for degrees of freedom.
    """
    (fits, terms), count = first.shape, bits.num_samples
    design = Design(bits, first, second)
    gram, moments = np.zeros((fits, terms, terms)), np.zeros((fits, terms, 1))
    for samples, part in design:
        gram += part @ part.swapaxes(1, 2)
        moments += part @ outcomes[:, samples, None]
    every = np.arange(terms)
    # Contiguous, because the rounding of a sum depends on the memory layout.
    mean = np.ascontiguousarray(gram[:, every, every]) / count
    gram -= count * mean[:, :, None] * mean[:, None, :]
    gram[:, every, every] += 1e-9 * (1 + gram[:, :1, 0])
    coefficients = np.linalg.solve(gram, moments)
    # A plain sum: a product of BLAS may round differently with the position in memory.
    constant = (mean * coefficients[:, :, 0]).sum(axis=1)
    residual = np.empty_like(outcomes)
    for samples, part in design:
        fitted = (coefficients.swapaxes(1, 2) @ part)[:, 0] - constant[:, None]
        residual[:, samples] = outcomes[:, samples] - fitted
    residual *= np.sqrt(count / max(1, count - 1 - terms))
    return np.asarray(coefficients[:, :, 0]), residual


def _of_centred(terms: Integers, mean: Vector, coefficients: Vector) -> Vector:
    """Return the coefficients that single bits would have if the bits in products were centred.

    The coefficient of a bit is then its effect, averaged over random perturbations of the others.

    Args:
        terms: the positions of the two bits of each term, ``[fits, 2, m]``.
        mean: the means of these bits.
        coefficients: ``[fits, m]``.
    """
    fit, at = np.nonzero(terms[:, 0] != terms[:, 1])
    centred = coefficients.copy()
    for one, other in ((0, 1), (1, 0)):
        share = coefficients[fit, at] * mean[fit, other, at]
        np.add.at(centred, (fit, terms[fit, one, at]), share)
    return centred


class StackedFits:
    """Several fits as arrays.

    Attributes:
        residual: the residual of each fit, ``[fits, n]``.
        mean: the mean of each residual.
        row, column, coefficient: for every fitted column of all fits, the index of its fit, the
            column and its coefficient.
    """

    def __init__(self, fits: Sequence[Fit]) -> None:
        self.residual = np.stack([fit.residual for fit in fits])
        self.mean = self.residual.mean(axis=1)
        self.row: Integers = np.repeat(np.arange(len(fits)), [len(fit.active) for fit in fits])
        self.column: Integers = np.concatenate([fit.active for fit in fits])
        self.coefficient = np.concatenate([fit.coefficients for fit in fits])


class Cells:
    """One entry, called a cell, for each pair of a prediction and one of its candidates.

    Attributes:
        columns: the candidates of each prediction, ascending, as columns of the perturbed samples.
        row: the index of the prediction of each cell.
        column: the candidate of each cell.
        slices: the cells of each prediction.
    """

    def __init__(self, columns: Sequence[Integers], num_columns: int) -> None:
        self.columns = columns
        sizes = np.array([len(each) for each in columns])
        self.row: Integers = np.repeat(np.arange(len(columns)), sizes)
        self.column: Integers = np.concatenate(columns)
        ends = np.cumsum(sizes)
        self.slices = [
            slice(start, end)
            for start, end in zip((ends - sizes).tolist(), ends.tolist(), strict=True)
        ]
        self._width = num_columns

    def of_fits(self, fits: StackedFits, first: int) -> tuple[Integers, Integers]:
        """Return the cells of the fitted columns, and the index of each column in ``fits``.

        Args:
            fits: several fits; those from ``first`` on belong to the predictions, in order.
        """
        row = fits.row - first
        active = np.flatnonzero((row >= 0) & (row < len(self.columns)))
        wanted = row[active] * self._width + fits.column[active]
        return np.searchsorted(self.row * self._width + self.column, wanted), active
