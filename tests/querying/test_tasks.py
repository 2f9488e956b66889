"""What differs between explaining nodes, pairs and graphs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pgm_explainer import InputError
from pgm_explainer.graph import Graph
from pgm_explainer.querying.tasks import TASKS

GRAPH = Graph(np.array([[0, 1, 2, 3, 6], [1, 2, 3, 4, 5]]), 8)


def test_the_tasks_are_known_by_name():
    assert list(TASKS) == ["node", "edge", "graph"]
    assert all(task.name == name for name, task in TASKS.items())


@pytest.mark.parametrize(
    ("task", "target", "hops", "expected"),
    [
        ("node", 3, 0, []),
        ("node", 3, 2, [1, 2]),
        ("edge", (3, 5), 0, [3, 5]),
        ("edge", (3, 5), 1, [2, 3, 5, 6]),
        ("edge", (3, 3), 1, [2, 3]),
        ("graph", "graph", 1, list(range(8))),
    ],
)
def test_candidates_are_those_that_may_explain(task, target, hops, expected):
    assert TASKS[task].candidates(target, GRAPH, hops).tolist() == expected


@pytest.mark.parametrize(
    ("task", "target", "ends"), [("node", 3, [3]), ("edge", (5, 3), [5, 3]), ("graph", "graph", [])]
)
def test_the_ends_are_the_nodes_a_prediction_is_about(task, target, ends):
    assert TASKS[task].ends(target).tolist() == ends


@pytest.mark.parametrize(
    ("task", "given", "target"),
    [
        ("node", np.int8(3), 3),
        ("node", torch.tensor(3), 3),
        ("edge", [3, 5], (3, 5)),
        ("edge", torch.tensor([[3], [5]]), (3, 5)),
        ("edge", (5, 5), (5, 5)),
        ("graph", None, "graph"),
    ],
    ids=repr,
)
def test_a_target_becomes_a_name(task, given, target):
    checked = TASKS[task].check(given, GRAPH)
    assert checked == target
    assert type(checked) is type(target)


@pytest.mark.parametrize(
    ("task", "bad"),
    [
        ("node", None),
        ("node", 8),
        ("node", (3, 4)),
        ("edge", None),
        ("edge", 3),
        ("edge", (3, 8)),
        ("edge", (-1, 3)),
        ("edge", ()),
        ("edge", (1.0, 2.0)),
        ("edge", "35"),
        ("graph", 3),
        ("graph", "graph"),
    ],
)
def test_a_bad_target_is_refused(task, bad):
    with pytest.raises(InputError, match="target"):
        TASKS[task].check(bad, GRAPH)


def test_the_predictions_of_nodes_are_found_in_a_part():
    part = GRAPH.cut(np.array([5]), 1)
    recorded = np.array([5, 6])
    outputs, names = TASKS["node"].outputs([5], recorded, part)
    assert part.nodes[outputs.rows].tolist() == names == [5, 6]
    assert outputs.belong_to_nodes
    assert TASKS["node"].centre([5], recorded).tolist() == [5, 6]


def test_the_predictions_of_pairs_are_found_in_a_part():
    targets = [(5, 3), (3, 6)]
    centre = TASKS["edge"].centre(targets, np.arange(8))
    assert centre.tolist() == [3, 5, 6]
    part = GRAPH.cut(centre, 1)
    outputs, names = TASKS["edge"].outputs(targets, np.arange(8), part)
    assert list(names) == targets
    assert part.nodes[outputs.pairs].tolist() == [[5, 3], [3, 6]]
    assert not outputs.belong_to_nodes


def test_the_prediction_of_a_graph_takes_the_whole_graph():
    assert TASKS["graph"].centre(["graph"], np.arange(8)) is None
    outputs, names = TASKS["graph"].outputs(["graph"], np.arange(8), GRAPH.whole)
    assert not outputs.belong_to_nodes
    assert list(names) == ["graph"]
