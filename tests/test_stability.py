"""How often the predicted class stays, the mean prediction, and the thresholds of change."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from pgm_explainer import Deviation, PGMExplainer, PGMExplainerWarning
from pgm_explainer.io import explanation_from_dict, explanation_to_dict
from pgm_explainer.report.terms import describe_kept
from pgm_explainer.sampling import CHANGES, as_change

SAMPLES = 300


class Recording:
    """A model that remembers what it returned for the target in the last samples."""

    def __init__(self, model, target: int) -> None:
        self.model, self.target, self.outputs = model, target, []

    def __call__(self, x):
        scores = self.model(x)
        self.outputs.append(scores[:, self.target])
        return scores

    @property
    def samples(self):
        """The scores in the samples, which are the last calls."""
        return np.concatenate(self.outputs)[-SAMPLES:]


def probabilities(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def explained(toy, target=14, **options):
    model = Recording(toy.whole, target)
    chosen = {"num_layers": 2, "num_samples": SAMPLES, "perturb_probability": 0.25, **options}
    explainer = PGMExplainer(model, toy.x, toy.edge_index, **chosen)
    return explainer.explain(target), model.samples


@pytest.mark.parametrize("explained_class", [None, 0, 1, 2])
@pytest.mark.parametrize("target", [3, 8, 14])
def test_they_are_those_of_the_models_outputs(toy, target, explained_class):
    explanation, scores = explained(toy, target, explained_class=explained_class)
    before = toy.whole(toy.x[None])[0, target]
    stayed = (scores.argmax(axis=-1) == before.argmax()).mean()
    assert explanation.class_stayed == stayed
    assert explanation.predicted_class == before.argmax()
    chosen = probabilities(scores)[:, explanation.explained_class]
    assert explanation.sample_mean == pytest.approx(chosen.mean(), abs=1e-9)


def test_a_regression_has_a_mean_but_no_class(toy):
    explanation, scores = explained(toy, scores="values", output=2)
    assert explanation.class_stayed is None
    assert explanation.sample_mean == pytest.approx(scores[:, 2].mean(), abs=1e-9)
    explanation, scores = explained(toy, scores="values")
    away = np.linalg.norm(scores - np.array(explanation.values), axis=-1)
    assert explanation.sample_mean == pytest.approx(away.mean(), abs=1e-9)


def test_one_of_several_labels_stays_if_it_stays_present_or_absent(toy):
    explanation, scores = explained(toy, output=1, scores="logits")
    absent = explanation.predicted_class == 0
    assert explanation.class_stayed == ((scores[:, 1] < 0) == absent).mean()


def test_a_tie_is_no_other_prediction():
    """Rounding errors of another processor do not turn a tie into a changed class."""
    rng = np.random.default_rng(0)

    def model(x):
        return 1e-9 * rng.normal(size=(*x.shape[:2], 3))

    edges = np.array([[1], [0]])
    explainer = PGMExplainer(model, np.eye(2), edges, num_layers=1, num_samples=50)
    assert explainer.explain(0).class_stayed == 1


@pytest.mark.parametrize(
    "execution",
    [{}, {"samples_per_call": 7}, {"max_memory": "1 MB"}, {"max_memory": "1 MB", "seed": 0}],
)
def test_many_targets_and_little_memory_change_nothing(toy, execution):
    options = {"num_layers": 2, "num_samples": 500, "perturb_probability": 0.25}
    alone = PGMExplainer(toy.part, toy.x, toy.edge_index, **options)
    together = PGMExplainer(toy.part, toy.x, toy.edge_index, **options, **execution)
    for each in together.explain_many(range(16)):
        same = alone.explain(each.target)
        assert each.class_stayed == same.class_stayed
        assert each.sample_mean == pytest.approx(same.sample_mean, abs=1e-9)
        assert each.thresholds == pytest.approx(same.thresholds, abs=1e-6)


CHOICES = [*(name for name in CHANGES if name != "top_deviation"), [0.02, 0.1, 0.3], 0.07]


@pytest.mark.parametrize("change", CHOICES, ids=str)
@pytest.mark.parametrize("target", [3, 14])
def test_the_threshold_decides_what_is_kept(toy, change, target):
    explanation, scores = explained(toy, target, change=change)
    chosen = probabilities(scores)[:, explanation.explained_class]
    falls = explanation.probability - chosen
    if explanation.settings.sampling.change.name in ("absolute", "large_move"):
        falls = abs(falls)
    if change == "flip":
        assert explanation.thresholds == ()
        assert "was the most likely class" in describe_kept(explanation)
        return
    assert len(explanation.thresholds) == as_change(change).levels - 1
    assert explanation.held == (falls <= explanation.thresholds[0]).mean()


@pytest.mark.parametrize("output", [None, 2])
@pytest.mark.parametrize("change", ["top_deviation", Deviation(0.5)], ids=["top", "deviation"])
def test_the_threshold_of_a_regression_is_in_its_unit(toy, change, output):
    explanation, scores = explained(toy, scores="values", change=change, output=output)
    values = scores if output is None else scores[:, [output]]
    moves = abs(values - np.array(explanation.values)).max(axis=-1)
    assert explanation.held == (moves <= explanation.thresholds[0]).mean()


def test_an_own_change_has_no_threshold(toy):
    explanation, _ = explained(toy, change=lambda before, after: np.zeros(after.shape[:2]))
    assert explanation.thresholds == ()


def test_kept_is_told_in_numbers(toy):
    explanation, _ = explained(toy, change=0.1)
    before, below = explanation.probability, explanation.probability - 0.1
    assert describe_kept(explanation) == (
        f"In the network, “kept” means that the probability of class 2 did not fall from "
        f"{before:.3f} to below {below:.3f}. That was so in {explanation.held:.1%} of 300 "
        f"samples; the same rule applies to the predictions of other nodes."
    )
    move, _ = explained(toy, change="absolute")
    assert f"stayed between {before - 0.05:.3f} and 1.000 ({before:.3f} unperturbed)" in (
        describe_kept(move)
    )
    levels, _ = explained(toy, change=[0.05, 0.3])
    assert f"how many of {before - 0.05:.3f} and {before - 0.3:.3f} it fell below" in (
        describe_kept(levels)
    )
    never = replace(explanation, probability=0.05, values=(0.9, 0.05, 0.05))
    assert "did not fall by more than 0.1 (it cannot fall that far)" in describe_kept(never)
    value, _ = explained(toy, scores="values", output=2, change=Deviation(0.5))
    (v,) = value.values
    assert f"stayed between {v - 0.5:.4g} and {v + 0.5:.4g} ({v:.4g} " in describe_kept(value)
    old = replace(explanation, thresholds=())
    assert "the explained class did not fall by more than 0.1." in describe_kept(old)


def test_the_targets_prediction_alone_gives_the_same(toy):
    explanation, _ = explained(toy)
    alone, _ = explained(toy, own_predictions=False)
    for name in ("class_stayed", "sample_mean", "thresholds"):
        assert getattr(alone, name) == pytest.approx(getattr(explanation, name), abs=1e-6)
    assert "the same rule applies" not in describe_kept(alone)
    assert alone.reason() == explanation.reason()


def test_samples_that_are_used_again_give_the_same(toy):
    explainer = PGMExplainer(toy.whole, toy.x, toy.edge_index, num_layers=2, num_samples=SAMPLES)
    first, again = explainer.explain(14), explainer.explain(14)
    assert first == again
    assert first.reason("engineer") == again.reason("engineer")


def test_files_hold_them(toy):
    for options in ({}, {"scores": "values"}, {"change": "flip"}, {"change": [0.1, 0.2]}):
        explanation, _ = explained(toy, **options)
        loaded = explanation_from_dict(explanation_to_dict(explanation))
        for name in ("class_stayed", "sample_mean", "thresholds"):
            assert getattr(loaded, name) == getattr(explanation, name)


def test_an_answer_from_few_samples_is_warned_about(on_a_path):
    explanation = on_a_path(num_samples=200, perturb_probability=0.1).explain(0)
    first, second = explanation.nodes[:2]
    facts = [
        {first: one, second: two}
        for one in ("original, kept", "original, changed", "perturbed, kept", "perturbed, changed")
        for two in ("original, kept", "perturbed, kept", "perturbed, changed")
    ]
    possible = [fact for fact in facts if explanation.support(fact) > 0]
    rare = [fact for fact in possible if explanation.support(fact) < 5]
    common = [fact for fact in possible if explanation.support(fact) >= 5]
    assert rare
    assert common
    for fact in rare:
        with pytest.warns(PGMExplainerWarning, match="fewer than 5 samples are expected"):
            explanation.query(fact)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explanation.query()
        for fact in common:
            explanation.query(fact)
        assert str(explanation)
        explanation.to_html()
