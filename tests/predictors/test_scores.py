from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer import InputError
from pgm_explainer.predictors.scores import detect_score_kind, to_probabilities

RNG = np.random.default_rng(0)
LOGITS = 3 * RNG.normal(size=(5, 7, 4))
PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=-1, keepdims=True)
SCORES = {
    "logits": LOGITS,
    "probabilities": PROBABILITIES,
    "log_probabilities": np.log(PROBABILITIES),
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_kind_is_recognised_and_becomes_the_same_probabilities(kind, dtype):
    scores = SCORES[kind].astype(dtype)
    assert detect_score_kind(scores) == kind
    np.testing.assert_allclose(to_probabilities(scores, kind), PROBABILITIES, rtol=2e-5)
    assert to_probabilities(scores, kind).dtype == dtype


@pytest.mark.parametrize(
    ("scores", "kind"),
    [
        ([[0.0, 1.0]], "probabilities"),
        ([[0.2, 0.2]], "logits"),  # within [0, 1], but it does not add up
        ([[0.5, 0.5], [0.5, 0.6]], "logits"),
        ([[0.5, 0.5], [1.5, -0.5]], "logits"),  # adds up, but leaves [0, 1]
        ([[-1.0, -2.0]], "logits"),  # negative, but no log-probabilities
        ([[-1.0, -1.0], np.log([0.5, 0.5])], "logits"),
        ([[0.3]], "probabilities"),
        ([[0.3], [1.2]], "logits"),
        ([[-0.3]], "logits"),
    ],
)
def test_what_is_not_surely_a_probability_is_a_logit(scores, kind):
    assert detect_score_kind(np.array(scores)) == kind


@given(st.floats(-30, 30))
def test_one_score_is_the_second_class_against_the_first(logit):
    second = 1 / (1 + np.exp(-logit))
    expected = [1 - second, second]
    scores = {"logits": logit, "probabilities": second, "log_probabilities": np.log(second)}
    for kind, score in scores.items():
        got = to_probabilities(np.array([[score]]), kind)
        assert got.shape == (1, 2)
        np.testing.assert_allclose(got[0], expected, atol=1e-12)


def test_large_logits_do_not_overflow():
    probabilities = to_probabilities(np.array([[1e4, -1e4], [1e4, 1e4]]), "logits")
    assert probabilities.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert to_probabilities(np.array([[-1e4], [1e4]]), "logits").tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("kind", ["auto", "softmax", ""])
def test_an_unknown_kind_is_named(kind):
    with pytest.raises(InputError, match=f"'{kind}'.*log_probabilities"):
        to_probabilities(LOGITS, kind)
