"""Log-odds, which are recorded where probabilities are too close to 0 or 1 to change visibly."""

import numpy as np
import pytest

from pgm_explainer import PGMExplainer

X = np.array([[3.0], [2.0], [1.0], [0.5]], dtype=np.float32)
RING = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
OPTIONS = {
    "perturbation": "zero",
    "num_layers": 1,
    "num_samples": 64,
    "task": "graph",
    "progress": False,
}


def outcome(model, **options):
    explainer = PGMExplainer(model, X, RING, **{**OPTIONS, **options})
    samples = explainer.samples([None])
    return samples.outcome("graph"), samples.table.codes(range(4))


def total(x):
    return x[..., 0].sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("factor", [5.0, -5.0])
@pytest.mark.parametrize("single", [True, False])
def test_log_odds_are_recorded_where_float32_cannot_tell_probabilities_apart(factor, single):
    """The total is 6.5, so the log-odds are 32.5; 1 minus the probability is 0 in float32."""

    def model(x):
        score = (factor * total(x)).astype(np.float32)
        return score if single else np.concatenate((-score / 2, score / 2), axis=-1)

    found, codes = outcome(model, scores="logits")
    lost = codes @ X[:, 0] * abs(factor)
    assert (found.change == 0).mean() > 0.5
    assert found.log_odds == pytest.approx(np.round(lost, 1), abs=0.06)


@pytest.mark.parametrize(
    ("model", "scores"),
    [
        (lambda x: np.concatenate((0 * total(x), total(x) / 2), axis=-1), "logits"),
        (lambda x: np.concatenate((0 * total(x), 1 + 0 * total(x)), axis=-1), "probabilities"),
        (lambda x: 100 * total(x), "values"),
    ],
)
def test_other_predictions_have_no_log_odds(model, scores):
    """Those far from 0 and 1, probabilities that may be rounded, and values."""
    assert outcome(model, scores=scores)[0].log_odds is None
