"""A stand-in for ``explanation.effects`` until it exists: least squares on draws of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...arrays import FloatArray, IntArray
from ...explainer import PGMExplainer
from ...sampling import Population, as_perturbation
from ...sampling.perturbation import new_features
from ...sampling.randomness import Draws
from ..rivals.case import Case
from ..rivals.output import Output

__all__ = ["StandInEffects", "stand_in_effects"]


@dataclass(frozen=True)
class StandInEffects:
    """The columns of ``explanation.effects``, strongest first."""

    nodes: IntArray
    effect: FloatArray
    low: FloatArray
    high: FloatArray
    log_p: FloatArray
    significant: NDArray[np.bool_]


def stand_in_effects(explainer: PGMExplainer, case: Case, target: int | None) -> StandInEffects:
    """Estimate effects by least squares, or by differences of means if nodes are too many."""
    settings = explainer.settings
    output, population = Output(case, target), Population(case.x)
    scheme = as_perturbation(settings.perturbation, population, case.columns, case.task)
    candidates = case.candidates(target)
    nodes = candidates if target is None else np.union1d(candidates, [target])
    bits, answers = [], []
    for start in range(0, settings.num_samples, 100):
        draws = Draws.grid(settings.seed, np.arange(start, start + 100), output.part.nodes)
        perturbed = draws.coins("perturbed", settings.perturb_probability)
        x = np.repeat(output.x[None], 100, axis=0)
        new = x.copy()
        drawn = new_features(scheme, population, draws)
        new[..., case.columns] = drawn[..., case.columns]
        answers.append(output(np.where(perturbed[..., None], new, x)))
        bits.append(perturbed[:, output.positions(nodes)])
    s, y = np.concatenate(bits).astype(float), np.concatenate(answers)
    centred = s - s.mean(axis=0)
    if len(nodes) < 0.5 * len(y):
        inverse = np.linalg.pinv(centred.T @ centred)
        effect = inverse @ centred.T @ (y - y.mean())
        freedom = len(y) - len(nodes) - 1
        residual = ((y - y.mean() - centred @ effect) ** 2).sum() / freedom
        error = np.sqrt(residual * np.diag(inverse))
    else:
        squares = (centred**2).sum(axis=0)
        effect = centred.T @ (y - y.mean()) / squares
        freedom = len(y) - 2
        error = y.std() / np.sqrt(squares)
    error = np.maximum(error, 1e-300)
    log_p = np.log(2) + stats.t.logsf(abs(effect) / error, freedom)
    margin = stats.t.ppf(0.975, freedom) * error
    p = np.exp(log_p)
    significant = stats.false_discovery_control(p) < settings.significance
    order = np.argsort(-abs(effect), kind="stable")
    return StandInEffects(
        nodes[order],
        effect[order],
        (effect - margin)[order],
        (effect + margin)[order],
        log_p[order],
        significant[order],
    )
