"""Columns of CSV files that are not features, and the smallest change on the command line."""

from __future__ import annotations

import json

import pytest

from pgm_explainer import Explanation

PEOPLE = (
    "name,visits,country,joined,label\nAnn,1,DE,2020-01-01,1\nBob,4,FR,2021-05-05,0\nCid,2,,,1\n"
)
FRIENDS = "when,source,target,note\nmay,Ann,Bob,x\njune,Bob,Ann,y\njuly,Cid,Ann,z\n"
TABLES = ("--features", "n.csv", "--edges", "e.csv", "--target", "Ann")
OTHERS = "country,joined,label,when,note"


@pytest.fixture
def tables(folder):
    (folder / "n.csv").write_text(PEOPLE)
    (folder / "e.csv").write_text(FRIENDS)
    return folder


def test_columns_are_left_out(explain, tables):
    code, out, _ = explain(*TABLES, "--json", "--drop-columns", OTHERS, graph="")
    assert code == 0
    found = json.loads(out)
    assert found["feature_names"] == ["visits"]
    chosen = ("--use-columns", "visits", "--drop-columns", "when, note")
    code, out, _ = explain(*TABLES, "--json", *chosen, graph="")
    assert code == 0
    assert json.loads(out) == found


def test_semicolons_separate_cells_where_there_is_no_comma(explain, tables):
    _, commas, _ = explain(*TABLES, "--json", "--drop-columns", OTHERS, graph="")
    (tables / "n.csv").write_text(PEOPLE.replace(",", ";"), encoding="utf-8-sig")
    (tables / "e.csv").write_text(FRIENDS.replace(",", ";"))
    code, out, _ = explain(*TABLES, "--json", "--drop-columns", OTHERS, graph="")
    assert code == 0
    assert json.loads(out) == json.loads(commas)
    (tables / "n.csv").write_text(PEOPLE.replace(",", ";").replace("Bob;4", "Bob;4,5"))
    code, _, error = explain(*TABLES, "--drop-columns", OTHERS, graph="")
    assert code == 2
    assert "line 3, column 'visits': '4,5' is not a number; write decimals with a point" in error


def test_a_table_that_is_not_text_says_how_to_save_it(explain, tables):
    (tables / "n.csv").write_bytes(PEOPLE.replace("Ann", "Ännchen").encode("latin-1"))
    code, _, error = explain(*TABLES, graph="")
    assert code == 2
    assert "n.csv: this is not UTF-8 text: " in error
    assert "; save the table as CSV in UTF-8" in error


def test_features_can_be_chosen_in_order(tables):
    from pgm_explainer.cli.csv_graph import Columns, read_csv_graph

    columns = Columns(use=("label", "visits"), drop=("when", "note"))
    graph = read_csv_graph(tables / "e.csv", tables / "n.csv", False, columns)
    assert graph.feature_names == ["label", "visits"]
    assert graph.x.tolist() == [[1, 1], [0, 4], [1, 2]]
    assert not graph.more


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--drop-columns", "contry"], "n.csv: there is no column 'contry'; did you mean country?"),
        (["--use-columns", "visit"], "n.csv: there is no column 'visit'; did you mean visits?"),
        (["--use-columns", "zzz"], "choose from visits, country, joined, label"),
        (["--use-columns", "when"], "there is no column 'when'"),
        (["--drop-columns", "visits,country,joined,label"], "no feature is left"),
        (
            ["--drop-columns", "label"],
            "column 'country': 'DE' is not a number; leave the column out (--drop-columns "
            "country,joined)",
        ),
        (["--drop-columns", "country,joined"], "e.csv: line 2, column 'when': 'may' is not a"),
        (["--drop-columns", "label", "--use-columns", "label"], "'label' is both"),
    ],
)
def test_a_wrong_column_is_told(explain, tables, options, said):
    code, _, err = explain(*TABLES, *options, graph="")
    assert code == 2
    assert said in err


def test_columns_need_a_table_with_a_header(explain, tables):
    code, _, err = explain("--target", "0", "--drop-columns", "a")
    assert code == 2
    assert "--drop-columns applies only to --features" in err
    (tables / "n.csv").write_text("Ann,1\nBob,2\nCid,3\n")
    code, _, err = explain(*TABLES, "--drop-columns", "when", graph="")
    assert code == 2
    assert "the first line is not a header" in err


def test_the_smallest_change_is_in_every_output(explain, shell, folder):
    words = ("--counterfactual", "--perturbation", "zero")
    code, out, _ = explain("--target", "Bob", *words, graph="named.npz")
    assert code == 0
    said = "The smallest change found is replacing the data of node Bob: it changes the prediction"
    assert said in " ".join(out.split())
    files = ("--report", "why.md", "--output", "why.json", "--output", "why.html")
    assert explain("--target", "Bob", *words, *files, graph="named.npz")[0] == 0
    assert "The smallest change found is" in (folder / "why.html").read_text()
    assert said in (folder / "why.md").read_text()
    assert Explanation.load("why.json").smallest_change.parts == ("Bob",)
    assert said in " ".join(shell("show", "why.json")[1].split())
    code, out, _ = explain("--target", "0", "1", *words, "--json")
    assert code == 0
    assert all("smallest_change" in each for each in json.loads(out))


def test_values_have_no_smallest_change(explain):
    code, _, err = explain("--target", "0", "--counterfactual", "--scores", "values")
    assert code == 2
    assert "the model predicts values" in err
