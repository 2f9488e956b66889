"""A flat row for each explanation, from Python, data sets and the command line."""

import csv

import numpy as np
import pytest

from pgm_explainer import PGMExplainer, PGMExplainerWarning, explain_dataset, explain_graphs
from pgm_explainer.cli import main

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
X = np.array([[2.0, 0], [0, 1], [0, 1]])


@pytest.fixture(scope="module")
def explainer():
    return PGMExplainer(
        lambda x: PATH @ x,
        X,
        np.array(PATH.nonzero()),
        num_layers=1,
        names=["ann", "bob", "cy"],
        feature_names=["good", "bad"],
        class_names=["yes", "no"],
        num_samples=300,
    )


def test_it_holds_names_the_strongest_part_and_the_reason(explainer):
    explanation = explainer.explain("bob", with_features=True)
    row = explanation.summary()
    strongest = next(each for each in explanation.effects if each.node != "bob")
    assert (row["target"], row["explained_class"]) == ("bob", "yes")
    assert (row["part"], row["effect"]) == (strongest.node, strongest.effect)
    assert (row["low"], row["high"], row["evidence"]) == (strongest.low, strongest.high, "for")
    assert (row["feature"], row["feature_node"]) == ("good", "ann")
    assert row["reason"] == explanation.reason()


def test_without_effects_and_features_there_is_none():
    explainer = PGMExplainer(
        lambda x: np.ones((*x.shape[:2], 2)), X, np.array(PATH.nonzero()), num_layers=1
    )
    with pytest.warns(PGMExplainerWarning):
        row = explainer.explain(1).summary()
    assert (row["part"], row["feature"], row["warnings"]) == (None, None, 1)


def test_graphs_are_told_by_title_or_position():
    def count(x, edge_index):
        return x.sum(axis=(1, 2))[:, None]

    graphs = [(np.eye(3)[:n], np.array([[0], [1]])) for n in (2, 3)]
    found = explain_graphs(
        count, graphs, perturbation="zero", num_samples=50, scores="values", progress=False
    )
    assert [each.summary()["target"] for each in found] == [0, 1]


def test_a_data_set_as_a_frame_and_as_a_csv_file(explainer, tmp_path, capsys):
    pytest.importorskip("pandas")
    found = explain_dataset(explainer, None, tmp_path / "data", names=["ann", "bob", "cy"])
    frame = found.summary().set_index("target")
    assert list(frame.index) == ["ann", "bob", "cy"]
    assert frame.loc["bob", "part"] == "ann"
    assert main(["show", str(tmp_path / "data"), "--output", str(tmp_path / "all.csv")]) == 0
    with open(tmp_path / "all.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["target"] for row in rows] == ["ann", "bob", "cy"]
    assert rows[1]["reason"] == frame.loc["bob", "reason"]
