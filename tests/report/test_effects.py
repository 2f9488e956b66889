"""What changes a prediction and what else depends on it: rows and sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from pgm_explainer import PGMExplainer
from pgm_explainer.effects import Effects
from pgm_explainer.report.colours import UNCLEAR
from pgm_explainer.report.effects import (
    Mention,
    dependence_sentence,
    dependent_nodes,
    effect_sentence,
    effects_caption,
    left_out_sentences,
    own_sentences,
    plain,
    shown_effects,
    unclear_words,
)
from pgm_explainer.report.measure import measure_of

TARGET, CAUSE, SIBLING, THIRD = 0, 1, 2, 3
EDGES = np.array([[CAUSE, CAUSE, SIBLING, THIRD], [TARGET, SIBLING, TARGET, TARGET]])


def common_cause(x):
    """The target and its sibling both follow the cause; node 3 follows its own feature."""
    score = 8 * x[..., 0] - 4
    score[:, TARGET] = score[:, SIBLING] = 8 * x[:, CAUSE, 0] - 4
    return np.stack([-score, score], axis=-1)


def sums(*weights):
    """The target's score is a sum of the features of all four nodes with these weights."""

    def model(x):
        score = 8 * x[..., 0] - 4
        score[:, TARGET] = x[..., 0] @ np.array(weights) / 4
        return np.stack([-score, score], axis=-1)

    return model


def explain(model, **options):
    chosen = {
        "num_layers": 1,
        "num_samples": 2000,
        "perturb_probability": 0.3,
        "perturbation": "zero",
        **options,
    }
    return PGMExplainer(model, np.ones((4, 1)), EDGES, **chosen).explain(TARGET)


def said(sentence):
    return plain(sentence, str)


def test_a_dependent_node_is_not_reported_as_a_cause():
    explanation = explain(common_cause)
    assert set(explanation.nodes) == {CAUSE, SIBLING}
    assert [each.number for each in shown_effects(explanation)] == [CAUSE]
    assert dependent_nodes(explanation).tolist() == [SIBLING]
    assert said(dependence_sentence(explanation)) == (
        "Node 2 changes together with the prediction, but perturbing it has no significant effect."
    )
    words = " ".join(str(explanation).split())
    assert f"What else depends on it: {said(dependence_sentence(explanation))}" in words
    assert Mention(SIBLING) in dependence_sentence(explanation)


def test_tasks_without_node_predictions_have_no_dependents():
    explanation = explain(common_cause)
    settings = explanation.settings
    model = replace(settings.model, task="graph", hops=None)
    graph = replace(explanation, settings=replace(settings, model=model))
    assert said(dependence_sentence(graph)).startswith(
        "Node 2 may be weakly related to the prediction, or only by chance: perturbing it has no"
    )


def test_dependents_are_significant_only_in_the_ranking(kinds):
    for explanation in kinds.values():
        causes = {each.node for each in explanation.effects if each.significant}
        dependent = [each.node for each in explanation.ranking if each.significant]
        expected = [node for node in dependent if node not in causes]
        assert dependent_nodes(explanation).tolist() == expected


def test_the_absence_of_dependents_is_stated():
    assert said(dependence_sentence(explain(sums(0, 8, 0, 0)))) == (
        "The prediction depends significantly on no other node."
    )
    idle = explain(lambda x: np.ones((*x.shape[:2], 2)))
    assert said(dependence_sentence(idle)) == "The prediction depends significantly on no node."


def test_falls_and_rises_are_described_with_sizes_and_intervals():
    explanation = explain(sums(1, 3, 0, -3), perturb_probability=0.5)
    measure = measure_of(explanation)
    by_node = {each.number: each for each in shown_effects(explanation)}
    assert (by_node[CAUSE].direction, by_node[THIRD].direction) == ("falls", "rises")
    for node, verb in ((CAUSE, "lowers"), (THIRD, "raises")):
        effect = by_node[node].effect
        size, *ends = (
            f"{100 * abs(each):.1f}" for each in (effect.effect, effect.low, effect.high)
        )
        low, high = sorted(ends, key=float)
        assert said(effect_sentence(by_node[node], measure)) == (
            f"Perturbing node {node} {verb} the probability of class "
            f"{explanation.explained_class} by {size} percentage points (95% interval {low} to "
            f"{high})."
        )


