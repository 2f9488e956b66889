"""Data sets by parts other than nodes, and of many graphs."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from job_models import explainer as by_nodes
from job_models import gnn, ring
from part_models import GRAPHS, edges_of_graphs, groups_of_graphs, nodes_of_graphs

from pgm_explainer import Edges, Groups, InputError, JobError, PGMExplainer
from pgm_explainer.dataset import explain_dataset

TARGETS = range(0, 60, 7)
KINDS = {
    "edges": "edges",
    "features": "features",
    "groups": {f"g{at}": list(range(10 * at, 10 * at + 10)) for at in range(6)},
    "edge groups": Groups({"a": [(0, 1), (1, 2)], "b": [(7, 8)]}, of="edges"),
    "mix": ["nodes", "edges"],
}


def explainer(parts, **options):
    chosen = {"num_layers": 2, "num_samples": 60, "progress": False, **options}
    return PGMExplainer(gnn, *ring(), parts=parts, **chosen)


@pytest.mark.parametrize("parts", KINDS.values(), ids=KINDS)
def test_a_row_gives_the_explanation_back(parts, tmp_path):
    made = explainer(parts)
    data = explain_dataset(made, TARGETS, tmp_path, keep_candidates=1000)
    assert data.failures() == {}
    found = made.explain_many(TARGETS)
    for each, target in zip(found, TARGETS, strict=True):
        assert data[target] == each
        assert data[target].effects.parts == each.effects.parts
        assert data[target].part_labels == each.part_labels
    rows = {row["target"]: row for row in data.rows()}
    for each, target in zip(found, TARGETS, strict=True):
        if each.part_labels:
            labels = [json.loads(effect["part"]) for effect in rows[target]["effects"]]
            parts_of = [list(p) if isinstance(p, tuple) else p for p in each.effects.parts]
            assert labels == parts_of
            numbers = [effect["node"] for effect in rows[target]["effects"]]
            assert numbers == each.effects.nodes.tolist()
            assert len(rows[target]["parts"]) == len(rows[target]["nodes"]) == len(each.nodes)
    str(data.overview())


@pytest.mark.parametrize("parts", ["edges", ["nodes", "edges"]], ids=str)
def test_only_the_first_candidates_are_kept(parts, tmp_path):
    made = explainer(parts)
    data = explain_dataset(made, TARGETS, tmp_path, keep_candidates=1)
    assert data.failures() == {}
    for each in data:
        whole = made.explain(each.target)
        assert each.effects.left_out > 0
        assert each.effects.parts[0] == whole.effects.parts[0]
        assert each.network == whole.network
        assert set(each.effects.parts) <= set(whole.effects.parts)


def test_minimal_sets_of_a_stored_explanation(tmp_path):
    made = explainer("edges")
    data = explain_dataset(made, TARGETS, tmp_path, keep_candidates=3)
    for each in data:
        assert each.sufficient(made).probability >= 0.9


def test_other_groups_are_another_job(tmp_path):
    explain_dataset(explainer({"a": [0, 1], "b": [2]}), TARGETS, tmp_path)
    explain_dataset(explainer({"a": [0, 1], "b": [2]}), TARGETS, tmp_path)
    with pytest.raises(JobError, match="parts"):
        explain_dataset(explainer({"a": [0], "b": [1, 2]}), TARGETS, tmp_path)
    with pytest.raises(JobError, match="parts"):
        explain_dataset(explainer(Edges("rewire")), TARGETS, tmp_path)


def test_the_overview_tells_which_groups_explain_a_class(tmp_path):
    data = explain_dataset(explainer(KINDS["groups"], num_samples=300), TARGETS, tmp_path)
    view = data.overview()
    assert sum(each.predictions for each in view.classes) == len(TARGETS)
    names = {cause.what for each in view.classes for cause in each.causes}
    assert names
    assert names <= set(KINDS["groups"])
    assert f"Class {view.classes[0].name}, {view.classes[0].predictions} pred" in str(view)
    for each in view.classes:
        totals = [cause.predictions * cause.size for cause in each.causes]
        assert totals == sorted(totals, reverse=True)
        assert all(abs(cause.effect) <= cause.size + 1e-12 for cause in each.causes)
    first = view.classes[0].causes[0]
    assert f"mean effect {100 * first.effect:+.1f} points".replace("-", "−") in str(view)
    frame = view.to_pandas()
    found = frame[(frame["list"] == "classes") & (frame["class"] == view.classes[0].name)]
    assert found["effect"].tolist() == [cause.effect for cause in view.classes[0].causes]


def test_a_data_set_by_nodes_has_no_classes(tmp_path):
    data = explain_dataset(by_nodes(), TARGETS, tmp_path)
    assert data.overview().classes == []
    assert all(row["parts"] is None for row in data.rows())


@pytest.mark.parametrize("make", [nodes_of_graphs, edges_of_graphs, groups_of_graphs])
@pytest.mark.parametrize("engine", ["local", "processes"])
def test_many_graphs(make, engine, tmp_path):
    made = make()
    data = explain_dataset(make, None, tmp_path, shard_size=4, engine=engine)
    assert (len(data), data.complete, data.task, data.failures()) == (GRAPHS, True, "graph", {})
    assert [row["target"] for row in data.rows(["target"])] == list(range(GRAPHS))
    for at, each in enumerate(made.explain_many(range(GRAPHS))):
        assert data[at] == each
        assert data[at].target == "graph"
        assert data[at].effects.parts == each.effects.parts


def test_a_job_of_graphs_is_resumed(tmp_path):
    whole = explain_dataset(nodes_of_graphs, None, tmp_path / "whole", shard_size=4)
    explain_dataset(nodes_of_graphs, None, tmp_path / "again", shard_size=4)
    gone = tmp_path / "again" / "shards" / "000001.parquet"
    before = gone.read_bytes()
    gone.unlink()
    again = explain_dataset(nodes_of_graphs, None, tmp_path / "again", shard_size=4)
    assert gone.read_bytes() == before
    assert list(again) == list(whole)
    with pytest.raises(JobError, match="graphs"):
        explain_dataset(partial(nodes_of_graphs, shift=1), None, tmp_path / "again", shard_size=4)


def test_the_overview_of_graphs_tells_types_of_nodes(tmp_path):
    """Class 1 has a node of type 2, which is all that the model looks at."""
    view = explain_dataset(nodes_of_graphs, None, tmp_path / "nodes").overview()
    (one,) = [each for each in view.classes if each.name == "has it"]
    assert one.causes[0].what == "type 2"
    assert one.causes[0].predictions == one.predictions == GRAPHS // 2
    assert all("type" in each.what for each in view.causes)
    assert view.shared == view.along == []
    text = str(view)
    assert "Class has it" in text
    groups = explain_dataset(groups_of_graphs, None, tmp_path / "groups").overview()
    (one,) = [each for each in groups.classes if each.name == "has it"]
    assert one.causes[0].what == "special"


def test_some_graphs(tmp_path):
    data = explain_dataset(nodes_of_graphs, [5, 2, 99], tmp_path)
    assert data[5].target == "graph"
    assert list(data.failures()) == [99]
    with pytest.raises(InputError, match="not among"):
        data[3]


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(InputError, match="with_features must be True or False, not 1"):
        explain_dataset(nodes_of_graphs, None, tmp_path, with_features=1)
    with pytest.raises(InputError, match="no nodes are selected"):
        explain_dataset(groups_of_graphs, None, tmp_path, with_features=True)
    with pytest.raises(InputError, match="many graphs"):
        explain_dataset(nodes_of_graphs, None, tmp_path, names=["a"])
    with pytest.raises(InputError, match="graph numbers"):
        explain_dataset(nodes_of_graphs, [(1, 2)], tmp_path)
    single = PGMExplainer(lambda x: x.sum(axis=1), np.eye(3), [[0, 1], [1, 2]], task="graph")
    with pytest.raises(InputError, match="list of graphs"):
        explain_dataset(single, None, tmp_path)
