"""``pgm-explainer explain``: the same explanations as from Python, from files."""

import json
import os

import numpy as np
import pytest

from pgm_explainer import Explanation, PGMExplainer
from pgm_explainer.cli import main
from pgm_explainer.cli.csv_graph import read_csv_graph
from pgm_explainer.io import load_explanations

from .conftest import EDGES, NAMES, VISITS

CSV = ("--features", "people.csv", "--edges", "friends.csv", "--undirected")


def in_python(folder, target, **options):
    names: dict = {}
    exec((folder / "visits_model.py").read_text(), names)
    chosen = {"num_layers": 1, "num_samples": 200, **options}
    return PGMExplainer(names["model"], VISITS, EDGES, **chosen).explain(target)


def test_the_output_equals_that_of_python(folder, explain):
    code, out, err = explain("--target", "0")
    assert (code, err) == (0, "")
    assert out == f"{in_python(folder, 0)}\n"


def test_options_reach_the_explainer(folder, explain):
    options = {"perturbation": "zero", "perturb_probability": 0.4, "change": 0.2, "max_nodes": 2}
    typed = [t for name, v in options.items() for t in (f"--{name.replace('_', '-')}", str(v))]
    more = ["--seed", "3", "--class-names", "casual, loyal", "--hops", "1"]
    code, out, _ = explain("--target", "0", *typed, *more)
    same = in_python(folder, 0, **options, seed=3, class_names=["casual", "loyal"], hops=1)
    assert code == 0
    assert out == f"{same}\n"


def test_features_are_explained_too(folder, explain):
    code, out, _ = explain("--target", "0", "--explain-features", "--json")
    assert code == 0
    assert json.loads(out)["features"]["nodes"]
    code, out, _ = explain("--target", "0", "--explain-features")
    assert code == 0
    assert "Which features change the prediction: " in out
    code, out, _ = explain("--target", "0", "1", "--explain-features", "--json")
    assert all(each["features"] is not None for each in json.loads(out))


def test_json_on_standard_output_is_that_of_a_file(folder, explain):
    code, out, err = explain("--target", "0", "--json", "--output", "why.json")
    assert code == 0
    assert "1 explanation written to why.json" in err
    assert json.loads(out) == json.loads((folder / "why.json").read_text())
    assert Explanation.load("why.json") == in_python(folder, 0)


def test_many_targets_are_written_to_one_file_per_format(folder, explain):
    code, out, _ = explain(
        "--target", "1-3", "0", "2", "--output", "why.html", "--output", "why.json"
    )
    assert (code, out) == (0, "")
    assert [each.target for each in load_explanations("why.json")] == [1, 2, 3, 0]
    assert (folder / "why.html").read_text().startswith("<!doctype html>")


def test_a_picture_is_written(folder, explain):
    pytest.importorskip("matplotlib")
    assert explain("--target", "0", "--output", "why.png")[0] == 0
    assert (folder / "why.png").read_bytes().startswith(b"\x89PNG")
    assert explain("--target", "0", "--output", "why.svg", "--output", "why.pdf")[0] == 0
    assert "<svg" in (folder / "why.svg").read_text()
    assert (folder / "why.pdf").read_bytes().startswith(b"%PDF")


def test_a_failed_plot_keeps_the_previous_file(folder, explain, monkeypatch):
    pytest.importorskip("matplotlib")
    (folder / "why.png").write_bytes(b"before")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = explain("--target", "0", "--output", "why.png")
    assert code == 2
    assert "why.png cannot be written" in err
    assert (folder / "why.png").read_bytes() == b"before"
    assert not list(folder.glob(".*.part"))


def test_names_are_stored_with_the_explanation(folder, explain):
    by_number = in_python(folder, 0).named(NAMES)
    for graph, more in (("named.npz", ()), ("", CSV)):
        code, out, _ = explain("--target", "Ann", *more, graph=graph)
        assert code == 0
        assert out == f"{by_number}\n"


def test_tables_with_numbers_for_names_and_a_weight(folder, explain):
    (folder / "n.csv").write_text("10\t1\n20\t4\n30\t2\n")
    (folder / "e.csv").write_text("source\ttarget\tedge_weight\n10\t20\t0.5\n20\t10\t1\n")
    tables = ("--features", "n.csv", "--edges", "e.csv", "--json")
    code, out, _ = explain("--target", "10-10", "--scores", "logits", *tables, graph="")
    assert code == 0
    assert json.loads(out)["target"] == 10


