"""Joint states, numbered as NumPy numbers the cells of an array."""

import numpy as np
import pytest

from pgm_explainer.variables import joint_states


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (4, 1, 2, 5)])
def test_numbers_are_those_of_the_cells_of_an_array(sizes):
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, size, 50).astype(np.uint8) for size in sizes]
    codes, total = joint_states(columns, sizes)
    assert total == np.prod(sizes)
    np.testing.assert_array_equal(codes, np.ravel_multi_index(columns, sizes))


def test_many_variables_are_numbered_by_what_occurs():
    columns = np.random.default_rng(1).integers(0, 4, (80, 30)).astype(np.uint8)
    codes, total = joint_states(columns, [4] * 80, only_seen=True)
    distinct, expected = np.unique(columns.T, axis=0, return_inverse=True)
    assert total == len(distinct) == 30
    np.testing.assert_array_equal(codes, expected.ravel())
