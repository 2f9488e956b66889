"""A subgraph function that uses more than ``num_layers`` hops is called on the whole graph."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from pgm_explainer import PGMExplainer, PGMExplainerWarning

NUM_NODES = 12
PATH = np.array([np.arange(NUM_NODES - 1), np.arange(1, NUM_NODES)])
TARGET = NUM_NODES - 1
X = np.random.default_rng(2).normal(size=(NUM_NODES, 2))
NOTE = "receptive field is larger than num_layers"


def layers(count, scale=None):
    """Sums over neighbours, in so many layers; small scores, unless a scale is given."""
    scale = 2.0 ** (1 - count) if scale is None else scale

    def model(x, edge_index):
        adjacency = np.eye(x.shape[1])
        np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
        for _ in range(count):
            x = adjacency @ x
        return scale * x

    return model


def normalised(x, edge_index):
    hidden = layers(1, 1)(x, edge_index)
    return 2 * (hidden - hidden.mean(axis=1, keepdims=True)) / hidden.std(axis=1, keepdims=True)


def explainers(model, edge_index=PATH, x=X, **options):
    """The same model as a function of any part of the graph, and of the whole."""
    given = {"num_layers": 1, "perturbation": "permute", "num_samples": 300, **options}
    return (
        PGMExplainer(model, x, edge_index, **given),
        PGMExplainer(lambda x: model(x, np.asarray(edge_index)), x, edge_index, **given),
    )


@pytest.mark.parametrize("model", [layers(4), layers(6), normalised], ids=["4", "6", "normalised"])
def test_a_model_that_sees_further_is_called_on_the_whole_graph_with_a_warning(model):
    part, whole = explainers(model)
    with pytest.warns(PGMExplainerWarning, match=f"{NOTE}=1"):
        explanation = part.explain(TARGET)
    assert explanation == whole.explain(TARGET)
    assert explanation.values == pytest.approx(whole.explain(TARGET).values)
    assert NOTE in explanation.warnings[0]
    assert explanation.warnings[1:] == whole.explain(TARGET).warnings
    assert f"Warning: the model's {NOTE}" in str(explanation)


@pytest.mark.parametrize(("deep", "stated"), [(0, 0), (1, 1), (2, 2), (1, 3), (3, 3)])
def test_a_model_that_does_not_is_called_on_a_subgraph(deep, stated):
    sizes = set()

    def watched(x, edge_index):
        if len(x) > 5:  # the samples; the checks use other targets too
            sizes.add(x.shape[1])
        return layers(deep)(x, edge_index)

    part, _ = explainers(watched, num_layers=stated)
    _, whole = explainers(layers(deep), num_layers=stated)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", NOTE)
        assert part.explain(TARGET) == whole.explain(TARGET)
    assert max(sizes) < NUM_NODES


def test_the_receptive_field_is_checked_in_five_queries_the_first_time_and_then_three():
    """Two calls examine the model once; one of them also detects the kind of scores."""
    calls = []

    def watched(x, edge_index):
        calls.append(x.shape[:2])
        return layers(1)(x, edge_index)

    explainer = explainers(watched, samples_per_call=100)[0]
    explainer.explain(TARGET)
    small, wide = calls[-1][1], calls[-4][1]
    assert small < wide < NUM_NODES
    expected = [(1, small), (7, small), (5, wide), *[(100, small)] * 3]
    assert calls[-6:] == expected
    assert [count for count, _ in calls[:-6]] == [5, 5]
    calls.clear()
    explainer.explain(TARGET)
    assert calls == [*expected[:3], (16, small)]  # samples are reused after a check of 16


def test_a_graph_task_is_about_the_whole_graph_in_any_case():
    def model(x, edge_index):
        return normalised(x, edge_index).mean(axis=1) + layers(2)(x, edge_index)[:, -1]

    part, whole = explainers(model, task="graph")
    assert part.explain() == whole.explain()
    assert not any(NOTE in text for text in part.explain().warnings)


@pytest.mark.parametrize("deep", [5, 7])
def test_pairs_are_checked_in_the_same_way(deep):
    def part_model(x, edge_index, pairs):
        scores = layers(deep)(x, edge_index)
        return scores[:, pairs[0]] + scores[:, pairs[1]]

    def whole_model(x, pairs):
        return part_model(x, PATH, pairs)

    options = {"num_layers": 1, "perturbation": "permute", "num_samples": 300, "task": "edge"}
    part = PGMExplainer(part_model, X, PATH, **options).explain((TARGET, TARGET - 1))
    whole = PGMExplainer(whole_model, X, PATH, **options).explain((TARGET, TARGET - 1))
    assert part == whole
    assert NOTE in part.warnings[0]


def test_many_targets_are_checked_as_each_alone():
    part, whole = explainers(layers(4))
    assert part.explain_many(range(NUM_NODES)) == whole.explain_many(range(NUM_NODES))


def test_values_that_depend_on_more_are_noticed():
    part, whole = explainers(layers(4), scores="values")
    assert part.explain(TARGET) == whole.explain(TARGET)
    assert NOTE in part.explain(TARGET).warnings[0]


def test_a_saturated_model_is_detected_too():
    """All probabilities are 0 or 1 on the unperturbed features; what counts is what moves them."""

    def model(x, edge_index):
        score = layers(5, scale=1)(x, edge_index)
        return np.concatenate([score, -score], axis=-1)

    ones = np.ones((NUM_NODES, 1))
    part, whole = explainers(model, x=ones, perturbation=negated, perturb_probability=0.4)
    assert part.explain(TARGET) == whole.explain(TARGET)


def negated(x, rng):
    return -x


def test_a_graph_of_several_components_is_noticed_too():
    """All that can reach the target is in its part, but a normalisation mixes in the others."""
    pairs = np.array([[0, 2, 4, 6], [1, 3, 5, 7]])
    part, whole = explainers(normalised, pairs)
    assert part.explain(1) == whole.explain(1)


def test_edges_among_the_outermost_nodes_are_noticed_too():
    """The wider part has the same nodes as the part, but an edge more: 0 -> 1."""
    edges = np.array([[3, 2, 1, 0, 0], [4, 3, 2, 2, 1]])
    part, whole = explainers(layers(4), edges, X[:5])
    assert part.explain(4).values == pytest.approx(whole.explain(4).values)


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_a_function_that_sends_against_the_edges_is_noticed():
    """Its neighbours are not among the candidates, which is reported."""

    def backwards(x, edge_index):
        return layers(1)(x, edge_index[::-1])

    part, whole = explainers(backwards)
    for target in (0, 5, TARGET):
        assert NOTE in part.explain(target).warnings[0]
        assert part.explain(target) == whole.explain(target)


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
@pytest.mark.parametrize("size", [4, 30])
def test_one_layer_more_than_stated_is_detected(size):
    """Also where the part around a node is the whole graph."""
    path = np.array([np.arange(size - 1), np.arange(1, size)])
    x = np.random.default_rng(0).normal(size=(size, 2))
    part, whole = explainers(layers(2), path, x)
    assert NOTE in part.explain(size - 1).warnings[0]
    assert part.explain(size - 1) == whole.explain(size - 1)
