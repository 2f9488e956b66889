"""What perturbing each node does to a prediction, estimated from the samples of step 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ..arrays import IntArray
from ..sampling import Outcome, SampleTable
from ..significance import SignificanceConfig
from .bits import PerturbedSamples
from .pairs import pair_effects
from .randomization import OpenTests, normal_log_p
from .regression import Fit, fit_all
from .table import Effects, PairEffect

__all__ = ["EffectProblem", "estimate_effects"]

Vector = NDArray[np.float64]

_CONFIDENCE = 0.975
_IN_QUESTION = 2.0
"""Below this z-score nothing is significant, and a normal p-value is good enough."""
_IN_PAIRS = 6


@dataclass(frozen=True)
class EffectProblem:
    """The effects of some nodes (ascending) on one prediction."""

    nodes: IntArray
    outcome: Outcome


def estimate_effects(
    table: SampleTable,
    problems: Sequence[EffectProblem],
    probability: float,
    significance: SignificanceConfig,
) -> list[Effects]:
    """Estimate effects on some predictions from one set of samples.

    *Effects* are coefficients of a least-squares fit, with Neyman's standard errors, which need no
    equal variances, and Student's t for the rarer of perturbed and other samples. *Strengths* are
    coefficients of a fit of squared ranks of the absolute change: few large changes would drown all
    others otherwise. A node whose effect is certainly large is strong in any case. *P-values* test
    both fits by the randomisation (:mod:`.randomization`) and take twice the smaller one.

    Each result is the same alone and among others.

    Args:
        table: the samples.
        problems: the nodes and the prediction, for each target.
        probability: of each node to be perturbed in a sample.
        significance: when an effect is significant.
    """
    union = np.unique(np.concatenate([each.nodes for each in problems]))
    bits = PerturbedSamples(table, table.columns(union))
    scales = [_scale(each.outcome.change) for each in problems]
    changes = [each.outcome.change / scale for each, scale in zip(problems, scales, strict=True)]
    outcomes = []
    for each, change in zip(problems, changes, strict=True):
        columns = np.searchsorted(union, each.nodes)
        outcomes += [(columns, change), (columns, _movement(change))]
    fits = fit_all(bits, outcomes, probability)
    paired = [with_pairs for _, with_pairs in fits]
    signed = [alone for alone, _ in fits[::2]]
    left = [each.residual for each in (*paired, *signed)]
    squares = [each.residual**2 for each in signed]
    sums = bits.sums(np.stack((*left, *squares, *map(abs, changes)), axis=1))
    tests = _log_p_values(bits, paired, sums, probability)
    found = []
    for at, (each, alone) in enumerate(zip(problems, signed, strict=True)):
        log_p = np.minimum(np.minimum(*tests[2 * at : 2 * at + 2]) + np.log(2.0), 0.0)
        own = len(paired) + at
        effect, margin = _effects(bits, alone, sums[:, own], sums[:, own + len(signed)])
        moved = _coefficients(bits, paired[2 * at + 1], sums[:, 2 * at + 1])
        size = _largest_move(bits, alone.columns, sums[:, own + 2 * len(signed)], changes[at])
        strength = _strengths(moved, abs(effect) - margin, size)
        estimates = (effect, margin, strength, log_p)
        effects = _table(each.nodes, estimates, alone, bits, probability, significance)
        found.append(effects.scaled(scales[at]))
    return found


def _scale(change: Vector) -> float:
    """The largest change: in units of it, no square is too large or too small for a number."""
    return float(abs(change).max(initial=0.0)) or 1.0


def _largest_move(
    bits: PerturbedSamples, columns: NDArray[np.int64], sums: Vector, change: Vector
) -> float:
    """How far, on average, the node that moves the prediction most moves it."""
    moves = sums[columns] - bits.count[columns] * float(abs(change).mean())
    return float((moves / bits.variance[columns]).max(initial=0.0))


def _table(
    nodes: IntArray,
    estimates: tuple[Vector, Vector, Vector, Vector],
    alone: Fit,
    bits: PerturbedSamples,
    probability: float,
    significance: SignificanceConfig,
) -> Effects:
    """The effects in order, with the pairs among the strongest."""
    effect, margin, strength, log_p = estimates
    found = significance.passed(log_p)
    order = np.lexsort((nodes, -abs(effect), -strength))
    strongest = order[found[order]][:_IN_PAIRS]
    pairs: tuple[PairEffect, ...] = ()
    if len(strongest) > 1:
        dense = bits.dense(alone.columns[strongest])
        names = nodes[strongest].tolist()
        pairs = pair_effects(
            names,
            dense,
            alone.residual,
            effect[strongest],
            probability,
            significance.significance,
        )
    return Effects(
        nodes[order],
        effect[order],
        (effect - margin)[order],
        (effect + margin)[order],
        strength[order],
        log_p[order],
        found[order],
        pairs,
    )


def _movement(change: Vector) -> Vector:
    """How far the prediction moved in each sample: squared ranks from 0 to 1."""
    _, which, counts = np.unique(abs(change), return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2  # equal ones share the mean of their ranks
    return np.square(ranks[which] / len(change))


def _strengths(moved: Vector, certain: Vector, size: float) -> Vector:
    """How strong each node is, from 0 to 1.

    Args:
        moved: coefficients of the ranks of the change; below 0 for what makes it steadier at most.
        certain: the least effect that each node has for certain.
        size: how far the node that moves the prediction most moves it on average.
    """
    strongest = max(float(moved.max(initial=0.0)), 1e-300)
    largest = max(size, float(certain.max(initial=0.0)), 1e-300)
    return np.maximum(np.maximum(moved, 0.0) / strongest, np.maximum(certain, 0.0) / largest)


def _coefficients(bits: PerturbedSamples, found: Fit, sums: Vector) -> Vector:
    """The coefficient of every candidate: fitted, or of the candidate added to the fit."""
    columns = found.columns
    coefficients = sums[columns] - bits.count[columns] * found.residual.mean()
    coefficients /= bits.variance[columns]
    coefficients[np.searchsorted(columns, found.active)] = found.coefficients
    return coefficients


def _effects(
    bits: PerturbedSamples, found: Fit, sums: Vector, squares: Vector
) -> tuple[Vector, Vector]:
    """Effects, and half the width of their intervals.

    Standard errors come from the spread within perturbed and within other samples.
    """
    squares, share = squares[found.columns], bits.count[found.columns] / bits.num_samples
    total = float(found.residual @ found.residual)
    spread = squares * (1 - share) ** 2 + (total - squares) * share**2
    error = np.sqrt(np.maximum(spread, 0)) / bits.variance[found.columns]
    rarer = np.minimum(share, 1 - share) * bits.num_samples
    margin = special.stdtrit(np.maximum(rarer - 1, 1), _CONFIDENCE) * error
    return _coefficients(bits, found, sums), margin


def _log_p_values(
    bits: PerturbedSamples, fits: Sequence[Fit], sums: Vector, probability: float
) -> list[Vector]:
    """The log p-values of all candidates of each fit, tested on what the others leave."""
    answers: list[Vector] = []
    open_tests = OpenTests(probability)
    for number, each in enumerate(fits):
        columns, active = each.columns, np.searchsorted(each.columns, each.active)
        mean = float(each.residual.mean())
        total = sums[columns, number] - bits.count[columns] * mean
        explained = np.zeros(len(columns))
        # What a fitted column explains itself belongs to its own test.
        variance = bits.variance[each.active]
        total[active] = each.coefficients * variance
        explained[active] = each.coefficients**2 * variance
        residual = each.residual - mean
        coin = probability * (1 - probability)
        spread = np.sqrt(coin * (float(residual @ residual) + explained))
        z = np.divide(total, spread, out=np.zeros(len(columns)), where=spread > 0)
        answers.append(normal_log_p(z))
        in_question = abs(z) > _IN_QUESTION
        fitted = np.flatnonzero(in_question[active])
        in_question[active] = False
        open_tests.add(answers[-1], np.flatnonzero(in_question), total, residual[None])
        if len(fitted):
            share = bits.count[each.active[fitted]] / bits.num_samples
            centred = bits.dense(each.active[fitted]).T - share[:, None]
            own = residual + centred * each.coefficients[fitted][:, None]
            open_tests.add(answers[-1], active[fitted], total, own)
    open_tests.close()
    return answers
