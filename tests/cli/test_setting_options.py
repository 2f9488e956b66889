"""Settings of the explainer as options."""

import argparse

import pytest

from pgm_explainer import Fall, LargeFall, Levels
from pgm_explainer.cli.setting_options import add_settings


def settings(*typed):
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_settings(parser)
    return parser.parse_args(typed).settings


def test_only_given_settings_are_kept():
    assert settings() == {}
    assert settings("--num-samples", "50") == {"num_samples": 50}


def test_values_are_json_or_texts():
    texts = ["no_child=false", "change=0.1", "perturbation=zero", "features=[1]", "structure=null"]
    assert settings(*(word for text in texts for word in ("--set", text))) == {
        "no_child": False,
        "change": 0.1,
        "perturbation": "zero",
        "features": [1],
        "structure": None,
    }


def test_set_and_options_are_equivalent_and_the_last_wins():
    assert settings("--set", "seed=1", "--seed", "2") == {"seed": 2}
    assert settings("--seed", "2", "--set", "seed=1") == {"seed": 1}
    flags = settings("--task", "edge", "--class-names", "a, b", "--change", "0.1")
    sets = settings(
        *("--set", "task=edge", "--set", 'class_names=["a", "b"]', "--set", "change=0.1")
    )
    assert flags == sets


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("fall(0.05)", Fall(0.05)),
        ("levels(0.1, 0.2)", Levels((0.1, 0.2))),
        ("large_fall(0.4, 0.15, 1e-3)", LargeFall(0.4, 0.15, 1e-3)),
        ("fall", "fall"),
    ],
)
def test_a_change_may_have_parameters(text, change):
    assert settings("--change", text) == settings("--set", f"change={text}") == {"change": change}


@pytest.mark.parametrize("text", ["fall(2)", "fall(0.05, 2)", "fall()", "fall)", "mine(0.1)"])
def test_a_change_that_cannot_be_read_is_an_error(text):
    with pytest.raises(argparse.ArgumentError, match="cannot read the change"):
        settings("--change", text)


@pytest.mark.parametrize("text", ["num_samples", "=3", "samples=3", ""])
def test_an_unknown_setting_is_named(text):
    with pytest.raises(argparse.ArgumentError, match="is not a setting; write name=value"):
        settings("--set", text)


@pytest.mark.parametrize("depth", [9, 500, 100_000])
def test_deeply_nested_lists_are_one_line_of_error(shell, depth):
    deep = "[" * depth + "]" * depth
    usual = ("--model", "visits_model:model", "--graph", "graph.npz", "--target", "0")
    code, _, err = shell("explain", *usual, "--set", f"features={deep}")
    assert (code, err.count("\n")) == (2, 1)
    assert "is nested more than 8 levels deep" in err
    assert len(err) < 400
