"""``--parts`` and many graphs on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from pgm_explainer.cli import main
from pgm_explainer.dataset import ExplanationDataset

IMPORTABLE = str(Path(__file__).parents[1] / "importable")
if IMPORTABLE not in sys.path:
    sys.path.append(IMPORTABLE)

from job_models import ring  # noqa: E402
from part_models import GRAPHS, graphs  # noqa: E402


@pytest.fixture
def graph(tmp_path):
    x, edges = ring()
    path = tmp_path / "graph.npz"
    np.savez(path, x=x, edge_index=edges)
    return path


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "graphs"
    place.mkdir()
    for at, (x, edges) in enumerate(graphs()):
        np.savez(place / f"{at:03}.npz", x=x, edge_index=edges)
    return place


def explain(graph, *words):
    options = ["--num-layers", "2", "--num-samples", "60", "--json"]
    return main(["explain", "--model", "job_models:gnn", "--graph", str(graph), *options, *words])


def parts_of(capsys):
    found = json.loads(capsys.readouterr().out)
    return [label for _, label in found["parts"]["labels"]]


def test_edges(graph, capsys):
    assert explain(graph, "--target", "3", "--parts", "edges") == 0
    assert all(len(label) == 2 for label in parts_of(capsys))


def test_a_mix(graph, capsys):
    assert explain(graph, "--target", "3", "--parts", "nodes,features") == 0
    assert parts_of(capsys) == ["feature 0", "feature 1", "feature 2"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.json", '{"left": [1, 2], "right": [4, 5]}'),
        ("g.csv", "node,group\n1,left\n2,left\n4,right\n5,right\n"),
        ("g.tsv", "1\tleft\n4\tright\n"),
        ("g.csv", "1;left\n4;right\n"),
        ("g.json", '{"of": "edges", "groups": {"left": [[1, 2], [2, 3]], "right": [[3, 4]]}}'),
    ],
)
def test_groups_from_a_file(graph, tmp_path, capsys, name, text):
    (tmp_path / name).write_text(text)
    assert explain(graph, "--target", "3", "--parts", str(tmp_path / name)) == 0
    assert parts_of(capsys) == ["left", "right"]


def test_groups_of_named_nodes(tmp_path, capsys):
    x, edges = ring()
    names = [f"n{at}" for at in range(len(x))]
    np.savez(tmp_path / "named.npz", x=x, edge_index=edges, names=names)
    (tmp_path / "g.csv").write_text("n2,left\nn4,right\n")
    words = ["--target", "n3", "--parts", str(tmp_path / "g.csv")]
    assert explain(tmp_path / "named.npz", *words) == 0
    assert parts_of(capsys) == ["left", "right"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.json", "[1, 2]", "a list of members for each group"),
        ("g.json", '{"of": "moods", "groups": {}}', "'of' must be one of"),
        ("g.json", "{", "g.json"),
        ("g.json", '{"a": [1], "b": [1]}', "overlap"),
        ("g.json", '{"a": [1000]}', "1000"),
        ("g.json", '{"a": ["Ann"]}', "whole numbers"),
        ("g.json", '{"a": []}', "no members"),
        ("g.csv", "1,a,b\n", "line 1"),
        ("g.csv", "", "no groups"),
        ("g.csv", "1," + "a" * 200_000, "field limit"),
        ("g.csv", "9" * 5000 + ",a", "is not a node"),
        ("g.json", '{"a": ["' + "9" * 5000 + '"]}', "is not a node"),
    ],
)
def test_a_bad_file_of_groups_is_named(graph, tmp_path, capsys, name, text, message):
    (tmp_path / name).write_text(text)
    words = ("--target", "3", "--parts", str(tmp_path / name))
    try:
        code = explain(graph, *words)
    except SystemExit as error:  # from argparse
        code = error.code
    assert code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("parts", ["moods", "missing.json", "nodes,nodes"])
def test_unknown_parts_are_refused(graph, capsys, parts):
    with pytest.raises(SystemExit):
        explain(graph, "--target", "3", "--parts", parts)
    assert parts.split(",")[0] in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["local", "processes"])
def test_a_job_by_edges(graph, tmp_path, capsys, engine):
    job = ["run", "--model", "job_models:gnn", "--graph", str(graph), "--output"]
    options = ["--target", "0-5", "--parts", "edges", "--num-layers", "2", "--num-samples", "60"]
    assert main([*job, str(tmp_path / "why"), *options, "--engine", engine]) == 0
    assert "Parts that change" in capsys.readouterr().out
    data = ExplanationDataset(tmp_path / "why")
    assert len(data) == 6
    assert all(len(part) == 2 for each in data for part in each.effects.parts)
    assert main([*job, str(tmp_path / "why"), *options]) == 0
    assert main(["show", str(tmp_path / "why"), "--target", "3"]) == 0


def test_a_job_of_a_folder_of_graphs(folder, tmp_path, capsys):
    words = ["--model", "part_models:has_type_2", "--graph", str(folder), "--task", "graph"]
    words += ["--perturbation", "zero", "--num-samples", "100"]
    assert main(["run", *words, "--output", str(tmp_path / "why")]) == 0
    assert "type 2" in capsys.readouterr().out
    data = ExplanationDataset(tmp_path / "why")
    assert (len(data), data.task) == (GRAPHS, "graph")
    assert main(["explain", *words, "--target", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["effects"]["nodes"] == data[3].effects.nodes.tolist()
    for wrong, message in ((["--target", "99"], "no graph '99'"), ([], "no target was given")):
        assert main(["explain", *words, *wrong]) == 2
        assert message in capsys.readouterr().err


def test_a_list_of_data_objects(tmp_path, capsys):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    listed = [data.Data(torch.tensor(x).float(), torch.tensor(e)) for x, e in graphs()]
    torch.save(listed, tmp_path / "graphs.pt")
    words = ["--model", "part_models:has_type_2", "--graph", str(tmp_path / "graphs.pt")]
    words += ["--task", "graph", "--num-samples", "60", "--target", "1", "--json"]
    assert main(["explain", *words]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == "graph"


def test_a_folder_without_graphs_or_with_further_arrays(folder, tmp_path, capsys):
    words = ["explain", "--model", "part_models:has_type_2", "--task", "graph", "--target", "0"]
    (tmp_path / "empty").mkdir()
    assert main([*words, "--graph", str(tmp_path / "empty")]) == 2
    assert "no .npz files" in capsys.readouterr().err
    x, edges = graphs()[0]
    np.savez(folder / "zzz.npz", x=x, edge_index=edges, edge_weight=edges[0])
    assert main([*words, "--graph", str(folder)]) == 2
    assert "edge_weight" in capsys.readouterr().err


def test_an_unknown_name_in_a_group_suggests_another(graph, tmp_path, capsys):
    with np.load(graph) as arrays:
        x, edges = arrays["x"], arrays["edge_index"]
    names = [f"node{at}" for at in range(len(x))]
    np.savez(tmp_path / "named.npz", x=x, edge_index=edges, names=names)
    (tmp_path / "g.json").write_text('{"a": ["nodee1"]}')
    words = ("--target", "node3", "--parts", str(tmp_path / "g.json"))
    assert explain(tmp_path / "named.npz", *words) == 2
    assert "did you mean node1" in capsys.readouterr().err