def test_targets_from_a_file_and_all_of_them(folder, explain):
    (folder / "targets.txt").write_text("Ann\n\nCid, Jr\n")
    _, out, _ = explain("--targets-file", "targets.txt", "--json", graph="named.npz")
    assert [each["target"] for each in json.loads(out)] == ["Ann", "Cid, Jr"]
    _, out, _ = explain("--target", "all", "--json")
    assert [each["target"] for each in json.loads(out)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("task", "model", "target", "found"),
    [
        ("edge", "pairs", ["--target", "Ann,Bob"], ["Ann", "Bob"]),
        ("edge", "pairs", ["--target", "Cid, Jr,Dee"], ["Cid, Jr", "Dee"]),
        ("graph", "whole", [], "graph"),
    ],
)
def test_pairs_and_graphs(explain, task, model, target, found):
    chosen = ("--task", task, *target, "--json")
    code, out, _ = explain(*chosen, model=f"visits_model:{model}", graph="named.npz")
    assert code == 0
    assert json.loads(out)["target"] == found


def test_a_function_that_returns_the_model_is_called(explain):
    made = explain("--target", "0", model="visits_model:make")
    assert made == explain("--target", "0")


def test_warnings_go_to_standard_error(explain):
    code, out, err = explain("--target", "0", "--json", "--perturb-probability", "0.0001")
    assert code == 0
    json.loads(out)
    assert err.startswith("pgm-explainer: warning: ")
    assert err.count("\n") == len(json.loads(out)["warnings"])


@pytest.mark.parametrize(
    ("arguments", "model", "graph", "said"),
    [
        (["--target", "9"], "model", "graph.npz", "there is no node '9'; the graph has nodes 0 to"),
        (["--target", "-1"], "model", "graph.npz", "there is no node '-1'"),
        (["--target", "7" * 5000], "model", "graph.npz", "777…777"),
        (["--target", f"0-{'7' * 5000}"], "model", "graph.npz", "there is no node '0-7"),
        (["--target", "3-1"], "model", "graph.npz", "ends before it starts"),
        (["--target", "0-99999999999"], "model", "graph.npz", "no node '99999999999'"),
        (["--target", "An"], "model", "named.npz", "did you mean Ann?"),
        (["--target", "3", "--task", "edge"], "pairs", "graph.npz", "a pair such as 3,5"),
        (["--target", "3", "--task", "graph"], "whole", "graph.npz", "the whole graph"),
        ([], "model", "graph.npz", "no target was given"),
        (["--target", "0", "--edges", "friends.csv"], "model", "graph.npz", "give the graph with"),
        (["--target", "0"], "model", "", "give the graph with"),
        (
            ["--target", "0", "--undirected"],
            "model",
            "graph.npz",
            "--undirected applies only to --edges",
        ),
        (
            ["--target", "0", "--output", "a.gif"],
            "model",
            "graph.npz",
            "must be one of .html, .json",
        ),
        (["--target", "0", "--output", "no/a.png"], "model", "graph.npz", "there is no folder no"),
        (["--target", "all", "--output", "a.png"], "model", "graph.npz", "not 5"),
        (["--target", "0", "--targets-file", "no"], "model", "graph.npz", "no cannot be read"),
        (["--target", "0"], "nothing", "graph.npz", "has no attribute 'nothing'"),
        (["--target", "0"], "number", "graph.npz", "model must be callable"),
        (["--target", "0"], "Taking", "graph.npz", "with required arguments (size)"),
        (["--target", "0", "--weights", "w.pt"], "model", "graph.npz", "needs a PyTorch module"),
        (["--target", "0", "--change", "sudden"], "model", "graph.npz", "unknown change 'sudden'"),
        (["--target", "0", "--num-samples", "five"], "model", "graph.npz", "choose one of: auto"),
    ],
)
def test_an_error_is_one_line(explain, arguments, model, graph, said):
    code, out, err = explain(*arguments, model=f"visits_model:{model}", graph=graph)
    assert (code, out) == (2, "")
    assert err.startswith("pgm-explainer: error: ")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("place", "said"), [("no_such", "nor module:attribute"), ("no_such:x", "importing")]
)
def test_a_model_that_is_not_there(explain, place, said):
    code, _, err = explain("--target", "0", model=place)
    assert code == 2
    assert said in err


