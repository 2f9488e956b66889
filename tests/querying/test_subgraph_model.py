from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import softmax

from pgm_explainer import InputError, ModelError
from pgm_explainer.graph import Graph
from pgm_explainer.predictors import as_predictor
from pgm_explainer.querying.subgraph_model import SubgraphModel, answers, differing
from pgm_explainer.querying.tasks import GraphOutput, NodeOutputs, PairOutputs

ROWS = np.array([1, 4])
CLEAN = np.random.default_rng(0).normal(size=(5, 3))
OUTPUTS = NodeOutputs(ROWS)
PAIRS = np.array([[0, 3, 3], [1, 2, 4]])
WHOLE = Graph(np.zeros((2, 0), dtype=np.int64), 5).whole


def observe(model, outputs=OUTPUTS, kind="auto", output=None):
    return SubgraphModel.observe(as_predictor(model), WHOLE, CLEAN, outputs, kind, output)


def nodes(x):
    return x * 2


def graph(x):
    return x.sum(axis=1)


def test_the_recorded_rows_are_given_as_probabilities():
    model = observe(nodes)
    assert model.reader.kind == "logits"
    np.testing.assert_allclose(model.before, softmax(2 * CLEAN[ROWS], axis=-1))
    batch = np.random.default_rng(1).normal(size=(4, 5, 3))
    np.testing.assert_allclose(model(batch), softmax(2 * batch[:, ROWS], axis=-1))


def test_a_graphs_prediction_is_one_row():
    model = observe(graph, GraphOutput())
    assert model.before.shape == (1, 3)
    batch = np.random.default_rng(1).normal(size=(4, 5, 3))
    np.testing.assert_allclose(model(batch), softmax(batch.sum(axis=1), axis=-1)[:, None])


def test_a_stated_kind_is_used():
    found = observe(lambda x: abs(x) / abs(x).sum(-1, keepdims=True))
    assert found.reader.kind == "probabilities"
    stated = observe(lambda x: abs(x) / abs(x).sum(-1, keepdims=True), kind="logits")
    assert stated.reader.kind == "logits"
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
def test_an_output_of_any_numeric_type_is_accepted(answer):
    np.testing.assert_allclose(observe(answer).before, observe(nodes).before, atol=0.02)


def of_pairs(x, pairs):
    return x[:, pairs[0]] - 2 * x[:, pairs[1]]


def test_the_predictions_of_pairs_are_given_as_probabilities():
    model = observe(of_pairs, PairOutputs(PAIRS))
    assert model.before.shape == (3, 3)
    batch = np.random.default_rng(1).normal(size=(4, 5, 3))
    np.testing.assert_allclose(model(batch), softmax(of_pairs(batch, PAIRS), axis=-1))


def test_an_answer_about_pairs_of_the_wrong_shape_is_named_with_the_right_one():
    with pytest.raises(ModelError, match=r"\[1, 5, 3\].*needs \[1, 3, classes\]"):
        observe(lambda x, pairs: x, PairOutputs(PAIRS))


def test_the_kind_of_scores_is_detected_from_all_nodes():
    def logit(x):  # near the recorded nodes it looks like a probability
        scores = 1 / (1 + x[..., :1] ** 2)
        scores[:, 0] = 7.0
        return scores

    model = observe(logit)
    assert model.reader.kind == "logits"
    assert model.before.shape == (2, 2)


def test_values_are_left_as_they_are():
    model = observe(nodes, kind="values")
    np.testing.assert_array_equal(model.before, 2 * CLEAN[ROWS])
    np.testing.assert_array_equal(model(np.stack([CLEAN - 9])), 2 * (CLEAN - 9)[None, ROWS])


@pytest.mark.parametrize("kind", ["auto", "logits"])
@pytest.mark.parametrize("output", [0, 1, 2])
def test_one_output_of_several_is_a_binary_label(kind, output):
    model = observe(nodes, kind=kind, output=output)
    second = 1 / (1 + np.exp(-2 * CLEAN[ROWS, output]))
    np.testing.assert_allclose(model.before, np.stack([1 - second, second], axis=-1))


def test_one_output_of_several_values_is_one_value():
    model = observe(nodes, kind="values", output=1)
    np.testing.assert_array_equal(model.before, 2 * CLEAN[ROWS, 1:2])


def test_an_output_that_the_model_does_not_have_is_named():
    with pytest.raises(InputError, match="output=3 is out of range: the model returns 3 scores"):
        observe(nodes, output=3)


def test_another_number_of_classes_later_is_an_error():
    model = observe(lambda x: x if len(x) < 4 else x[..., :2])
    with pytest.raises(ModelError, match="2 classes, but 3"):
        model(np.zeros((4, 5, 3)))


@pytest.mark.parametrize("kind", ["auto", "probabilities"])
def test_probabilities_that_stop_being_some_later_are_an_error(kind):
    def sometimes(x):
        chance = 1 / (1 + np.exp(-x[..., :1]))
        return np.where(x[..., :1] > 50, 3.0, np.concatenate([chance, 1 - chance], axis=-1))

    model = observe(sometimes, kind=kind)
    model(np.zeros((2, 5, 3)))
    with pytest.raises(ModelError, match=r"scores are not probabilities.*scores='logits'"):
        model(np.full((2, 5, 3), 99.0))


# Whether a part is enough


PATH = Graph(np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]), 6)
LAST = np.array([5])


