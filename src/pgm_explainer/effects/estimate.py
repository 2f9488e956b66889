"""Estimation of the effects of perturbing each node, and whether they are precise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray, check_name
from ..sampling import SampleTable
from ..sampling.config import check_samples
from ..sampling.samples import Outcome
from ..significance import SignificanceConfig
from .designs import PerturbedSamples
from .pairs import Candidates, pair_effects
from .randomization import atoms, interval_sides, log_tails, normal_log_p, outcome_log_tails
from .regression import Cells, StackedFits, fit_all
from .strengths import broken_ties, movements, strengths
from .table import Effects, PairEffect

__all__ = ["STAGES", "EffectProblem", "are_precise", "estimate_effects", "margin", "sample_stages"]

Vector = NDArray[np.float64]

STAGES = (500, 1000, 2000, 4000, 8000)
"""The numbers of samples that ``num_samples="auto"`` tries, in order."""
_LEADING = 5
_SHARE = 0.2
_POINT = 0.01

_IN_QUESTION = 2.0
"""Below this z-score no effect is significant, and the p-value of a normal test is good enough."""
_IN_PAIRS = 6
_CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class EffectProblem:
    """One estimation problem: the effects of some nodes (ascending) on one prediction."""

    nodes: IntArray
    outcome: Outcome


def estimate_effects(
    table: SampleTable,
    problems: Sequence[EffectProblem],
    probability: float,
    significance: SignificanceConfig,
) -> list[Effects]:
    """Estimate the effects on some predictions from one set of samples.

    *Effects* are the coefficients of a least-squares fit of the change of the prediction. Their
    intervals invert a randomisation test. *Movements* are the coefficients of a
    second fit, of the squared ranks of the absolute changes, so that a few large changes do not
    dominate. *Strengths* combine them with effects and sizes of changes (:mod:`.strengths`).
    *P-values* are those of a randomisation test (:mod:`.randomization`). The fit with the larger
    z-score is tested, and the p-value is doubled to correct for that choice.

    The result for a prediction does not depend on the other predictions.

    Args:
        table: the samples.
        problems: the nodes and the prediction, for each target.
        probability: the probability that a node is perturbed in a sample.
        significance: significance level and correction.
    """
    union = np.unique(np.concatenate([each.nodes for each in problems]))
    bits = PerturbedSamples(table, table.columns(union))
    changes = np.stack([each.outcome.change for each in problems])
    ties = {
        at: broken_ties(abs(changes[at]), each.outcome.log_odds)
        for at, each in enumerate(problems)
        if each.outcome.log_odds is not None
    }
    scales = _scales(changes)
    changes /= scales[:, None]
    cells = Cells([np.searchsorted(union, each.nodes) for each in problems], len(union))
    sizes = abs(changes)
    signed = list(zip(cells.columns, changes, strict=True))
    moved = list(zip(cells.columns, movements(sizes), strict=True))
    fits = fit_all(bits, [*signed, *moved], probability)
    alone = StackedFits([fit for fit, _ in fits[: len(problems)]])
    paired = StackedFits([fit for _, fit in fits])
    del fits, signed, moved  # arrays with a number per sample: with many samples they are large
    values = (paired.residual, alone.residual, alone.residual**2)
    rows = [row for some in values for row in some]
    sums = np.split(bits.sums(rows), np.cumsum([len(some) for some in values])[:-1], 1)
    del values, rows, changes
    log_p = _log_p_values(bits, cells, paired, sums[0], probability)
    effect = _coefficients(bits, cells, alone, sums[1], 0)
    below, above = interval_sides(bits, cells, alone, sums[2], probability)
    low, high = effect - below, effect + above
    movement = _coefficients(bits, cells, paired, sums[0], len(problems))
    strength = strengths(bits, cells, paired, sizes, ties, movement, low, high, probability)
    for each in (effect, low, high):
        each *= scales[cells.row]
    found = []
    for problem, span in zip(problems, cells.slices, strict=True):
        passed = significance.passed(log_p[span])
        columns = (effect[span], low[span], high[span], strength[span], log_p[span], passed)
        found.append(_table(problem.nodes, *columns))
    outcomes = [each.outcome for each in problems]
    pairs = _pairs(bits, alone, union, found, outcomes, scales, probability, significance)
    return [
        replace(each, pairs=own_pairs) if own_pairs else each
        for each, own_pairs in zip(found, pairs, strict=True)
    ]


def _scales(changes: Vector) -> Vector:
    """Return the largest change in each row. Changes divided by it can be squared safely."""
    scales = abs(changes).max(axis=1)
    return np.where(scales > 0, scales, 1.0)


def _table(
    nodes: IntArray,
    effect: Vector,
    low: Vector,
    high: Vector,
    strength: Vector,
    log_p: Vector,
    found: NDArray[np.bool_],
) -> Effects:
    """Return the effects, sorted by strength."""
    order = np.lexsort((nodes, -abs(effect), -strength))
    return Effects(
        nodes[order],
        effect[order],
        low[order],
        high[order],
        strength[order],
        log_p[order],
        found[order],
    )


def _pairs(
    bits: PerturbedSamples,
    alone: StackedFits,
    union: IntArray,
    found: Sequence[Effects],
    outcomes: Sequence[Outcome],
    scales: Vector,
    probability: float,
    significance: SignificanceConfig,
) -> list[tuple[PairEffect, ...]]:
    """Return the pair effects among the strongest nodes of each prediction."""
    strongest = [np.flatnonzero(each.significant)[:_IN_PAIRS] for each in found]
    every = zip(found, strongest, alone.residual, scales, outcomes, strict=True)
    candidates = [
        Candidates(
            each.nodes[top],
            np.searchsorted(union, each.nodes[top]),
            each.effect[top],
            residual,
            float(scale),
            outcome.values if outcome.class_stayed is not None else None,
        )
        for each, top, residual, scale, outcome in every
    ]
    return pair_effects(bits, candidates, probability, significance.significance)


def _coefficients(
    bits: PerturbedSamples, cells: Cells, fits: StackedFits, sums: Vector, first: int
) -> Vector:
    """Return the coefficient of every candidate.

    It is that of the fit or, for a candidate not in the fit, as if only this one were added.

    Args:
        first: the index of the fit of the first prediction.
    """
    row = cells.row + first
    coefficients = sums[cells.column, row] - bits.count[cells.column] * fits.mean[row]
    coefficients /= bits.variance[cells.column]
    at, active = cells.of_fits(fits, first)
    coefficients[at] = fits.coefficient[active]
    return coefficients


def _log_p_values(
    bits: PerturbedSamples, cells: Cells, fits: StackedFits, sums: Vector, probability: float
) -> Vector:
    """Return the log p-value of each candidate, tested on what the others do not explain."""
    residual = fits.residual - fits.mean[:, None]
    noise = np.einsum("kn,kn->k", residual, residual)
    num_problems = len(cells.slices)
    statistics = []
    for first in (0, num_problems):
        row = cells.row + first
        total = sums[cells.column, row] - bits.count[cells.column] * fits.mean[row]
        coefficient = np.zeros(len(row))
        at, active = cells.of_fits(fits, first)
        # To test a fitted column, add back what the column itself explains.
        variance = bits.variance[fits.column[active]]
        coefficient[at] = fits.coefficient[active]
        total[at] = fits.coefficient[active] * variance
        explained = np.zeros(len(row))
        explained[at] = fits.coefficient[active] ** 2 * variance
        spread = np.sqrt(probability * (1 - probability) * (noise[row] + explained))
        z = np.divide(total, spread, out=np.zeros(len(row)), where=spread > 0)
        fitted = np.zeros(len(row), dtype=bool)
        fitted[at] = True
        statistics.append((abs(z), row, total, coefficient, fitted))
    second = statistics[1][0] > statistics[0][0]
    z, row, total, coefficient, fitted = (
        np.where(second, right, left) for left, right in zip(*statistics, strict=True)
    )
    log_p = normal_log_p(z)
    in_question = z > _IN_QUESTION
    plain = np.flatnonzero(in_question & ~fitted)
    log_p[plain] = outcome_log_tails(total[plain], residual, row[plain], probability)
    own = np.flatnonzero(in_question & fitted)
    step = max(1, _CELLS_AT_ONCE // bits.num_samples)
    for start in range(0, len(own), step):
        some = own[start : start + step]
        column, slope = cells.column[some], coefficient[some]
        outcomes = slope[:, None] * bits.rows(column)
        outcomes += residual[row[some]]
        outcomes -= (slope * bits.mean[column])[:, None]
        log_p[some] = log_tails(total[some], *atoms(outcomes), probability)
    return np.minimum(log_p + np.log(2.0), 0.0)


def sample_stages(num_samples: int | str) -> tuple[int, ...]:
    """Return the numbers of samples to try in order: one, or several for ``auto``.

    Examples:
        >>> sample_stages(300)
        (300,)
        >>> sample_stages("auto") == STAGES
        True
    """
    if isinstance(num_samples, str):
        check_name(num_samples, "num_samples", ("auto",))
        return STAGES
    return (check_samples(num_samples),)


def margin(effects: Effects) -> float:
    """Return the largest margin (half of the 95% interval) of the five strongest effects."""
    widths = (effects.high - effects.low)[:_LEADING]
    return float(widths.max(initial=0.0)) / 2


def are_precise(effects: Effects, are_probabilities: bool) -> bool:
    """Return whether the five strongest effects are known precisely.

    Their margins must be at most a fifth of the strongest effect. For probabilities, a margin of
    one percentage point is always small enough.
    """
    strongest = float(np.max(abs(effects.effect), initial=0.0))
    enough = max(_SHARE * strongest, _POINT if are_probabilities else 0.0)
    return margin(effects) <= enough
