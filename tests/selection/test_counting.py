"""Contingency tables, against counting one sample at a time."""

from itertools import product

import numpy as np
import pytest

from pgm_explainer.independence import one_hot, pair_counts, stratified_counts


def codes(seed, rows, columns, states):
    return np.random.default_rng(seed).integers(0, states, (rows, columns)).astype(np.uint8)


def slow_pair(left, right, states):
    counts = np.zeros((states, states))
    for a, b in zip(left, right, strict=True):
        counts[a, b] += 1
    return counts


def slow_strata(left, right, given, states):
    """Tables by the combination of the others, in the order of the combinations."""
    tables = {}
    for a, b, others in zip(left, right, map(tuple, given), strict=True):
        tables.setdefault(others, np.zeros((states, states)))[a, b] += 1
    return [tables[key] for key in sorted(tables)]


def test_one_hot_marks_each_state_but_the_first():
    codes = np.array([[0, 2], [1, 0]], dtype=np.uint8)
    assert one_hot(codes, 3).T.tolist() == [[0, 0, 0, 1], [1, 0, 0, 0]]


@pytest.mark.parametrize("seed", range(3))
def test_wanted_pairs_are_those_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 4, (60, 5), dtype=np.uint8)
    right = rng.integers(0, 4, (60, 7), dtype=np.uint8)
    wanted = rng.random((5, 7)) < 0.4
    every = pair_counts(left, right, 4)
    assert np.array_equal(pair_counts(left, right, 4, wanted), every[wanted])


@pytest.mark.parametrize("states", [2, 3, 4, 6])
def test_pair_counts_equal_counting_one_by_one(states):
    left, right = codes(0, 97, 3, states), codes(1, 97, 5, states)
    counts = pair_counts(left, right, states)
    assert counts.shape == (3, 5, states, states)
    for i, j in product(range(3), range(5)):
        assert (counts[i, j] == slow_pair(left[:, i], right[:, j], states)).all()


def test_swapping_sides_transposes_each_table():
    left, right = codes(2, 50, 2, 4), codes(3, 50, 3, 4)
    swapped = pair_counts(right, left, 4).transpose(1, 0, 3, 2)
    assert (pair_counts(left, right, 4) == swapped).all()


def test_no_variables_give_no_tables():
    none = np.zeros((10, 0), dtype=np.uint8)
    assert pair_counts(none, codes(0, 10, 3, 2), 2).shape == (0, 3, 2, 2)
    assert pair_counts(codes(0, 10, 3, 2), none, 2).shape == (3, 0, 2, 2)


def test_counts_stay_whole_with_many_samples():
    ones = np.ones((300_001, 1), dtype=np.uint8)
    assert pair_counts(ones, ones, 2)[0, 0, 1, 1] == 300_001


@pytest.mark.parametrize("conditions", [1, 2, 3])
def test_strata_equal_counting_one_by_one(conditions):
    left, right = codes(4, 200, 1, 3)[:, 0], codes(5, 200, 1, 3)[:, 0]
    given = codes(6, 200, conditions, 3)
    counts = stratified_counts(left, right, given, 3)
    assert counts.tolist() == [table.tolist() for table in slow_strata(left, right, given, 3)]


@pytest.mark.parametrize("conditions", [8, 40])
def test_far_more_combinations_than_samples_are_counted_by_those_seen(conditions):
    left, right = codes(7, 60, 1, 4)[:, 0], codes(8, 60, 1, 4)[:, 0]
    given = codes(9, 60, conditions, 4)
    given[30:] = given[:30]  # every combination twice at least
    counts = stratified_counts(left, right, given, 4)
    assert counts.sum() == 60
    assert (counts.sum(axis=(1, 2)) == 2).all()
    slow = sorted(table.tolist() for table in slow_strata(left, right, given, 4))
    assert sorted(counts.tolist()) == slow


def test_no_condition_is_one_stratum():
    left, right = codes(10, 30, 1, 2)[:, 0], codes(11, 30, 1, 2)[:, 0]
    counts = stratified_counts(left, right, np.zeros((30, 0), dtype=np.uint8), 2)
    assert counts.tolist() == [slow_pair(left, right, 2).tolist()]


def test_unseen_combinations_have_no_stratum():
    left = right = np.array([0, 1, 1], dtype=np.uint8)
    given = np.array([[3], [3], [0]], dtype=np.uint8)
    counts = stratified_counts(left, right, given, 4)
    assert len(counts) == 2
    assert counts.sum(axis=(1, 2)).tolist() == [1, 2]


@pytest.mark.parametrize("conditions", [0, 1, 3, 12])
@pytest.mark.parametrize("least", [2, 5, 40])
def test_rare_combinations_can_be_left_out(conditions, least):
    left, right = codes(4, 300, 1, 3)[:, 0], codes(5, 300, 1, 3)[:, 0]
    given = (codes(6, 300, conditions, 12) // 11).astype(np.uint8)
    counts = stratified_counts(left, right, given, 3)
    often = counts[counts.sum(axis=(1, 2)) >= least]
    assert stratified_counts(left, right, given, 3, least).tolist() == often.tolist()