def holds(model, hops, graph=PATH, targets=LAST, further=1, kind="auto"):
    """Return whether the outputs on a cut of so many hops equal those on a wider one."""
    x = np.random.default_rng(4).normal(size=(graph.num_nodes, 2))
    part, wider = graph.cut(targets, hops), graph.cut(targets, hops + further)
    local = SubgraphModel.observe(
        as_predictor(model), part, x[part.nodes], NodeOutputs(part.positions(targets)), kind
    )
    outputs = NodeOutputs(wider.positions(targets))
    wide = outputs.take(answers(local.predictor, wider, x[wider.nodes][None], outputs))
    return not differing(local.probed, wide).any()


def layers(count, scale=0.1):
    def model(x, edge_index):
        adjacency = np.eye(x.shape[1])
        np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
        for _ in range(count):
            x = adjacency @ x
        return scale * x

    return model


@pytest.mark.parametrize("kind", ["auto", "values"])
@pytest.mark.parametrize(("deep", "hops"), [(0, 0), (1, 1), (2, 2), (1, 2), (3, 4)])
def test_a_part_as_deep_as_the_model_holds(deep, hops, kind):
    assert holds(layers(deep), hops, kind=kind)


@pytest.mark.parametrize("kind", ["auto", "values"])
@pytest.mark.parametrize(("deep", "hops"), [(2, 0), (3, 1), (4, 2), (5, 1)])
def test_a_subgraph_that_is_too_small_is_rejected(deep, hops, kind):
    assert not holds(layers(deep), hops, kind=kind)


def test_a_saturated_model_does_not_hide_its_receptive_field():
    # Its probabilities are 0 and 1 on either part, but its scores are not the same.
    assert not holds(layers(5, scale=20), 1)


def test_a_model_that_normalises_over_all_nodes_does_not_hold_on_a_part():
    assert not holds(lambda x, edge_index: x - x.mean(axis=1, keepdims=True), 1)


def test_a_part_that_is_the_whole_graph_holds_whatever_the_model_does():
    assert holds(lambda x, edge_index: x - x.mean(axis=1, keepdims=True), 9)


def test_a_wider_subgraph_with_only_more_edges_is_checked():
    # 3 <- 2 <- 1 and 3 <- 2 <- 0: all four are in the cut of one hop, the edge 0 -> 1 is not.
    graph = Graph(np.array([[2, 1, 0, 0], [3, 2, 2, 1]]), 4)
    targets = np.array([3])
    assert graph.cut(targets, 1).nodes.tolist() == graph.cut(targets, 2).nodes.tolist()
    assert not holds(layers(3), 1, graph, targets)


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
    with pytest.raises(ModelError, match=rf"{named}.*this task needs \[1, 5, classes\]"):
        observe(answer)


def test_one_row_in_a_node_task_suggests_the_graph_task():
    with pytest.raises(ModelError, match="one row of scores for a whole graph, set task='graph'"):
        observe(graph)
    with pytest.raises(ModelError, match="check that the model fits the task") as caught:
        observe(lambda x: x[..., 0])
    assert "task='graph'" not in str(caught.value)


def test_a_graph_task_that_gets_nodes_is_named_with_the_right_shape():
    with pytest.raises(ModelError, match=r"\[1, 5, 3\].*this task needs \[1, classes\]"):
        observe(nodes, GraphOutput())


@pytest.mark.parametrize("answer", [None, "class 1", {"logits": 1}, np.ones((1, 5, 3)) * 1j])
def test_an_answer_that_is_no_array_of_numbers_is_an_error(answer):
    with pytest.raises(ModelError, match="the model's output"):
        observe(lambda x: answer)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_named(bad):
    def broken(x):
        scores = x * 2
        scores[:, 4, 1] = bad
        return scores

    with pytest.raises(ModelError, match=f"returned {bad}"):
        observe(broken)


def test_a_score_that_is_not_finite_is_noticed_later_too():
    model = observe(lambda x: x / (x[..., :1] != 0) if x.any() else np.full_like(x, np.nan))
    with pytest.raises(ModelError, match="nan"):
        model(np.zeros((2, 5, 3)))


def test_scores_of_nodes_that_are_not_recorded_do_not_matter():
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

    with pytest.raises(ModelError, match=r"in two calls.*dropout"):
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


@pytest.mark.parametrize(
    "mixing",
    [
        lambda x: x - x.mean(axis=0) + x[:1],
        lambda x: x + (abs(x - x[:1]).max() > 0),
        lambda x: x / abs(x).max(axis=0),
    ],
    ids=["mean of the others", "whether others differ", "largest of the batch"],
)
def test_a_model_that_mixes_different_samples_is_an_error_too(mixing):
    with pytest.raises(ModelError, match="batch"):
        observe(mixing)


def test_rounding_between_two_answers_is_forgiven():
    calls = []

    def rounding(x):
        calls.append(1)
        return x + 1e-6 * len(calls)

    np.testing.assert_allclose(observe(rounding).before, softmax(CLEAN[ROWS], axis=-1), atol=1e-5)


def test_a_model_that_reuses_its_output_buffer_does_no_harm():
    buffer = np.zeros((10, 2))

    def reusing(x):
        first = 1 / (1 + np.exp(-x[:, 0, 0]))
        buffer[: len(x)] = np.stack([first, 1 - first], axis=-1)
        return buffer[: len(x)]

    model = observe(reusing, GraphOutput())
    said = model.before.copy()
    model(np.full((10, 5, 3), 9.0))
    np.testing.assert_array_equal(model.before, said)


@pytest.mark.parametrize("kind", ["probabilities", "log_probabilities"])
def test_scores_that_contradict_the_stated_kind_are_an_error(kind):
    with pytest.raises(ModelError, match=kind.replace("_", "-")):
        observe(nodes, kind=kind)
