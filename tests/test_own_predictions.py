"""Explanations of node predictions without the predictions of the candidates."""

from __future__ import annotations

import numpy as np
import pytest

from pgm_explainer import (
    Explanation,
    ExplanationDataset,
    InputError,
    PGMExplainer,
    explain_dataset,
)


def explainer(toy, **options) -> PGMExplainer:
    return PGMExplainer(toy.part, toy.x, toy.edge_index, num_layers=2, **options)


@pytest.mark.parametrize("target", range(16))
def test_effects_do_not_depend_on_it(toy, target):
    with_own = explainer(toy).explain(target)
    without = explainer(toy, own_predictions=False).explain(target)
    assert without.target == target
    assert without.effects.agrees(with_own.effects)
    assert without.held == with_own.held
    assert without.values == pytest.approx(with_own.values)


def test_the_model_sees_only_the_receptive_field_of_the_target(toy):
    small, large = explainer(toy, own_predictions=False), explainer(toy)
    for target in range(16):
        field = small.receptive_field(target)
        assert set(field) == set(small.graph.within_hops(np.array([target]), 2))
        assert set(field) <= set(large.receptive_field(target))


def test_many_targets_together_give_the_explanations_of_each_alone(toy):
    one = explainer(toy, own_predictions=False)
    together = one.explain_many(range(16))
    assert together == [explainer(toy, own_predictions=False).explain(at) for at in range(16)]


def test_variables_of_candidates_say_whether_they_were_perturbed(toy):
    explanation = explainer(toy, own_predictions=False).explain(3)
    network = explanation.network
    assert network is not None
    assert explanation.nodes
    for node in explanation.nodes:
        assert network.variable(node).states == ("original", "perturbed")
        assert 0 <= explanation.query({node: "perturbed"}) <= 1
    assert network.variable(3).states == ("kept", "changed")
    assert "own prediction" not in str(explanation)


def test_regression_edges_files_and_data_sets(toy, tmp_path):
    options = {"own_predictions": False, "num_samples": 200}
    regression = PGMExplainer(
        lambda x, edge_index: toy.part(x, edge_index)[..., :1],
        *(toy.x, toy.edge_index),
        **{"num_layers": 2, "scores": "values", **options},
    )
    assert regression.explain(3).target == 3
    assert explainer(toy, parts="edges", **options).explain(3).target == 3
    explanation = explainer(toy, **options).explain(3)
    explanation.save(tmp_path / "why.json")
    assert Explanation.load(tmp_path / "why.json") == explanation
    explain_dataset(explainer(toy, **options), range(16), tmp_path / "set")
    assert ExplanationDataset(tmp_path / "set")[3] == explanation


def test_names_and_minimal_sets(toy):
    explanation = explainer(toy, own_predictions=False).explain(3)
    named = explanation.named([f"n{at}" for at in range(16)])
    assert named.target == "n3"
    assert explanation.counterfactual(probability=0.3).parts


def test_one_class_for_each_node(toy):
    classes = np.arange(16) % 3
    found = explainer(toy, own_predictions=False, explained_class=classes).explain_many([4, 2])
    assert [each.explained_class for each in found] == [1, 2]


@pytest.mark.parametrize("task", ["graph", "edge"])
def test_tasks_without_own_predictions_refuse_the_option(toy, task):
    with pytest.raises(InputError, match=f"own_predictions=False does not apply to task='{task}'"):
        PGMExplainer(toy.graph_level, toy.x, toy.edge_index, task=task, own_predictions=False)


@pytest.mark.parametrize("value", [None, 0, "no"])
def test_it_must_be_true_or_false(toy, value):
    with pytest.raises(InputError, match="own_predictions must be True or False"):
        explainer(toy, own_predictions=value)
