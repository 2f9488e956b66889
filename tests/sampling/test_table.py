from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer import scratch
from pgm_explainer.sampling import GRAPH, SampleTable, Variable
from pgm_explainer.scratch import Scratch


@st.composite
def blocks(draw):
    """Random states of random variables, their columns cut into blocks anywhere."""
    levels = draw(st.lists(st.integers(1, 8), min_size=1, max_size=9))
    variables = [Variable(node, True, each) for node, each in enumerate(levels)]
    num_samples = draw(st.integers(1, 50))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    highs = [variable.cardinality for variable in variables]
    codes = rng.integers(0, highs, size=(num_samples, len(highs))).astype(np.uint8)
    borders = draw(st.sets(st.integers(1, len(levels))))
    return (
        variables,
        codes,
        draw(st.permutations(list(pairwise(sorted({0, len(levels)} | borders))))),
    )


@pytest.mark.parametrize("in_file", [False, True])
@given(blocks())
def test_blocks_that_are_written_are_read_back(in_file, written):
    variables, codes, ranges = written
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scratch, "_SMALL", 0)
        table = SampleTable(variables, len(codes), Scratch(0, "samples") if in_file else None)
    assert table.in_file == in_file
    for first, stop in ranges:
        table.write(first, codes[:, first:stop])
    np.testing.assert_array_equal(table.codes(range(len(variables))), codes)
    np.testing.assert_array_equal(table.codes([len(variables) - 1]), codes[:, -1:])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(table)).codes([0]), codes[:, :1])


def test_columns_have_the_requested_order_with_duplicates():
    codes = np.array([[0, 1, 2], [3, 2, 1]], dtype=np.uint8)
    table = SampleTable([Variable(node, True, 2) for node in (5, 8, 9)], 2)
    table.write(0, codes)
    assert table.codes([2, 0, 2]).tolist() == [[2, 0, 2], [1, 3, 1]]
    assert table.codes([]).shape == (2, 0)


@pytest.mark.parametrize(
    ("perturbable", "levels", "bits"), [(True, 2, 2), (True, 1, 1), (False, 2, 1), (True, 3, 3)]
)
def test_a_cell_takes_as_many_bits_as_its_states_need(perturbable, levels, bits):
    table = SampleTable([Variable(node, perturbable, levels) for node in range(100)], 800)
    assert table.nbytes == 100 * 800 * bits / 8


def test_a_graph_table_takes_one_bit_a_cell():
    variables = [Variable(node, True, 1) for node in range(9)] + [Variable(GRAPH, False, 2)]
    assert SampleTable(variables, 80).nbytes == 100


def test_columns_and_cardinalities_follow_the_variables():
    table = SampleTable([Variable(30, True, 2), Variable(4, True, 1), Variable(GRAPH, False, 3)], 8)
    assert [table.column(each) for each in (30, 4, GRAPH)] == [0, 1, 2]
    assert table.cardinalities.tolist() == [4, 2, 3]
