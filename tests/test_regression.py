"""Models that predict numbers: what counts is how far a value moves, not which class wins."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.explanation.formats.settings_file import settings_to_dict
from pgm_explainer.sampling import Deviation, TopDeviation

NUM_NODES, TARGET, STRONG, WEAK = 9, 4, 1, 6
STAR = np.array([[node for node in range(NUM_NODES) if node != TARGET], [TARGET] * 8])
X = np.ones((NUM_NODES, 2))


def values(x):
    """The target's value falls by 100 without the strong cause, and rises by 7 without the weak."""
    value = 50 * x[..., :1]
    value[:, TARGET] = 100 * x[:, STRONG, :1] - 7 * x[:, WEAK, :1] - 30
    return value


def two_values(x):
    """The target has one value that depends on the strong cause, and an independent one."""
    first = 50 * x[..., :1]
    first[:, TARGET] = 100 * x[:, STRONG, :1]
    return np.concatenate([first, -7 * x[..., :1]], axis=-1)


def explain(model=values, target=TARGET, **options):
    given = {"num_layers": 1, "perturbation": "zero", "significance": 0.001, "scores": "values"}
    return PGMExplainer(model, X, STAR, **{**given, **options}).explain(target)


@pytest.mark.parametrize(
    ("change", "causes"),
    [
        (Deviation(3), [STRONG, WEAK]),
        # The weak cause moves the value by less than counts as a change: it has an effect only.
        (Deviation(50), [STRONG, WEAK]),
        (TopDeviation(0.1), [STRONG, WEAK]),
        ("top_deviation", [STRONG, WEAK]),
        ("auto", [STRONG, WEAK]),
    ],
    ids=["beyond 3", "beyond 50", "top tenth", "top", "auto"],
)
@pytest.mark.parametrize("no_child", [True, False])
def test_the_cause_of_a_value_is_found(change, causes, no_child):
    explanation = explain(change=change, no_child=no_child)
    assert sorted(explanation.nodes) == causes


def test_a_value_counts_as_changed_beyond_the_tolerance():
    explanation = explain(change=Deviation(3), num_samples=2000)
    assert explanation.query({STRONG: "perturbed"}) == pytest.approx(0)
    assert explanation.query({WEAK: "perturbed"}) == pytest.approx(0)
    assert explanation.query({STRONG: "original", WEAK: "original"}) == pytest.approx(1)
    assert explanation.held == pytest.approx(0.9**2, abs=0.03)


def test_nothing_within_the_tolerance_is_a_change():
    explanation = explain(change=Deviation(1000))
    assert explanation.network is None
    assert "kept in all" in str(explanation)
    assert "predicts the value 63 for node 4." in str(explanation)


def test_a_value_is_no_class():
    explanation = explain()
    assert explanation.values == (63.0,)
    assert explanation.explained_class is None
    assert explanation.predicted_class is None
    assert explanation.probability is None
    said = str(explanation)
    assert said.startswith("The model predicts the value 63 for node 4.")
    assert "class" not in said
    assert "if perturbed" in said
    json.dumps(settings_to_dict(explanation.settings))


def test_the_default_is_the_half_with_the_largest_changes():
    assert explain().settings.sampling.change == TopDeviation(0.5)
    assert explain() == explain(change=TopDeviation(0.5))


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_a_value_does_not_matter_to_the_default(factor):
    other, usual = explain(lambda x: factor * values(x)), explain()
    assert (other.ranking, other.network) == (usual.ranking, usual.network)
    assert other.nodes == usual.nodes
    np.testing.assert_allclose(other.effects.effect, factor * usual.effects.effect, rtol=1e-6)


@pytest.mark.parametrize("task", ["graph", "edge"])
def test_values_of_graphs_and_pairs_are_explained_too(task):
    def model(x, pairs=None):
        if pairs is None:
            return values(x)[:, TARGET]
        return values(x)[:, pairs[1]]

    explanation = explain(model, (8, TARGET) if task == "edge" else None, task=task)
    assert sorted(explanation.nodes) == [STRONG, WEAK]
    assert explanation.values == (63.0,)
    assert "predicts the value 63 for the " in str(explanation)


def test_several_values_are_explained_together_or_one_alone():
    both = explain(two_values)
    assert both.values == (100.0, -7.0)
    assert "predicts the values 100 and -7 for node 4." in str(both)
    first = explain(two_values, output=0)
    assert first.values == (100.0,)
    assert first.nodes == [STRONG]
    second = explain(two_values, output=1)
    assert second.values == (-7.0,)
    assert second.nodes == []
    with pytest.raises(InputError, match="output=2"):
        explain(two_values, output=2)


def test_many_values_at_once_give_what_each_gets_alone():
    explainer = PGMExplainer(values, X, STAR, num_layers=1, perturbation="zero", scores="values")
    for each in explainer.explain_many(range(NUM_NODES)):
        assert each == explainer.explain(each.target)


def test_a_class_of_a_value_is_refused():
    with pytest.raises(InputError, match="explained_class"):
        explain(explained_class=1)


def test_a_single_score_may_be_a_value(recwarn):
    """A regression that is taken for a classifier gets a warning that says what to do."""
    found = explain(scores="auto", change="auto")
    assert any("for a regression, set scores='values'" in text for text in found.warnings)
    assert any("scores='values'" in str(each.message) for each in recwarn)
    for options in ({"scores": "values"}, {"scores": "logits"}):
        assert not any("scores='values'" in text for text in explain(**options).warnings)


def test_a_single_probability_is_no_value():
    def sigmoid(x):
        return 1 / (1 + np.exp(-values(x) / 50))

    found = explain(sigmoid, scores="auto")
    assert not any("scores='values'" in text for text in found.warnings)
