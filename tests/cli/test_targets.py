"""Targets that are typed, or listed in a file: the same for all commands."""

import argparse
from pathlib import Path

import numpy as np
import pytest

from pgm_explainer import PGMExplainerError
from pgm_explainer.cli.explainers import NamedExplainer, add_explainer
from pgm_explainer.cli.targets import add_targets, named_targets


@pytest.fixture
def targets(folder):
    """Return the targets parsed from command-line words, with the people's graph."""

    def read(*typed, model="model", graph="named.npz"):
        parser = argparse.ArgumentParser()
        add_explainer(parser)
        add_targets(parser, without="")
        usual = ["--model", f"visits_model:{model}", "--graph", graph]
        options = parser.parse_args([*usual, *typed])
        return named_targets(options, NamedExplainer.of(options))

    return read


def test_no_targets_differ_from_an_empty_list(targets):
    assert targets() is None
    assert targets("--target", "Bob") == [1]


def test_a_targets_file_has_the_syntax_of_the_option(targets):
    Path("few.txt").write_text("Dee\n\n Cid, Jr \n")
    np.save("few.npy", np.array(["Dee", "Cid, Jr"]))
    for name in ("few.txt", "few.npy"):
        assert targets("--targets-file", name) == [3, 2]
        assert targets("--target", "Ann", "--targets", name) == [0, 3, 2]


def test_a_file_of_numbers_or_a_mask(targets):
    np.save("numbers.npy", np.array([4, 1]))
    np.save("mask.npy", np.array([False, True, False, False, True]))
    assert targets("--targets-file", "numbers.npy", graph="graph.npz") == [4, 1]
    for graph in ("graph.npz", "named.npz"):
        assert targets("--targets-file", "mask.npy", graph=graph) == [1, 4]


def test_a_file_of_pairs(targets):
    np.save("pairs.npy", np.array([[0, 1], [3, 4]]))
    Path("pairs.txt").write_text("0,1\n3, 4\n")
    for name in ("pairs.npy", "pairs.txt"):
        chosen = ("--task", "edge", "--targets-file", name)
        assert targets(*chosen, model="pairs", graph="graph.npz") == [(0, 1), (3, 4)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "targets contains no targets"),
        ("\n \n", "targets contains no targets"),
        ("Ann\nAnn Bob\n", "there is no node 'Ann Bob'"),
        (np.array([9]), "there is no node '9'"),
        (np.array([1.5]), "there is no node '1.5'"),
        (np.array([], dtype=int), "contains no targets"),
        (np.array([True, False]), "mask over the 5 nodes"),
        (np.zeros((1, 1, 1)), "pairs in two columns"),
        (np.array(3), "pairs in two columns"),
    ],
    ids=str,
)
def test_an_invalid_list_of_targets_is_an_error(targets, content, said):
    name = "targets" if isinstance(content, str) else "targets.npy"
    if isinstance(content, str):
        Path(name).write_text(content)
    else:
        np.save(name, content)
    with pytest.raises(PGMExplainerError, match=said):
        targets("--targets-file", name)
