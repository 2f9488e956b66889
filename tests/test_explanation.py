"""What a user holds in the end: names, comparison, questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pgm_explainer import PGMExplainer, QueryError

NUM_NODES, TARGET, CAUSES = 6, 4, [1, 3]
STAR = np.array([[0, 1, 2, 3, 5], [TARGET] * 5])
LETTERS = [("kind", letter) for letter in "abcdef"]


def planted(x):
    scores = 8 * x[..., :1] - 4
    scores[:, TARGET] = 8 * x[:, CAUSES, :1].prod(axis=1) - 4
    return np.concatenate([-scores, scores], axis=-1)


@pytest.fixture(scope="module")
def explanation():
    options = {"num_layers": 1, "perturbation": "zero", "significance": 0.001}
    return PGMExplainer(planted, np.ones((NUM_NODES, 1)), STAR, **options).explain(TARGET)


@pytest.fixture(scope="module")
def named(explanation):
    return explanation.named(LETTERS)


def test_names_are_used_everywhere(explanation, named):
    assert named.target == ("kind", "e")
    assert named.nodes == [LETTERS[node] for node in explanation.nodes]
    assert named.markov_blanket == [LETTERS[node] for node in explanation.markov_blanket]
    assert named.network.nodes == [LETTERS[node] for node in explanation.network.nodes]
    assert named.network.parents(("kind", "e")) == named.nodes
    assert [each.node for each in named.ranking] == [
        LETTERS[each.node] for each in explanation.ranking
    ]
    assert list(named.ranking.columns["node"]) == [each.node for each in named.ranking]
    assert [each.node for each in named.effects] == [
        LETTERS[each.node] for each in explanation.effects
    ]
    assert "for node ('kind', 'e'), with" in str(named)
    assert "('kind', 'b')" in str(named)


def test_names_change_no_answer(explanation, named):
    assert named.query() == explanation.query()
    for node in explanation.nodes:
        for known in ("original", "perturbed", "kept", "changed"):
            assert named.query({LETTERS[node]: known}) == explanation.query({node: known})
    assert named.held == explanation.held
    np.testing.assert_array_equal(named.neighbourhood.nodes, explanation.neighbourhood.nodes)
    assert explanation.target == TARGET  # the one it was made from is as it was
    with pytest.raises(QueryError, match="1 is not in the network"):
        named.query({1: "kept"})


def test_an_explanation_without_a_network_can_be_named(explanation):
    bare = replace(explanation, network=None, ranking=explanation.ranking.with_none_significant())
    assert bare.named(LETTERS).target == ("kind", "e")
    assert bare.named(LETTERS).nodes == []


def test_equality_is_about_what_was_found_not_about_the_models_digits(explanation, named):
    assert replace(explanation, values=(0.1, 0.9), probability=0.9) == explanation
    assert replace(explanation, warnings=("careful",)) == explanation
    assert replace(explanation, held=0.5) != explanation
    assert replace(explanation, explained_class=0) != explanation
    assert replace(explanation, target=3) != explanation
    assert replace(explanation, network=None) != explanation
    assert named != explanation
    assert named == explanation.named(LETTERS)


def test_equality_is_about_effects_too(explanation):
    effects = explanation.effects
    for name in ("effect", "low", "high", "strength", "log_p"):
        column = getattr(effects, name)
        other = replace(effects, **{name: column - 0.01 * abs(column).max()})
        assert replace(explanation, effects=other) != explanation
    rounded = replace(effects, effect=effects.effect + 1e-9)
    assert replace(explanation, effects=rounded) == explanation, "the model's rounding"


def test_causes_are_nodes_and_the_target_has_an_effect(explanation):
    effects = {each.node: each for each in explanation.effects}
    assert sorted(effects) == list(range(NUM_NODES))
    assert sorted(node for node, each in effects.items() if each.significant) == CAUSES
    assert sorted(explanation.nodes) == CAUSES
    assert not effects[TARGET].significant
    assert explanation.left_out == []
    few = replace(explanation, ranking=explanation.ranking.with_selected(np.array([1])))
    assert (few.nodes, few.left_out) == ([1], [3])
    assert few.named(LETTERS).left_out == [LETTERS[3]]


def test_the_predicted_class_is_the_likeliest_one(explanation):
    assert explanation.predicted_class == 1
    assert replace(explanation, values=(0.6, 0.4)).predicted_class == 0
    assert replace(explanation, explained_class=0).predicted_class == 1
    assert replace(explanation, explained_class=None).predicted_class is None


def test_the_ends_are_the_target_itself(explanation):
    assert explanation.ends.tolist() == [TARGET]


def test_without_a_graph_there_is_no_neighbourhood(explanation):
    assert replace(explanation, graph=None).neighbourhood is None


@pytest.mark.parametrize("evidence", ["kept", [(1, "kept")], {1}, 1, ("a", "b")], ids=repr)
def test_evidence_that_is_no_mapping_is_named(explanation, evidence):
    with pytest.raises(QueryError, match="mapping from nodes") as error:
        explanation.query(evidence)
    assert repr(evidence) in str(error.value)


def test_no_evidence_is_good_evidence(explanation):
    assert explanation.query(None) == explanation.query({}) == explanation.query()


def test_support_counts_the_samples_behind_an_answer(explanation):
    samples = explanation.settings.sampling.num_samples
    assert explanation.support() == pytest.approx(samples)
    kept, changed = (explanation.support({1: word}) for word in ("kept", "changed"))
    assert kept + changed == pytest.approx(samples)
    assert 0 < changed < kept
    both = {1: "perturbed", 3: "perturbed"}
    assert explanation.support(both) == explanation.network.probability(both) * samples


def test_support_refuses_the_same_evidence_as_query(explanation):
    with pytest.raises(QueryError, match="evidence must be a mapping"):
        explanation.support([1])
    with pytest.raises(QueryError, match="has no network"):
        replace(explanation, network=None).support()
