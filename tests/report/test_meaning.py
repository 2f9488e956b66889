"""What the words of an explanation mean is said of every change and perturbation there is."""

from __future__ import annotations

import pytest

from pgm_explainer.report.meaning import meaning
from pgm_explainer.sampling import CHANGES, PERTURBATIONS, Deviation, describe_change

CHANCE = "the probability of its class"
LARGE = "by more than 0.15, or by more than 0.4 of its own large"
SAID = {
    "large_fall(0.4, 0.15)": f"if {CHANCE} fell {LARGE} falls (their 95th percentile)",
    "large_move(0.4, 0.15)": f"if {CHANCE} moved, up or down, {LARGE} moves (their 95th percentile",
    "fall(0.05)": f"if {CHANCE} fell by more than 0.05;",
    "absolute(0.1)": f"if {CHANCE} moved by more than 0.1, up or down;",
    "flip": "if another class was the most likely;",
    "top_fraction(0.125)": f"in the 12.5% of samples in which {CHANCE} fell most;",
    "levels(0.05, 0.3, 0.6)": f"{CHANCE} fell by more than 0.05 (changed 2: 0.3, changed 3: 0.6);",
    "levels(0.05)": f"if {CHANCE} fell by more than 0.05;",
    "deviation(2.5)": "if its value moved by more than 2.5, up or down;",
    "top_deviation(0.5)": "in the 50% of samples in which its value moved most;",
    "my_own\n": r"if my_own\n said so;",
}


@pytest.mark.parametrize("change", SAID)
def test_what_it_is_to_change(change):
    scores = "values" if "deviation" in change else "auto"
    said = meaning({"change": change, "perturbation": "mean", "scores": scores})
    assert said.startswith("A prediction changed ")
    assert SAID[change] in said
    assert "else it held, or was kept." in said


def test_every_built_in_change_has_a_meaning_of_its_own():
    built_in = [*CHANGES.values(), Deviation(1.0)]
    said = {}
    for change in built_in:
        scores = "values" if "deviation" in change.name else "auto"
        settings = {"change": describe_change(change), "perturbation": "mean", "scores": scores}
        said[change.name] = meaning(settings)
    assert len(set(said.values())) == len(built_in)
    assert not any("said so" in each for each in said.values())


@pytest.mark.parametrize(
    ("perturbation", "expected"),
    [
        ("mean", "its features were replaced by their mean;"),
        ("permute", "its features were replaced by those of another node at random;"),
        ("permute and random", "at random, or by zeros and ones where all are alike;"),
        ("<lambda>", "its features were replaced by <lambda>;"),
    ],
)
def test_what_it_is_to_be_perturbed(perturbation, expected):
    assert expected in meaning({"change": "flip", "perturbation": perturbation})


def test_every_built_in_perturbation_has_a_meaning_of_its_own():
    said = {meaning({"change": "flip", "perturbation": name}) for name in PERTURBATIONS}
    assert len(said) == len(PERTURBATIONS)
    assert not any(f"by {name};" in each for each in said for name in PERTURBATIONS)


def test_of_chosen_features_it_says_so():
    said = meaning({"change": "flip", "perturbation": "zero", "features": [0]})
    assert "its chosen features were set to zero;" in said
