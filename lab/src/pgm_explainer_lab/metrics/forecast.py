"""Forecasts of the model by an explanation, tested on new perturbations.

Given only which nodes are perturbed, the network of an explanation predicts the probability that
the target's prediction changes. It is compared with a logistic regression, which is additive, and
with the share of changes among the samples as a base rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression

from pgm_explainer import Explanation, QueryError
from pgm_explainer.sampling import SampleTable, VariableId

__all__ = ["ForecastQuality", "forecast_quality", "mean_quality", "network_quality"]

_GROUPS = 10

Bits = NDArray[np.bool_]
Probabilities = NDArray[np.float64]


@dataclass(frozen=True)
class ForecastQuality:
    """The quality of forecasts of a change.

    Attributes:
        log_loss: mean negative log-probability of the outcomes, in nats; lower is better.
        brier: mean squared error; lower is better.
        auc: probability that a sample that changed got a higher forecast than one that did not; NaN
            if only one of both occurred.
        calibration: the expected calibration error: the mean distance between forecast and share of
            changes, over ten groups of equal size by forecast; lower is better.
    """

    log_loss: float
    brier: float
    auc: float
    calibration: float = float("nan")


def forecast_quality(
    explanation: Explanation, learnt: SampleTable, fresh: SampleTable
) -> dict[str, ForecastQuality]:
    """Compare the network of an explanation with other forecasts.

    Args:
        learnt: the samples of the explanation, ``explainer.samples(targets).table``; the other
            forecasts are trained on them too.
        fresh: samples drawn with another seed, on which all forecasts are tested.

    Returns:
        The quality of the ``network``, of a ``logistic`` regression on the perturbation bits of
        the network's nodes, of one on all candidates, ``logistic (all candidates)``, and of the
        ``base rate``. Empty if the prediction changed never or always, since there is then nothing
        to learn. All forecasts are kept ``1 / (n + 2)`` away from 0 and 1, where ``n`` is the
        number of samples.
    """
    outcome = _changed(learnt, explanation.target)
    if explanation.network is None or outcome.all() or not outcome.any():
        return {}
    base_rate = float(outcome.mean())
    own = [each.id for each in explanation.network.variables if each.perturbable]
    all_candidates = np.union1d(explanation.ranking.nodes, explanation.ends).tolist()
    forecasts = {
        "network": _by_network(explanation, own, _perturbed(fresh, own), base_rate),
        "logistic": _by_regression(own, learnt, fresh, outcome),
        "logistic (all candidates)": _by_regression(all_candidates, learnt, fresh, outcome),
        "base rate": np.full(fresh.num_samples, base_rate),
    }
    return {
        name: _tested(explanation, learnt, fresh, forecast) for name, forecast in forecasts.items()
    }


def network_quality(
    explanation: Explanation, learnt: SampleTable, fresh: SampleTable
) -> tuple[ForecastQuality, ForecastQuality] | None:
    """Return the quality of the network and of the base rate only; None if nothing changed.

    Args:
        learnt: as in :func:`forecast_quality`.
        fresh: as in :func:`forecast_quality`.
    """
    outcome = _changed(learnt, explanation.target)
    if explanation.network is None or outcome.all() or not outcome.any():
        return None
    base_rate = float(outcome.mean())
    own = [each.id for each in explanation.network.variables if each.perturbable]
    forecast = _by_network(explanation, own, _perturbed(fresh, own), base_rate)
    flat = np.full(fresh.num_samples, base_rate)
    return (
        _tested(explanation, learnt, fresh, forecast),
        _tested(explanation, learnt, fresh, flat),
    )


def _tested(
    explanation: Explanation, learnt: SampleTable, fresh: SampleTable, forecast: Probabilities
) -> ForecastQuality:
    margin = 1 / (learnt.num_samples + 2)
    happened = _changed(fresh, explanation.target)
    return _quality(happened, np.clip(forecast, margin, 1 - margin))


def mean_quality(
    qualities: Iterable[dict[str, ForecastQuality]],
) -> dict[str, ForecastQuality]:
    """Return the mean over explanations, skipping those that could not be measured."""
    measured = [each for each in qualities if each]
    rows = {
        name: np.array([astuple(each[name]) for each in measured])
        for name in (measured[0] if measured else ())
    }
    return {
        name: ForecastQuality(*(_mean_of_known(column) for column in table.T))
        for name, table in rows.items()
    }


def _mean_of_known(column: NDArray[np.float64]) -> float:
    known = column[~np.isnan(column)]
    return float(known.mean()) if len(known) else float("nan")


def _by_network(
    explanation: Explanation, nodes: Sequence[VariableId], perturbed: Bits, base_rate: float
) -> Probabilities:
    """Query the network once for every pattern of perturbed nodes that occurs."""
    network = explanation.network
    assert network is not None
    patterns, which = np.unique(perturbed, axis=0, return_inverse=True)
    answers = np.empty(len(patterns))
    kept = network.variable(explanation.target).matching("kept")
    for at, pattern in enumerate(patterns):
        words = ("perturbed" if bit else "original" for bit in pattern)
        try:
            states = network.query(explanation.target, dict(zip(nodes, words, strict=True)))
        except QueryError:  # a pattern with probability 0 in the network
            answers[at] = base_rate
        else:
            answers[at] = 1 - states[kept].sum()
    return answers[which.ravel()]


def _by_regression(
    nodes: Sequence[VariableId], learnt: SampleTable, fresh: SampleTable, outcome: Bits
) -> Probabilities:
    if not nodes:
        return np.full(fresh.num_samples, outcome.mean())
    regression = LogisticRegression(solver="newton-cholesky")
    regression.fit(_perturbed(learnt, nodes), outcome)
    return regression.predict_proba(_perturbed(fresh, nodes))[:, 1]


def _quality(happened: Bits, forecast: Probabilities) -> ForecastQuality:
    """As defined by scikit-learn, whose functions would take most of the time here."""
    return ForecastQuality(
        float(-np.log(np.where(happened, forecast, 1 - forecast)).mean()),
        float(((forecast - happened) ** 2).mean()),
        _auc(happened, forecast),
        _calibration(happened, forecast),
    )


def _calibration(happened: Bits, forecast: Probabilities) -> float:
    order = np.argsort(forecast, kind="stable")
    groups = np.array_split(order, min(_GROUPS, len(order)))
    gaps = [abs(forecast[group].mean() - happened[group].mean()) for group in groups]
    return float(np.average(gaps, weights=[len(group) for group in groups]))


def _auc(happened: Bits, forecast: Probabilities) -> float:
    changed = int(happened.sum())
    pairs = changed * (len(happened) - changed)
    if not pairs:
        return float("nan")
    ranks = rankdata(forecast)[happened].sum()
    return float((ranks - changed * (changed + 1) / 2) / pairs)


def _perturbed(table: SampleTable, nodes: Sequence[VariableId]) -> Bits:
    columns = [table.column(node) for node in nodes]
    levels = [table.variables[column].levels for column in columns]
    return table.codes(columns) >= levels


def _changed(table: SampleTable, target: VariableId) -> Bits:
    column = table.column(target)
    return table.codes([column])[:, 0] % table.variables[column].levels > 0
