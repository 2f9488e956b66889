from __future__ import annotations

import numpy as np
import pytest
import torch

from pgm_explainer import InputError
from pgm_explainer.arrays import (
    as_array,
    check_edge_index,
    check_features,
    check_node,
    check_whole_number,
    resolve,
)

ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize(
    "x",
    [
        ROWS,
        np.array(ROWS),
        np.array(ROWS, order="F"),
        np.array(ROWS, dtype=np.float16),
        np.array(ROWS, dtype=np.int8),
        np.array(ROWS, dtype=np.uint64),
        np.array(ROWS, dtype=">f8"),
        torch.tensor(ROWS),
        torch.tensor(ROWS, requires_grad=True),
        torch.tensor(ROWS, dtype=torch.bfloat16),
        torch.tensor(ROWS, dtype=torch.float16),
        torch.tensor(ROWS, dtype=torch.int64),
    ],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}",
)
def test_features_of_any_numeric_type_pass_with_their_values(x):
    features = check_features(x)
    assert features.tolist() == ROWS
    assert features.dtype in (np.int64, np.float32, np.float64)  # integers stay integers


def test_features_of_booleans_become_zeros_and_ones():
    assert check_features(np.array([[True], [False]])).tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_keep_their_precision_and_are_not_copied(dtype):
    x = np.array(ROWS, dtype=dtype)
    assert np.shares_memory(check_features(x), x)
    assert check_features(x).dtype == dtype


@pytest.mark.parametrize(
    ("x", "named"),
    [
        (np.ones(3), r"\(3,\)"),
        (np.ones((2, 3, 4)), r"\(2, 3, 4\)"),
        (np.ones((0, 3)), r"\(0, 3\)"),
        (np.ones((3, 0)), r"\(3, 0\)"),
        (5.0, r"\(\)"),
        ([["a", "b"]], "<U1"),
        (np.ones((2, 2), dtype=complex), "complex128"),
        (None, "object"),
        ([[1.0], [2.0, 3.0]], "x cannot be read as an array"),
    ],
)
def test_features_that_are_no_matrix_of_numbers_are_named(x, named):
    with pytest.raises(InputError, match=named):
        check_features(x)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [1, 65_536 + 3])
def test_the_feature_that_is_not_finite_is_named(bad, row):
    x = np.zeros((70_000, 2), dtype=np.float32)
    x[row, 1] = bad
    with pytest.raises(InputError, match=rf"x\[{row}, 1\] is {bad}"):
        check_features(x)


@pytest.mark.parametrize(
    "edge_index",
    [
        [[0, 1], [1, 2]],
        np.array([[0, 1], [1, 2]], dtype=np.int32),
        np.array([[0, 1], [1, 2]], dtype=np.uint8),
        np.array([[0, 1], [1, 2]], order="F"),
        torch.tensor([[0, 1], [1, 2]]),
    ],
)
def test_edges_of_any_integer_type_pass(edge_index):
    edges = check_edge_index(edge_index, num_nodes=3)
    assert edges.tolist() == [[0, 1], [1, 2]]
    assert edges.dtype == np.int64


@pytest.mark.parametrize(
    "nothing", [[], [[], []], np.zeros((2, 0)), torch.zeros((2, 0), dtype=torch.long)]
)
def test_no_edges_at_all_are_fine(nothing):
    assert check_edge_index(nothing, num_nodes=1).shape == (2, 0)


@pytest.mark.parametrize(
    ("edge_index", "named"),
    [
        ([0, 1], r"\(2,\)"),
        (np.zeros((3, 4), dtype=int), r"\(3, 4\)"),
        (np.zeros((4, 2), dtype=int), r"\(4, 2\).*transpose"),
        ([[0.0, 1.0], [1.0, 2.0]], "float64"),
        ([[True], [False]], "bool"),
        ([[0, -1], [1, 2]], "node -1"),
        ([[0, 3], [1, 2]], "node 3, .* 0 to 2"),
        (np.array([[2**63], [0]], dtype=np.uint64), str(2**63)),
        (None, "object"),
        ("edges", "<U5"),
    ],
)
def test_edges_that_cannot_be_used_are_named(edge_index, named):
    with pytest.raises(InputError, match=named):
        check_edge_index(edge_index, num_nodes=3)


@pytest.mark.parametrize("value", [4, np.int16(4), np.array(4), torch.tensor(4)])
def test_whole_numbers_of_any_integer_type_pass(value):
    number = check_whole_number(value, "it", at_least=4)
    assert number == 4
    assert type(number) is int


@pytest.mark.parametrize(
    "value", [True, np.bool_(False), 4.0, "4", None, [4], np.array([4, 5]), torch.tensor([4, 5])]
)
def test_a_value_that_is_not_an_integer_is_named(value):
    with pytest.raises(InputError, match="it must be a whole number") as error:
        check_whole_number(value, "it", at_least=0)
    assert repr(value) in str(error.value)


def test_a_number_that_is_too_small_is_named():
    with pytest.raises(InputError, match="it must be at least 2, not 1"):
        check_whole_number(1, "it", at_least=2)


def test_a_node_is_within_the_graph():
    assert check_node(2, num_nodes=3) == 2
    with pytest.raises(InputError, match=r"target 3 is out of range.* 0 to 2"):
        check_node(3, num_nodes=3)
    with pytest.raises(InputError, match="-1"):
        check_node(-1, num_nodes=3)


def test_an_unknown_name_lists_the_known_ones():
    known = {"one": 1, "two": 2}
    assert resolve("two", "number", known) == 2
    assert resolve(2, "number", known) is None
    with pytest.raises(InputError, match="unknown number 'three'; choose one of: one, two"):
        resolve("three", "number", known)


def test_a_tensor_is_read_without_a_copy():
    tensor = torch.ones(2, 2)
    assert np.shares_memory(as_array(tensor, "x"), tensor.numpy())
