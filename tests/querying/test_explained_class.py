"""Another class than the predicted one, and one label of several."""

from __future__ import annotations

import numpy as np
import pytest

from pgm_explainer import PGMExplainer, QueryError

NUM_NODES, TARGET = 9, 4
STAR = np.array([[node for node in range(NUM_NODES) if node != TARGET], [TARGET] * 8])
X = np.ones((NUM_NODES, 2))
OPTIONS = {"num_layers": 1, "perturbation": "zero", "significance": 0.001}


def probabilities(x):
    """The target's class 0 needs node 1, its class 1 needs node 6; class 2 is what is left."""
    first = 0.1 + 0.4 * x[..., 0]
    second = np.full_like(first, 0.35)
    first[:, TARGET] = 0.1 + 0.4 * x[:, 1, 0]
    second[:, TARGET] = 0.05 + 0.3 * x[:, 6, 0]
    return np.stack([first, second, 1 - first - second], axis=-1)


def explain(**options):
    return PGMExplainer(probabilities, X, STAR, **OPTIONS, **options).explain(TARGET)


@pytest.mark.parametrize(
    ("chosen", "explained", "cause"), [(None, 0, 1), (0, 0, 1), (1, 1, 6), (np.int8(1), 1, 6)]
)
@pytest.mark.parametrize("change", ["fall", "levels", "absolute"])
def test_each_class_has_its_own_cause(chosen, explained, cause, change):
    explanation = explain(explained_class=chosen, change=change)
    assert explanation.nodes == [cause]
    assert explanation.explained_class == explained
    assert explanation.predicted_class == 0
    assert explanation.values == pytest.approx((0.5, 0.35, 0.15))
    assert explanation.probability == pytest.approx(explanation.values[explained])
    assert explanation.query({cause: "perturbed"}) == pytest.approx(0)


def test_a_class_that_only_rises_never_falls():
    explanation = explain(explained_class=2)
    assert explanation.network is None
    assert explanation.explained_class == 2
    with pytest.raises(QueryError, match="never changed in the samples"):
        explanation.query()
    assert sorted(explain(explained_class=2, change="absolute").nodes) == [1, 6]


def test_the_text_distinguishes_explained_and_predicted_class():
    other = " ".join(str(explain(explained_class=1)).split())
    expected = "not class 1, to which it gives a probability of 35.0%."
    assert other.startswith(f"The model predicts class 0 for node 4, {expected}")
    predicted = "predicts class 0 for node 4, with a probability of 50.0%."
    assert predicted in str(explain(explained_class=0))


def test_the_predicted_class_is_the_default():
    assert explain() == explain(explained_class=0)
    assert explain() != explain(explained_class=1)


@pytest.mark.parametrize(("own", "cause"), [(0, 1), (1, 6)])
def test_each_node_may_have_a_class_of_its_own(own, cause):
    classes = np.full(NUM_NODES, 2)
    classes[TARGET] = own
    for given in (classes, classes.tolist()):
        explanation = explain(explained_class=given)
        assert explanation.explained_class == own
        assert explanation.nodes == [cause]
        assert explanation.settings.model.explained_class == tuple(classes.tolist())


def test_the_classes_of_many_targets_are_those_given_for_them():
    classes = np.arange(NUM_NODES) % 3
    explainer = PGMExplainer(probabilities, X, STAR, **OPTIONS, explained_class=classes)
    many = explainer.explain_many([7, 4, 0])
    assert [each.explained_class for each in many] == [1, 1, 0]
    for each in many:
        assert each == explainer.explain(each.target)


@pytest.mark.parametrize(("chosen", "cause"), [(0, 1), (1, 6)])
def test_the_explained_class_of_a_graph_may_be_chosen(chosen, cause):
    explainer = PGMExplainer(
        lambda x: probabilities(x)[:, TARGET],
        X,
        STAR,
        task="graph",
        explained_class=chosen,
        **OPTIONS,
    )
    explanation = explainer.explain()
    assert explanation.nodes == [cause]
    assert explanation.explained_class == chosen


def test_the_explained_class_of_a_pair_may_be_chosen():
    def model(x, pairs):
        return probabilities(x)[:, pairs[0]]

    explainer = PGMExplainer(model, X, STAR, task="edge", explained_class=1, **OPTIONS)
    assert explainer.explain((TARGET, 0)).nodes == [6]


# One label of several


LABEL_CAUSES = [[1], [6], [2, 7]]


def labels(x):
    """Logits of three independent labels of the target; the third needs two nodes."""
    scores = np.repeat(8 * x[..., :1] - 4, 3, axis=-1)
    for label, causes in enumerate(LABEL_CAUSES):
        scores[:, TARGET, label] = 8 * x[:, causes, 0].prod(axis=1) - 4
    return scores


@pytest.mark.parametrize("output", range(3))
@pytest.mark.parametrize("kind", ["logits", "probabilities"])
@pytest.mark.parametrize("scores", ["auto", "stated"])
def test_each_label_has_its_own_causes(output, kind, scores):
    def model(x):
        return labels(x) if kind == "logits" else 1 / (1 + np.exp(-labels(x)))

    stated = kind if scores == "stated" else "auto"
    explainer = PGMExplainer(model, X, STAR, scores=stated, output=output, **OPTIONS)
    explanation = explainer.explain(TARGET)
    assert sorted(explanation.nodes) == LABEL_CAUSES[output]
    assert (explanation.explained_class, explanation.predicted_class) == (1, 1)
    assert explanation.probability == pytest.approx(1 / (1 + np.exp(-4)))
    assert len(explanation.values) == 2
    assert explanation.settings.model.output == output


@pytest.mark.parametrize("task", ["graph", "edge"])
def test_labels_of_graphs_and_pairs_are_explained_too(task):
    def model(x, pairs=None):
        return labels(x)[:, TARGET] if pairs is None else labels(x)[:, pairs[0]]

    explainer = PGMExplainer(model, X, STAR, task=task, output=1, **OPTIONS)
    target = (TARGET, 6) if task == "edge" else None
    assert explainer.explain(target).nodes == LABEL_CAUSES[1]


def test_the_absence_of_a_label_may_be_explained():
    explainer = PGMExplainer(labels, X, STAR, output=0, explained_class=0, **OPTIONS)
    explanation = explainer.explain(TARGET)
    assert explanation.explained_class == 0
    assert explanation.predicted_class == 1
    assert explanation.network is None  # it is absent already, and can only get less so
