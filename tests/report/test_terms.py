"""The definitions of held and perturbed are correct for every change and perturbation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pgm_explainer.choices import Recorded
from pgm_explainer.model_config import ModelConfig
from pgm_explainer.report.terms import describe_held, describe_perturbed
from pgm_explainer.sampling import (
    CHANGES,
    PERTURBATIONS,
    Absolute,
    Deviation,
    Fall,
    Flip,
    LargeFall,
    LargeMove,
    Levels,
    SamplingConfig,
    TopDeviation,
    TopFraction,
)
from pgm_explainer.sampling.perturbation import RandomWhereConstant
from pgm_explainer.settings import Settings

ITS = "the probability of its class"
CHANGES_SAID = [
    (
        LargeFall(0.4, 0.15),
        f"{ITS} did not fall by more than the smaller of 0.15 and 0.4 times the 95th percentile "
        "of its falls",
    ),
    (
        LargeMove(0.3, 0.2),
        f"{ITS} did not change by more than the smaller of 0.2 and 0.3 times the 95th percentile "
        "of its changes",
    ),
    (Fall(0.05), f"{ITS} did not fall by more than 0.05"),
    (Absolute(0.05), f"{ITS} did not change by more than 0.05"),
    (Flip(), "its class was the most likely class"),
    (
        TopFraction(0.125),
        f"its sample was not among the roughly 12.5% in which {ITS} fell most",
    ),
    (
        TopDeviation(0.5),
        "its sample was not among the roughly 50% in which a predicted value changed most",
    ),
    (
        LargeFall(Fraction(1, 4), Fraction(1, 5)),
        f"{ITS} did not fall by more than the smaller of 0.2 and 0.25 times the 95th percentile of "
        "its falls",
    ),
    (Deviation(0.3), "no predicted value changed by more than 0.3"),
    (Levels((0.05,)), f"{ITS} did not fall by more than 0.05"),
    (
        Levels((0.05, 0.3)),
        f"{ITS} did not fall by more than 0.05; its level of change is how many "
        "thresholds (0.05 and 0.3) it exceeds",
    ),
    (Recorded("my_rule"), "'my_rule' reports no change"),
    (Recorded("fall"), "'fall' reports no change"),
]


def settings(task="node", explained_class=None, **sampling):
    return Settings(
        model=ModelConfig(task=task, explained_class=explained_class),
        sampling=SamplingConfig(**sampling),
    )


@pytest.mark.parametrize(("change", "said"), CHANGES_SAID, ids=lambda each: str(each)[:30])
def test_when_a_prediction_held(change, said):
    assert describe_held(settings("graph", change=change)) == f"The prediction was kept if {said}."


def test_every_change_has_a_description():
    said = [describe_held(settings(change=change)) for change in CHANGES.values()]
    assert not any("reports no change" in each for each in said)
    assert len(set(said)) == len(CHANGES)


def test_a_large_fall_matches_its_description():
    falls = np.random.default_rng(0).random((2000, 2)) * [0.2, 0.6]
    large = np.quantile(falls, 0.95, axis=0)
    held = (falls <= 0.15) & (falls <= 0.4 * large)
    assert (held.mean(axis=0) > 0.2).all()
    np.testing.assert_array_equal(CHANGES["large_fall"].grade(falls) == 0, held)


def test_descriptions_name_the_explained_class():
    said = describe_held(settings(change="flip", explained_class=2))
    assert said == "A prediction was kept if the explained class was the most likely class."


PERTURBATIONS_SAID = [
    (PERTURBATIONS["permute"], "the features of another node"),
    (PERTURBATIONS["mean"], "their mean"),
    (
        PERTURBATIONS["substitute"],
        "the features of a random node (common ones are drawn less often than they occur), even if "
        "the edges do not permit them",
    ),
    (
        RandomWhereConstant(PERTURBATIONS["permute"]),
        "the features of another node (for node types whose features do not vary, by 0 or 1 with "
        "equal probability)",
    ),
    (Recorded("my_rule"), "the result of 'my_rule'"),
]


@pytest.mark.parametrize(("how", "said"), PERTURBATIONS_SAID, ids=lambda each: str(each)[:30])
def test_what_perturbing_does(how, said):
    expected = f"Each node is perturbed with probability 0.1: its features are replaced by {said}."
    assert describe_perturbed(settings(perturbation=how)) == expected
    chosen = describe_perturbed(settings(perturbation=how, features=[0]))
    assert chosen == expected.replace("its features", "its chosen features")


def test_every_perturbation_has_a_description():
    said = {describe_perturbed(settings(perturbation=name)) for name in PERTURBATIONS}
    assert len(said) == len(PERTURBATIONS)
    assert not any("the result of" in each for each in said)


def test_an_explanation_describes_change_and_perturbation(kinds):
    for kind in ("node", "graph", "values", "constant", "no network"):
        made, words = kinds[kind].settings, " ".join(str(kinds[kind]).split())
        assert f"{describe_held(made)} {describe_perturbed(made)}" in words