def test_a_node_with_effects_in_both_directions_has_no_direction():
    """Its sign decides, and the features of other nodes are as often positive as negative."""
    x = np.concatenate(([[1.0], [0.0]], np.tile([[-1.0], [1.0]], (20, 1))))
    edges = np.array([[1], [0]])

    def model(x):
        score = np.zeros((*x.shape[:2], 2))
        score[:, 0, 1] = 3 * x[:, 1, 0]
        return score

    explainer = PGMExplainer(model, x, edges, num_layers=1, perturbation="permute", change="flip")
    explanation = explainer.explain(0)
    (found,) = shown_effects(explanation)
    assert found.direction == "both"
    assert (
        "Perturbing node 1 changes the probability of class 0, in a direction that is not clear ("
        in said(effect_sentence(found, measure_of(explanation)))
    )
    row = next(line for line in str(explanation).splitlines() if line.strip().startswith("1  "))
    assert "  direction not clear  " in row
    text = " ".join(str(explanation).split())
    assert "1 of 2 nodes has a significant effect on the probability of class 0 (" in text
    assert "; its direction is not clear." in text
    assert "Direction not clear: the 95% interval contains 0 if" in text
    drawn = explanation.plot("effects").axes[0]
    assert to_hex(drawn.patches[0].get_facecolor()).upper() == UNCLEAR
    assert "direction not clear" in [each.get_text() for each in drawn.get_legend().get_texts()]


def test_effects_with_a_clear_direction_are_named_first(kinds):
    explanation = kinds["node"]
    numbers = explanation.effects.nodes[~np.isin(explanation.effects.nodes, explanation.ends)][:4]
    strength = np.array([1.0, 0.9, 0.8, 0.7])
    effect, half = np.array([0.05, -0.4, -0.3, -0.001]), np.array([0.2, 0.05, 0.05, 0.0005])
    shown = Effects(
        numbers, effect, effect - half, effect + half, strength, -20 * strength, strength > 0
    )
    said = replace(explanation, effects=shown).reason()
    unclear, first, second, trivial = numbers.tolist()
    assert f"data of node {first} lowers" in said
    assert f"node {second} by 30.0 (25.0 to 35.0)" in said
    assert "not clear" not in said
    assert f"node {trivial} by" not in said
    assert "for 4 of 4 nodes (3 of them with a clear direction)" in said
    assert unclear_words(shown) == "Direction not clear: the 95% interval contains 0."
    shown = replace(shown, effect=np.array([0.5, -0.4, -0.3, -0.001]), low=effect - 1)
    assert f"data of node {unclear} changes" in replace(explanation, effects=shown).reason()


def test_the_number_of_effects_is_stated():
    explanation = explain(sums(0, 4, 0, 1))
    assert said(effects_caption(explanation)) == (
        "2 of 4 nodes have a significant effect on the probability of class 1 (level 0.05, "
        "Benjamini–Hochberg). The strongest come first. Strength is the typical size of single "
        "changes, up or down, so mean effects of similar size may be in another order."
    )


def test_the_absence_of_effects_is_stated():
    explanation = explain(lambda x: np.ones((*x.shape[:2], 2)), correction="none")
    assert effects_caption(explanation) == (
        "None of 4 nodes has a significant effect on the probability of class 0 (level 0.05)."
    )
    assert list(own_sentences(explanation)) == []
    assert "95%" not in str(explanation).partition("What changes")[2].partition("A prediction")[0]


