from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import softmax

from pgm_explainer import ModelError
from pgm_explainer.graph import Graph
from pgm_explainer.predictors import LocalModel, as_predictor

ROWS = np.array([1, 4])
CLEAN = np.random.default_rng(0).normal(size=(5, 3))
WHOLE = Graph(np.zeros((2, 0), dtype=np.int64), 5).whole()


def observe(model, rows=ROWS, kind="auto"):
    return LocalModel.observe(as_predictor(model), WHOLE, CLEAN, rows, kind)


def nodes(x):
    return x * 2


def graph(x):
    return x.sum(axis=1)


def test_the_recorded_rows_are_given_as_probabilities():
    model = observe(nodes)
    assert model.kind == "logits"
    np.testing.assert_allclose(model.before, softmax(2 * CLEAN[ROWS], axis=-1))
    batch = np.random.default_rng(1).normal(size=(4, 5, 3))
    np.testing.assert_allclose(model(batch), softmax(2 * batch[:, ROWS], axis=-1))


def test_a_graphs_prediction_is_one_row():
    model = observe(graph, rows=None)
    assert model.before.shape == (1, 3)
    batch = np.random.default_rng(1).normal(size=(4, 5, 3))
    np.testing.assert_allclose(model(batch), softmax(batch.sum(axis=1), axis=-1)[:, None])


def test_a_stated_kind_is_believed():
    assert observe(lambda x: abs(x) / abs(x).sum(-1, keepdims=True)).kind == "probabilities"
    stated = observe(lambda x: abs(x) / abs(x).sum(-1, keepdims=True), kind="logits")
    assert stated.kind == "logits"
    assert stated.before.max() < 0.6


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: torch.tensor(x * 2, requires_grad=True),
        lambda x: (x * 2).tolist(),
        lambda x: torch.tensor(x * 2, dtype=torch.bfloat16),
        lambda x: (x * 2).astype(np.float16),
    ],
    ids=["tensor", "list", "bfloat16", "float16"],
)
def test_an_answer_of_any_numeric_type_will_do(answer):
    np.testing.assert_allclose(observe(answer).before, observe(nodes).before, atol=0.02)


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (lambda x: x[0], r"\[5, 3\]"),
        (lambda x: x[:, :4], r"\[1, 4, 3\]"),
        (lambda x: x[..., :0], r"\[1, 5, 0\]"),
        (lambda x: x[..., 0], r"\[1, 5\]"),
        (lambda x: x[..., None], r"\[1, 5, 3, 1\]"),
        (lambda x: np.concatenate([x, x]), r"\[2, 5, 3\]"),
        (graph, r"\[1, 3\]"),
        (lambda x: 0.5, r"\[\]"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_named_with_the_right_one(answer, named):
    with pytest.raises(ModelError, match=rf"{named}.*node task needs \[1, 5, classes\]"):
        observe(answer)


def test_a_graph_task_that_gets_nodes_is_named_with_the_right_shape():
    with pytest.raises(ModelError, match=r"\[1, 5, 3\].*graph task needs \[1, classes\]"):
        observe(nodes, rows=None)


@pytest.mark.parametrize("answer", [None, "class 1", {"logits": 1}, np.ones((1, 5, 3)) * 1j])
def test_an_answer_that_is_no_array_of_numbers_is_an_error(answer):
    with pytest.raises(ModelError, match="the model's answer"):
        observe(lambda x: answer)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_named(bad):
    def broken(x):
        scores = x * 2
        scores[:, 4, 1] = bad
        return scores

    with pytest.raises(ModelError, match=f"answered with {bad}"):
        observe(broken)


def test_a_score_that_is_not_finite_is_noticed_later_too():
    model = observe(lambda x: x / (x[..., :1] != 0) if x.any() else np.full_like(x, np.nan))
    with pytest.raises(ModelError, match="nan"):
        model(np.zeros((2, 5, 3)))


def test_what_is_said_of_nodes_that_are_not_recorded_does_not_matter():
    def broken_elsewhere(x):
        scores = x * 2
        scores[:, 0] = np.nan
        return scores

    np.testing.assert_array_equal(observe(broken_elsewhere).before, observe(nodes).before)


def test_a_random_model_is_an_error_that_mentions_dropout():
    rng = np.random.default_rng(0)
    with pytest.raises(ModelError, match="dropout"):
        observe(lambda x: x * rng.integers(0, 2, size=x.shape))


def test_a_model_that_answers_differently_the_second_time_is_an_error():
    calls = []

    def counting(x):
        calls.append(1)
        return x + len(calls)

    with pytest.raises(ModelError, match=r"asked twice.*dropout"):
        observe(counting)


@pytest.mark.parametrize(
    "mixing",
    [
        lambda x: x + np.arange(len(x))[:, None, None],
        lambda x: x + len(x),
        lambda x: x - x.mean(axis=0),
        lambda x: x - x.mean(axis=(0, 1)),
    ],
    ids=["place in the batch", "batch size", "batch mean", "batch norm in training mode"],
)
def test_a_model_that_mixes_the_samples_of_a_batch_is_an_error(mixing):
    with pytest.raises(ModelError, match="batch"):
        observe(mixing)


def test_rounding_between_two_answers_is_forgiven():
    calls = []

    def rounding(x):
        calls.append(1)
        return x + 1e-6 * len(calls)

    np.testing.assert_allclose(observe(rounding).before, softmax(CLEAN[ROWS], axis=-1), atol=1e-5)


def test_a_model_that_reuses_the_memory_of_its_answers_does_not_change_what_it_said_before():
    buffer = np.zeros((10, 2))

    def reusing(x):
        first = 1 / (1 + np.exp(-x[:, 0, 0]))
        buffer[: len(x)] = np.stack([first, 1 - first], axis=-1)
        return buffer[: len(x)]

    model = observe(reusing, rows=None)
    said = model.before.copy()
    model(np.full((10, 5, 3), 9.0))
    np.testing.assert_array_equal(model.before, said)


@pytest.mark.parametrize("kind", ["probabilities", "log_probabilities"])
def test_scores_that_cannot_be_what_they_are_said_to_be_are_an_error(kind):
    with pytest.raises(ModelError, match=kind):
        observe(nodes, kind=kind)
