from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer, PGMExplainerError
from pgm_explainer.graph import Subgraph
from pgm_explainer.predictors import SubgraphFunction, WholeGraphFunction, as_predictor

PART = Subgraph(
    nodes=np.array([4, 6]),
    edge_index=np.array([[0, 1], [1, 0]]),
    edges=np.array([10, 12]),
    whole_nodes=8,
    whole_edges=20,
)
PAIRS = np.array([[0], [1]])
X = np.ones((3, 2, 5))


def of_features(x):
    return "whole", x


def of_edges(x, edge_index):
    return x, edge_index


def of_everything(x, *, nodes, edges, edge_index):
    return nodes, edges, edge_index


def of_everything_but(x, nodes, edge_index):
    return x, edge_index


def of_pairs(x, pairs):
    return x, pairs


def of_edges_and_pairs(x, edge_index, pairs):
    return x, edge_index, pairs


class Model:
    def __call__(self, x, edge_index):
        return x, edge_index

    def predict(self, x):
        return "whole", x


@pytest.mark.parametrize(
    "model",
    [
        of_features,
        lambda x: ("whole", x),
        Model().predict,
        lambda *args: ("whole", *args),
        lambda x, nodes=None, edges=None: ("whole", x),
        lambda x, **options: ("whole", x),
    ],
    ids=["function", "lambda", "method", "args", "nodes and edges", "options"],
)
def test_a_function_of_features_is_called_on_the_whole_graph(model):
    predictor = as_predictor(model)
    assert isinstance(predictor, WholeGraphFunction)
    assert not predictor.accepts_subgraph
    assert predictor(X, PART) == ("whole", X)


@pytest.mark.parametrize(
    "model",
    [of_edges, Model(), lambda h, edge_index: (h, edge_index), partial(of_everything_but, nodes=3)],
    ids=["function", "object", "lambda", "partial"],
)
def test_a_function_with_an_edge_index_is_called_on_subgraphs(model):
    predictor = as_predictor(model)
    assert isinstance(predictor, SubgraphFunction)
    assert predictor.accepts_subgraph
    x, edge_index = predictor(X, PART)
    assert x is X
    np.testing.assert_array_equal(edge_index, PART.edge_index)


def test_a_function_may_get_the_ids_of_the_subgraph():
    nodes, edges, edge_index = as_predictor(of_everything)(X, PART)
    assert nodes.tolist() == [4, 6]
    assert edges.tolist() == [10, 12]
    assert edge_index.tolist() == [[0, 1], [1, 0]]


def test_an_edge_index_that_the_user_has_bound_is_not_replaced():
    mine = np.array([[0], [1]])
    predictor = as_predictor(partial(of_edges, edge_index=mine))
    assert not predictor.accepts_subgraph
    assert predictor(X, PART)[1] is mine


def test_bound_arguments_are_not_passed():
    predictor = as_predictor(partial(of_everything, nodes="mine"))
    assert predictor.accepts_subgraph
    nodes, edges, edge_index = predictor(X, PART)
    assert nodes == "mine"
    assert edges.tolist() == [10, 12]
    np.testing.assert_array_equal(edge_index, PART.edge_index)


def test_a_function_of_pairs_gets_the_pairs():
    whole = as_predictor(of_pairs, "edge")
    assert not whole.accepts_subgraph
    np.testing.assert_array_equal(whole(X, PART, PAIRS)[1], PAIRS)
    part = as_predictor(of_edges_and_pairs, "edge")
    assert part.accepts_subgraph
    _, edge_index, pairs = part(X, PART, PAIRS)
    np.testing.assert_array_equal(edge_index, PART.edge_index)
    np.testing.assert_array_equal(pairs, PAIRS)


def test_a_function_that_writes_to_its_arguments_writes_to_copies():
    def vandal(x, edge_index, nodes, edges, pairs):
        edge_index[:] = nodes[:] = edges[:] = pairs[:] = -1

    as_predictor(vandal, "edge")(X, PART, PAIRS)
    assert PART.nodes.tolist() == [4, 6]
    assert PART.edges.tolist() == [10, 12]
    assert PART.edge_index.tolist() == [[0, 1], [1, 0]]
    assert PAIRS.tolist() == [[0], [1]]


def test_a_whole_graph_function_that_writes_to_its_pairs_writes_to_a_copy():
    def vandal(x, pairs):
        pairs[:] = -1

    pairs = PAIRS.copy()
    as_predictor(vandal, "edge")(X, PART, pairs)
    assert pairs.tolist() == [[0], [1]]


@pytest.mark.parametrize("model", [of_features, of_edges, WholeGraphFunction(of_features)])
def test_inputs_are_for_modules(model):
    with pytest.raises(InputError, match=r"inputs \(edge_weight\) are for PyTorch modules"):
        as_predictor(model, "node", {"edge_weight": np.ones(3)})


def test_a_builtin_without_signature_is_a_function_of_features():
    assert not as_predictor(max).accepts_subgraph


def test_a_predictor_is_taken_as_it_is():
    predictor = WholeGraphFunction(of_features)
    assert as_predictor(predictor) is predictor


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (None, "None"),
        ("model", "'model'"),
        (X, "array"),
        (Model, "the class Model"),
        (WholeGraphFunction, "the class WholeGraphFunction"),
    ],
    ids=["none", "text", "array", "class", "predictor class"],
)
def test_an_object_that_is_not_callable_is_named(bad, named):
    with pytest.raises(InputError, match=f"model must be callable.*{named}"):
        as_predictor(bad)


class _Incomparable:
    """A model that fails when it is called, and when it is inspected."""

    __hash__ = None

    def __eq__(self, other):
        raise KeyError("not comparable")

    def __call__(self, *_):
        raise KeyError("no answer")


@pytest.mark.parametrize("parts", ["nodes", "edges"])
def test_a_model_that_fails_when_inspected_gets_our_error(parts):
    x, edges = np.eye(3), np.array([[0, 1], [1, 2]])
    with pytest.raises(PGMExplainerError):
        PGMExplainer(_Incomparable(), x, edges, parts=parts, num_layers=1).explain(0)


def test_names_of_inputs_are_strings():
    x, edges = np.eye(3), np.array([[0, 1], [1, 2]])
    with pytest.raises(InputError, match="None is not a name"):
        PGMExplainer(lambda x, e: x, x, edges, inputs={None: x, (0, 1): x})


@pytest.mark.parametrize("options", [{"task": np.zeros(3)}, {"task": "nodes"}, {"many_graphs": 2}])
def test_an_unknown_task_or_flag_is_an_error(options):
    with pytest.raises(InputError, match=r"task|many_graphs"):
        as_predictor(lambda x: x, **options)