def test_the_targets_own_effect_is_among_them():
    explanation = explain(sums(8, 1, 0, 0))
    first, second = shown_effects(explanation)
    assert (first.number, first.is_target, second.is_target) == (TARGET, True, False)
    assert list(own_sentences(explanation)) == []
    idle = explain(sums(0, 8, 0, 0))
    (sentence,) = own_sentences(idle)
    assert said(sentence) == "Perturbing the target itself has no significant effect."


def test_both_ends_of_a_pair_are_its_target(kinds):
    explanation = kinds["edge"]
    own = [each.number for each in shown_effects(explanation, significant=False) if each.is_target]
    assert sorted(own) == [2, 14]


def test_the_text_names_strong_causes_outside_the_network(crowd):
    explanation = crowd(30, 9, max_nodes=2, num_samples=3000)
    assert len(explanation.left_out) == 7
    (sentence,) = left_out_sentences(explanation)
    numbers = [part.number for part in sentence if isinstance(part, Mention)]
    assert numbers == explanation.left_out
    assert said(sentence).startswith(f"Nodes {numbers[0]}, ")
    assert said(sentence).endswith(
        " have strong effects but are not in the network (max_nodes is 2)."
    )
    assert said(sentence) in " ".join(str(explanation).split())
    assert list(left_out_sentences(replace(explanation, network=None))) == []
    assert list(left_out_sentences(crowd(30, 9, max_nodes=9, num_samples=3000))) == []


def test_of_many_nodes_the_first_eight_are_named(crowd):
    explanation = crowd(30, 12, num_samples=6000)
    nobody = np.zeros(len(explanation.effects), dtype=bool)
    explanation = replace(explanation, effects=replace(explanation.effects, significant=nobody))
    count = len(dependent_nodes(explanation))
    assert count > 9
    assert f" and {count - 8} more change together" in said(dependence_sentence(explanation))


MEASURED = {
    "node": ("the probability of class 2", "lowers the probability of class 2"),
    "label": ("the probability of not having label 1", "lowers the probability of not having"),
    "values": ("the predicted values", "keeps the predicted values closer to the original ones"),
    "value": ("the predicted value", "lowers the predicted value"),
    "graph": ("the probability of class 2", "lowers the probability of class 2"),
}


@pytest.mark.parametrize("kind", MEASURED)
def test_effects_have_the_right_measure(kinds, kind):
    measure = measure_of(kinds[kind])
    what, falls = MEASURED[kind]
    assert measure.what == what
    assert measure.falls.startswith(falls)
    points = kinds[kind].explained_class is not None
    assert (measure.unit, measure.factor) == (("percentage points", 100) if points else ("", 1))


def test_classes_and_values_have_their_given_names():
    names = {"class_names": ["cold", "warm"]}
    explanation = explain(sums(0, 1, 0, 0), **names)
    assert measure_of(explanation).what == "the probability of class warm"
    value = explain(sums(0, 1, 0, 0), **names, scores="values", output=1)
    assert measure_of(value).what == "the predicted warm"


@pytest.mark.parametrize(
    ("factor", "written"),
    [(2.0, "+2.00"), (2e-3, "+0.00200"), (2e-8, "+2.00e-08"), (2e9, "+2.00e+09"), (500.0, "+500")],
)
def test_small_and_large_values_keep_their_digits(factor, written):
    explanation = explain(lambda x: -factor * x[:, [1, 1, 1, 1]], scores="values")
    assert measure_of(explanation).signed(factor) == written


def test_a_widening_that_rounds_to_one_is_not_mentioned(kinds):
    effects = kinds["node"].effects
    every = np.ones(len(effects), dtype=bool)
    unclear = replace(effects, significant=every, low=effects.effect - 1, high=effects.effect + 1)
    assert unclear_words(unclear) == "Direction not clear: the 95% interval contains 0."
    one = np.arange(len(effects)) == 0
    assert "widened by a factor of 1." in unclear_words(replace(unclear, significant=one))