def test_a_module_that_fails_is_named(folder, explain):
    (folder / "broken_model.py").write_text("raise RuntimeError('on fire')")
    code, _, err = explain("--target", "0", model="broken_model:net")
    assert code == 2
    assert "importing broken_model failed with RuntimeError: on fire" in err


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"x": VISITS}, "no array 'edge_index'"),
        ({"x": VISITS, "edge_index": EDGES + 9}, "contains node 13"),
        ({"x": VISITS, "edge_index": EDGES, "names": ["a"] * 5}, "1 different names for 5 nodes"),
        ({"x": VISITS, "edge_index": EDGES, "names": VISITS}, "must be a list of strings"),
        ({"x": VISITS.astype(object), "edge_index": EDGES}, "it contains Python objects"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_graphs_that_cannot_be_used(explain, arrays, said):
    np.savez("bad.npz", **arrays)
    code, _, err = explain("--target", "0", graph="bad.npz")
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    ("people", "friends", "said"),
    [
        (
            "a,1\nb,x\n",
            "a,b\n",
            "people.csv: line 2, column 2: 'x' is not a number; leave the column out",
        ),
        ("a,1\nb\n", "a,b\n", "people.csv: line 2 has 1 cells, the first 2"),
        ("a,1\na,2\n", "a,b\n", "duplicate node 'a'"),
        ("a,1\nb,2\n", "a,b\na,c\n", "friends.csv: line 2: the node 'c' has no features"),
        ("a,1\nb,2\n", "a,b,3\n", "need a header"),
        ("a\nb\n", "a,b\n", "a node's name and its features"),
        ("", "a,b\n", "people.csv: the file is empty"),
        ("a,1\nb,nan\n", "a,b\n", "must be finite"),
    ],
)
def test_tables_that_cannot_be_used(folder, explain, people, friends, said):
    (folder / "people.csv").write_text(people)
    (folder / "friends.csv").write_text(friends)
    code, _, err = explain("--target", "a", *CSV, graph="")
    assert code == 2
    assert said in err


def test_the_header_of_a_table_names_the_features(folder, explain):
    (folder / "n.csv").write_text("name,visits,age\nAnn,1,30\nBob,4,20\nCid,2,50\n")
    (folder / "e.csv").write_text("source,target\nAnn,Bob\nBob,Ann\nCid,Ann\n")
    tables = ("--features", "n.csv", "--edges", "e.csv", "--json")
    code, out, _ = explain("--target", "Ann", "--parts", "features", *tables, graph="")
    assert code == 0
    found = json.loads(out)
    assert found["feature_names"] == ["visits", "age"]
    assert [name for _, name in found["parts"]["labels"]] == ["visits", "age"]
    (folder / "n.csv").write_text("name,visits,visits\nAnn,1,30\n")
    assert (
        "every feature needs a different name" in explain("--target", "Ann", *tables, graph="")[2]
    )


def test_an_npz_file_may_name_the_features(folder, explain):
    np.savez("titled.npz", x=VISITS, edge_index=EDGES, feature_names=["visits"])
    code, out, _ = explain("--target", "0", "--json", graph="titled.npz")
    assert code == 0
    assert json.loads(out)["feature_names"] == ["visits"]
    code, out, _ = explain("--target", "0", "--json", "--set", 'feature_names=["calls"]')
    assert json.loads(out)["feature_names"] == ["calls"]


def test_the_names_of_an_explainer_are_those_of_its_targets(folder):
    (folder / "named_model.py").write_text(
        "import numpy as np\n"
        "from pgm_explainer import PGMExplainer\n"
        "from visits_model import model\n"
        "x = np.array([[1.0], [4.0], [0.0]])\n"
        "edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])\n"
        "explainer = PGMExplainer(model, x, edges, num_layers=1, names=[30, 10, 20])\n"
    )
    given = ["explain", "--model", "named_model:explainer", "--target", "10"]
    assert main([*given, "--output", "w.json"]) == 0
    assert json.loads((folder / "w.json").read_text())["target"] == 10


