from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer import scratch
from pgm_explainer.scratch import Record, Scratch


@st.composite
def batches(draw):
    """Random numbers, their rows cut into batches anywhere and given in any order."""
    shape = draw(st.integers(1, 40)), draw(st.integers(0, 20))
    dtype = draw(st.sampled_from([np.bool_, np.uint8, np.float32, np.float64]))
    numbers = np.random.default_rng(draw(st.integers(0, 1000))).integers(0, 9, shape).astype(dtype)
    borders = sorted({0, len(numbers)} | draw(st.sets(st.integers(1, len(numbers)))))
    return numbers, draw(st.permutations(list(pairwise(borders))))


@pytest.mark.parametrize("in_file", [False, True])
@given(batches(), st.integers(1, 900))
def test_rows_that_are_written_are_read_by_columns(in_file, written, cells):
    numbers, ranges = written
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scratch, "_CELLS_AT_ONCE", cells)
        if in_file:
            patch.setattr(scratch, "_SMALL", 0)
        made = Record(*numbers.shape, numbers.dtype, Scratch(0, "numbers"))
    for start, stop in ranges:
        made.write(start, numbers[start:stop])
    columns = [made.read(block) for block in made.blocks()]
    np.testing.assert_array_equal(np.concatenate([numbers[:, :0], *columns], axis=1), numbers)
    assert all(part.dtype == numbers.dtype for part in columns)
    assert all(part.shape[1] == 1 or part.size <= cells for part in columns)
