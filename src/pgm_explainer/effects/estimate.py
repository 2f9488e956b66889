"""What perturbing each node does to a prediction, estimated from the samples of step 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ..arrays import IntArray
from ..sampling import SampleTable
from ..significance import significant
from .bits import PerturbedSamples
from .pairs import pair_effects
from .randomization import atoms, log_tails, normal_log_p
from .regression import Fit, fit
from .table import Effects, PairEffect

__all__ = ["EffectPlan", "Outcome", "estimate_effects"]

Vector = NDArray[np.float64]

_CONFIDENCE = 0.975
_IN_QUESTION = 2.0
"""Below this z-score nothing is significant, and a normal p-value is good enough."""
_IN_PAIRS = 6
_ROWS_AT_ONCE = 2048


@dataclass(frozen=True)
class EffectPlan:
    """How effects are estimated.

    Attributes:
        probability: of each node to be perturbed in a sample.
        significance, correction: when an effect is significant.
    """

    probability: float
    significance: float
    correction: str


@dataclass(frozen=True)
class Outcome:
    """What a prediction was in every sample.

    Attributes:
        values: the explained class's probability, or the predicted value, ``[n]``.
        original: the same without any perturbation.
        resolution: changes of no more than this are rounding errors of the model.
    """

    values: Vector
    original: float
    resolution: float

    @property
    def change(self) -> Vector:
        """By how much it changed, rounding errors left out."""
        change = self.values - self.original
        return np.where(abs(change) > self.resolution, change, 0.0)


def estimate_effects(
    table: SampleTable, nodes: IntArray, outcome: Outcome, plan: EffectPlan
) -> Effects:
    """Estimate the effect of each of some nodes on one prediction.

    *Effects* are coefficients of a least-squares fit, with Neyman's standard errors, which need no
    equal variances, and Student's t for the rarer of perturbed and other samples. *Strengths* are
    those of a fit of the square root of the absolute change: rare large changes would drown the
    others otherwise. *P-values* test both by the randomisation (:mod:`.randomization`) and take
    twice the smaller one.

    Args:
        table: which nodes are perturbed in which samples.
        nodes: ascending.
        outcome: what became of the prediction.
        plan: how to judge it.
    """
    columns = np.array([table.column(node) for node in nodes.tolist()], dtype=np.int64)
    bits = PerturbedSamples(table, columns)
    change = outcome.change
    alone, signed = fit(bits, change, plan.probability)
    _, moved = fit(bits, np.sqrt(abs(change)), plan.probability)
    left = (alone.residual, alone.residual**2, signed.residual, moved.residual)
    sums = bits.sums(np.stack(left, axis=1))
    effect, margin = _effects(bits, alone, sums[:, 0], sums[:, 1])
    strength = _coefficients(bits, moved, sums[:, 3])
    log_p = np.minimum(
        _log_p(bits, signed, sums[:, 2], plan.probability),
        _log_p(bits, moved, sums[:, 3], plan.probability),
    )
    log_p = np.minimum(log_p + np.log(2.0), 0.0)
    found = significant(log_p, plan.significance, plan.correction)
    # Perturbing it makes the prediction steadier, at most: that is no strength of its own.
    strength = np.maximum(strength, 0.0)
    strongest = float(strength.max(initial=0.0))
    if strongest > 0:
        strength = strength / strongest
    order = np.lexsort((nodes, -abs(effect), -strength))
    return Effects(
        nodes[order],
        effect[order],
        (effect - margin)[order],
        (effect + margin)[order],
        strength[order],
        log_p[order],
        found[order],
        _pairs(bits, nodes, order[found[order]][:_IN_PAIRS], alone, effect, plan),
    )


def _variances(bits: PerturbedSamples) -> Vector:
    """The sum of squares of each centred column; infinite where it is constant."""
    variance = bits.count * (1 - bits.count / bits.num_samples)
    return np.where(variance > 0, variance, np.inf)


def _coefficients(bits: PerturbedSamples, found: Fit, sums: Vector) -> Vector:
    """The coefficient of every column: fitted, or of the column added to the fit."""
    coefficients = (sums - bits.count * found.residual.mean()) / _variances(bits)
    coefficients[found.active] = found.coefficients
    return coefficients


def _effects(
    bits: PerturbedSamples, found: Fit, sums: Vector, squares: Vector
) -> tuple[Vector, Vector]:
    """Effects, and half the width of their intervals.

    Standard errors come from the spread within perturbed and within other samples.
    """
    total = float((found.residual**2).sum())
    share = bits.count / bits.num_samples
    spread = squares * (1 - share) ** 2 + (total - squares) * share**2
    error = np.sqrt(np.maximum(spread, 0)) / _variances(bits)
    rarer = np.minimum(bits.count, bits.num_samples - bits.count)
    return (
        _coefficients(bits, found, sums),
        special.stdtrit(np.maximum(rarer - 1, 1), _CONFIDENCE) * error,
    )


def _log_p(bits: PerturbedSamples, found: Fit, sums: Vector, probability: float) -> Vector:
    """The log p-value of every column, tested on what all other columns leave unexplained."""
    mean = float(found.residual.mean())
    residual, variance = found.residual - mean, _variances(bits)
    totals, explained = sums - bits.count * mean, np.zeros(len(bits))
    # What a fitted column explains itself belongs to its own test.
    totals[found.active] = found.coefficients * variance[found.active]
    explained[found.active] = found.coefficients**2 * variance[found.active]
    spread = np.sqrt(probability * (1 - probability) * (float((residual**2).sum()) + explained))
    z = np.divide(totals, spread, out=np.zeros(len(bits)), where=spread > 0)
    log_p = normal_log_p(z)
    in_question = np.flatnonzero(abs(z) > _IN_QUESTION)
    added = in_question[~np.isin(in_question, found.active)]
    common = atoms(residual)
    for at in range(0, len(added), _ROWS_AT_ONCE):
        some = added[at : at + _ROWS_AT_ONCE]
        log_p[some] = log_tails(totals[some], *common, probability)
    fitted = np.flatnonzero(np.isin(found.active, in_question))
    if len(fitted):
        columns = found.active[fitted]
        centred = bits.dense(columns) - bits.count[columns] / bits.num_samples
        rows = [
            atoms(each) for each in (residual[:, None] + centred * found.coefficients[fitted]).T
        ]
        values, weights = (np.stack(each) for each in zip(*rows, strict=True))
        log_p[columns] = log_tails(totals[columns], values, weights, probability)
    return log_p


def _pairs(
    bits: PerturbedSamples,
    nodes: IntArray,
    strongest: NDArray[np.int64],
    found: Fit,
    effect: Vector,
    plan: EffectPlan,
) -> tuple[PairEffect, ...]:
    """The pairs among the strongest whose joint effect is not the sum of the two."""
    if len(strongest) < 2:
        return ()
    return pair_effects(
        nodes[strongest].tolist(),
        bits.dense(strongest),
        found.residual,
        effect[strongest],
        plan.probability,
        plan.significance,
    )