def test_a_class_is_given_by_name(folder, explain):
    names = ("--class-names", "casual,loyal", "--set", "explained_class=casual")
    code, out, _ = explain("--target", "0", "--json", *names)
    assert code == 0
    assert json.loads(out)["explained_class"] == 0


def test_graphs_of_a_folder_have_the_names_of_their_files_and_nodes(explain, shell, folder):
    (folder / "many").mkdir()
    for name, size in (("ethanol", 4), ("water", 3)):
        names = np.array([f"{name[0]}{at}" for at in range(size)])
        edges = np.array([[0, 1], [1, 0]])
        np.savez(folder / "many" / name, x=VISITS[:size], edge_index=edges, names=names)
    (folder / "sums.py").write_text(
        "def model(x, edge_index):\n"
        "    return __import__('numpy').stack([4 + 0 * x[:, 0, 0], x.sum((1, 2))], -1)\n"
    )
    options = ("--task", "graph", "--target", "all", "--report", "{target}.md")
    code, _, err = explain(*options, "--output", "all.json", model="sums:model", graph="many")
    assert code == 0, err
    code, out, _ = shell("show", "all.json", "--target", "1")
    assert code == 0
    assert "class 1 for graph 1 (water)" in out
    code, _, err = shell("query", "all.json")
    assert "choose one with --target: 0, 1" in err
    assert "class 1 for graph 1 (water)" in (folder / "1.md").read_text()
    assert "node e1" in (folder / "0.md").read_text()


def test_a_file_of_python_is_a_model_too(explain, shell, folder):
    expected = explain("--target", "0")
    assert explain("--target", "0", model="visits_model.py:model")[:2] == expected[:2]
    (folder / "deep").mkdir()
    (folder / "deep" / "inner_model.py").write_text((folder / "visits_model.py").read_text())
    assert explain("--target", "0", model="deep/inner_model.py:model")[:2] == expected[:2]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("visits_model:modle", "visits_model has no attribute 'modle'; did you mean 'model'"),
        ("visits_model.py:modle", "has no attribute 'modle'; did you mean 'model'"),
        ("visit_model.py:model", "there is no file visit_model.py; did you mean visits_model.py?"),
        ("visit_model:model", "did you mean 'visits_model'?"),
        ("nowhere/model.py:model", "there is no file nowhere/model.py"),
    ],
)
def test_a_mistyped_model_has_a_hint(explain, folder, place, said):
    code, _, err = explain("--target", "0", model=place)
    assert code == 2
    assert said in err


def test_a_text_in_a_table_is_named_by_line_and_column(shell, folder):
    (folder / "people.csv").write_text("name,visits,country\nAnn,1,DE\nBob,4,FR\n")
    files = ("--features", "people.csv", "--edges", "friends.csv", "--target", "Ann")
    code, _, err = shell("explain", "--model", "visits_model:model", *files)
    assert code == 2
    assert "people.csv: line 2, column 'country': 'DE' is not a number; leave the column out" in err
    (folder / "people.csv").write_text("name,visits\nAnn,1\nBob,\n")
    code, _, err = shell("explain", "--model", "visits_model:model", *files)
    assert "people.csv: line 3, column 'visits': the cell is empty" in err


@pytest.mark.parametrize(
    "table",
    [
        "source,target,since\nAnn,Bob,1\nCid,Ann,2\n",
        "target,source,since\nBob,Ann,1\nAnn,Cid,2\n",
        "since,To,From\n1,Bob,Ann\n2,Ann,Cid\n",
        "a,b,since\nAnn,Bob,1\nCid,Ann,2\n",
    ],
)
def test_source_and_target_are_found_by_their_names(tmp_path, table):
    (tmp_path / "nodes.csv").write_text("name,age\nAnn,1\nBob,2\nCid,3\n")
    (tmp_path / "edges.csv").write_text(table)
    found = read_csv_graph(tmp_path / "edges.csv", tmp_path / "nodes.csv", undirected=False)
    assert found.edge_index.tolist() == [[0, 2], [1, 0]]
    assert found.more["since"].tolist() == [1, 2]
