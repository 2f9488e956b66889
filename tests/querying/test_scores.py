from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer import InputError, ModelError
from pgm_explainer.querying.subgraph_model import SCORE_KINDS, ScoreReader, detect_score_kind

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
    np.testing.assert_allclose(ScoreReader(kind)(scores), PROBABILITIES, rtol=2e-5)
    assert ScoreReader(kind)(scores).dtype == dtype


@pytest.mark.parametrize(
    ("scores", "kind"),
    [
        ([[0.0, 1.0]], "probabilities"),
        ([[0.2, 0.2]], "logits"),  # within [0, 1], but it does not add up
        ([[0.5, 0.5], [0.5, 0.6]], "logits"),
        ([[0.5, 0.5], [1.5, -0.5]], "logits"),  # adds up, but leaves [0, 1]
        ([[-1.0, -2.0]], "logits"),  # negative, but no log-probabilities
        ([[-1.0, -1.0], np.log([0.5, 0.5])], "logits"),
        ([np.log([0.5, 0.5005])], "logits"),  # adds up nearly, by chance
        ([[0.3]], "probabilities"),
        ([[0.3], [1.2]], "logits"),
        ([[-0.3]], "logits"),
    ],
)
def test_ambiguous_scores_are_logits(scores, kind):
    assert detect_score_kind(np.array(scores)) == kind


@given(st.floats(-30, 30))
def test_one_score_is_the_second_class_against_the_first(logit):
    second = 1 / (1 + np.exp(-logit))
    expected = [1 - second, second]
    scores = {"logits": logit, "probabilities": second, "log_probabilities": np.log(second)}
    for kind, score in scores.items():
        got = ScoreReader(kind)(np.array([[score]]))
        assert got.shape == (1, 2)
        np.testing.assert_allclose(got[0], expected, atol=1e-12)


def test_large_logits_do_not_overflow():
    probabilities = ScoreReader("logits")(np.array([[1e4, -1e4], [1e4, 1e4]]))
    assert probabilities.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert ScoreReader("logits")(np.array([[-1e4], [1e4]])).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("kind", SCORES)
def test_auto_becomes_what_the_scores_look_like(kind):
    assert ScoreReader.of("auto", None, SCORES[kind]) == ScoreReader(kind)


@pytest.mark.parametrize("kind", [kind for kind in SCORE_KINDS if kind != "auto"])
def test_a_stated_kind_is_not_detected_again(kind):
    assert ScoreReader.of(kind, None, LOGITS) == ScoreReader(kind)


def test_values_are_left_alone():
    assert ScoreReader("values")(LOGITS) is LOGITS
    np.testing.assert_array_equal(ScoreReader("values", 2)(LOGITS), LOGITS[..., 2:3])


@pytest.mark.parametrize(
    ("kind", "scores"),
    [
        ("probabilities", [[0.5, 0.6]]),
        ("probabilities", [[1.5, -0.5]]),
        ("probabilities", [[0.5, 0.5], [0.2, 0.2]]),
        ("probabilities", [[1.2]]),
        ("probabilities", [[-0.2]]),
        ("log_probabilities", [[-1.0, -1.0]]),
        ("log_probabilities", [[0.5]]),
        ("log_probabilities", [[0.0, 0.0]]),
    ],
)
def test_invalid_probabilities_are_an_error_that_suggests_scores(kind, scores):
    with pytest.raises(ModelError, match=f"{kind.replace('_', '-')}.*scores='logits'"):
        ScoreReader(kind)(np.array(scores))


def test_one_output_is_a_binary_label():
    labels = np.array([[0.9, 0.2, 0.7], [0.1, 0.3, 0.5]])  # independent: they need not add up
    for output in range(3):
        reader = ScoreReader.of("auto", output, labels)
        assert reader == ScoreReader("probabilities", output)
        expected = np.stack([1 - labels[:, output], labels[:, output]], axis=-1)
        np.testing.assert_allclose(reader(labels), expected)


def test_the_kind_of_one_output_is_detected_from_it():
    scores = np.array([[0.9, 5.0], [0.1, -5.0]])
    assert ScoreReader.of("auto", 0, scores).kind == "probabilities"
    assert ScoreReader.of("auto", 1, scores).kind == "logits"


@pytest.mark.parametrize("kind", SCORE_KINDS)
def test_an_output_that_is_not_there_is_named(kind):
    with pytest.raises(InputError, match="output=4 is out of range: the model returns 4 scores"):
        ScoreReader.of(kind, 4, LOGITS)(LOGITS)


def test_the_kind_of_one_output_of_several_is_that_of_this_output_alone(on_a_path):
    def three(x, edge_index):
        logit = x[..., :1] / 10
        return np.concatenate([logit, 0.1 + 0 * logit, 0.2 + 0 * logit], axis=-1)

    one = on_a_path(lambda x, edge_index: x[..., :1] / 10)
    assert on_a_path(three, output=0).predict(1) == one.predict(1)
