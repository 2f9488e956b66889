"""What the caller hands over, and what nodes of several kinds are called."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.querying import TypedNodes, read_inputs

NAMES = TypedNodes(("author", "paper", "venue"), (2, 3, 1), "paper", (4, 8, 1))
ALL = [("author", 0), ("author", 1), ("paper", 0), ("paper", 1), ("paper", 2), ("venue", 0)]


def test_nodes_are_called_by_kind_and_number_in_order():
    assert list(NAMES) == ALL
    assert len(NAMES) == 6
    assert NAMES.widths_by_kind == (("author", 4), ("paper", 8), ("venue", 1))
    numbers = {name: at for at, name in enumerate(ALL)}
    for name in ALL:
        if name[0] == NAMES.default:
            assert NAMES.number(name) == numbers[name]
        else:
            with pytest.raises(InputError, match="no prediction"):
                NAMES.number(name)
    with pytest.raises(IndexError):
        NAMES[6]


@pytest.mark.parametrize(("number", "expected"), [(0, 2), (2, 4), (np.int64(1), 3)])
def test_a_number_alone_is_of_the_predicted_kind(number, expected):
    assert NAMES.number(number) == expected


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (("editor", 0), "'editor'; choose one of: author, paper, venue"),
        (("paper", 3), "3"),
        (("venue", 1), "1"),
        (("author", -1), "-1"),
        (("author", 0.0), "0.0"),
        (("author", None), "None"),
        (3, "3"),
        (None, "None"),
        ("paper", "'paper'"),
        (("author", 0, 1), r"\('author', 0, 1\)"),
    ],
)
def test_a_node_that_does_not_exist_is_named(bad, named):
    with pytest.raises(InputError, match=named):
        NAMES.number(bad)


X, EDGES = np.ones((3, 2)), np.array([[0, 1], [1, 2]])


def model(x):
    return x


def test_a_model_with_arrays_is_a_source():
    source = read_inputs(model, X.tolist(), EDGES.tolist(), "node", None, None)
    np.testing.assert_array_equal(source.x, X)
    np.testing.assert_array_equal(source.graph.edge_index, EDGES)
    assert not source.predictor.accepts_subgraph
    assert source.num_layers == 3
    assert source.kinds is source.types is None
    assert not source.names


class Holder:
    """What has features and edges, as a data object does."""

    x, edge_index = X, EDGES

    def to_dict(self):
        return {"x": self.x, "edge_index": self.edge_index}


def test_a_model_with_a_data_object_is_a_source():
    source = read_inputs(model, Holder(), None, "node", None, None)
    np.testing.assert_array_equal(source.x, X)
    np.testing.assert_array_equal(source.graph.edge_index, EDGES)


@pytest.mark.parametrize(
    ("x", "edge_index", "options", "named"),
    [
        (X, None, {}, "edge_index is missing"),
        (X, EDGES, {"target_type": "paper"}, "applies to HeteroData graphs only"),
        (X, EDGES, {"inputs": {"edge_weight": 1}}, "edge_weight"),
        (X[0], EDGES, {}, "x must be a matrix"),
    ],
)
def test_unreadable_input_is_an_error(x, edge_index, options, named):
    given = {"inputs": None, "target_type": None, **options}
    with pytest.raises(InputError, match=named):
        read_inputs(model, x, edge_index, "node", **given)


@pytest.mark.parametrize(
    "data",
    [
        SimpleNamespace(edge_index=np.zeros((2, 0), dtype=int)),
        SimpleNamespace(node_types=["author"], edge_index_dict={}),
    ],
    ids=["one kind", "several kinds"],
)
def test_edges_beside_a_data_object_are_not_ignored(data):
    with pytest.raises(InputError, match="has its own edges; pass the data object alone"):
        read_inputs(lambda x: x, data, np.array([[0], [1]]), "node", None, None)
