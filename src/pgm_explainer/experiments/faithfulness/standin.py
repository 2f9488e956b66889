"""A stand-in for ``explanation.effects`` until it exists: least squares on draws of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from ...arrays import FloatArray, IntArray
from ...explainer import PGMExplainer
from ...sampling import as_perturbation, check_columns
from ...sampling.perturbation import new_features
from ...sampling.randomness import Draws

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


def stand_in_effects(
    explainer: PGMExplainer, targets: Sequence[int | None]
) -> list[StandInEffects]:
    """Estimate effects by least squares, or by differences of means if nodes are too many."""
    settings, part = explainer.settings, explainer.graph.whole
    if explainer.predictor.accepts_subgraph and targets != [None]:
        part = explainer.graph.cut(np.array(targets), explainer.num_layers)
    x = explainer.population.x[part.nodes]
    columns = check_columns(settings.features, x.shape[1])
    scheme = as_perturbation(settings.perturbation, explainer.population, columns, settings.task)
    at_once = max(1, 10_000_000 // x.size)
    bits, answers = [], []
    for start in range(0, settings.num_samples, at_once):
        stop = min(start + at_once, settings.num_samples)
        draws = Draws.grid(settings.seed, np.arange(start, stop), part.nodes)
        perturbed = draws.coins("perturbed", settings.perturb_probability)
        new = np.repeat(x[None], stop - start, axis=0)
        drawn = new_features(scheme, explainer.population, draws)[..., columns]
        new[..., columns] = np.where(perturbed[..., None], drawn, x[:, columns])
        scores = np.asarray(explainer.predictor(new, part), dtype=float)
        rows = (
            scores[:, None] if targets == [None] else scores[:, part.positions(np.array(targets))]
        )
        answers.append(special.softmax(rows, axis=-1))
        bits.append(perturbed)
    s, probabilities = np.concatenate(bits).astype(float), np.concatenate(answers)
    found = []
    for at, target in enumerate(targets):
        candidates = explainer.candidates(target)
        nodes = candidates if target is None else np.union1d(candidates, [target])
        explained = int(np.argmax(explainer.predict(target)))
        y = probabilities[:, at, explained]
        inside = np.isin(nodes, part.nodes)  # the model does not see the others
        bits_of = np.zeros((len(y), len(nodes)))
        bits_of[:, inside] = s[:, part.positions(nodes[inside])]
        found.append(_estimate(nodes, bits_of, y, settings.significance))
    return found


def _estimate(nodes: IntArray, s: FloatArray, y: FloatArray, level: float) -> StandInEffects:
    centred, y = s - s.mean(axis=0), y - y.mean()
    if len(nodes) < 0.5 * len(y):
        inverse = np.linalg.pinv(centred.T @ centred)
        effect = inverse @ centred.T @ y
        freedom = len(y) - len(nodes) - 1
        residual = ((y - centred @ effect) ** 2).sum() / freedom
        error = np.sqrt(residual * np.diag(inverse))
    else:
        squares = (centred**2).sum(axis=0)
        effect = centred.T @ y / squares
        freedom = len(y) - 2
        error = y.std() / np.sqrt(squares)
    error = np.maximum(error, 1e-300)
    log_p = np.log(2) + stats.t.logsf(abs(effect) / error, freedom)
    margin = stats.t.ppf(0.975, freedom) * error
    significant = stats.false_discovery_control(np.exp(log_p)) < level
    order = np.argsort(-abs(effect), kind="stable")
    return StandInEffects(
        nodes[order],
        effect[order],
        (effect - margin)[order],
        (effect + margin)[order],
        log_p[order],
        significant[order],
    )
