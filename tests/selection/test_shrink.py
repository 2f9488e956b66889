"""The shrink step of grow-shrink keeps only the parents of the target."""

import time

import numpy as np
import pytest

from pgm_explainer.selection import TESTS, as_test
from pgm_explainer.selection.shrink import shrink_many

both_tests = pytest.mark.parametrize("name", list(TESTS))


def shrink(codes, target, *options):
    return shrink_many([(codes, target)], *options)[0]


def noisy(rng, values, rate=0.1, states=2):
    return np.where(rng.random(len(values)) < rate, rng.integers(0, states, len(values)), values)


def kept(columns, target, name="chi_square", states=2, significance=0.01):
    codes = np.stack(columns, axis=1).astype(np.uint8)
    return shrink(codes, target.astype(np.uint8), states, significance, as_test(name))


@both_tests
@pytest.mark.parametrize("seed", range(5))
def test_a_variable_screened_off_by_a_parent_is_dropped(name, seed):
    """far -> near -> target: given near, far is independent of the target."""
    rng = np.random.default_rng(seed)
    far = rng.integers(0, 2, 4000)
    near = noisy(rng, far)
    target = noisy(rng, near)
    assert kept([far, near], target, name, significance=1e-3) == [1]
    assert kept([near, far], target, name, significance=1e-3) == [0]


@both_tests
def test_a_sibling_is_dropped_and_all_parents_are_kept(name):
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, (2, 6000))
    sibling, target = noisy(rng, a), noisy(rng, a | b)
    assert kept([sibling, a, b], target, name, significance=1e-3) == [1, 2]


@both_tests
def test_parents_that_matter_only_jointly_are_kept(name):
    rng = np.random.default_rng(4)
    a, b, other = rng.integers(0, 2, (3, 2000))
    assert kept([a, other, b], noisy(rng, a ^ b), name, significance=1e-3) == [0, 2]


@both_tests
def test_the_published_failure_four_states_on_both_sides(name):
    """Other implementations fill two rows of the expected table only."""
    rng = np.random.default_rng(5)
    far = rng.integers(0, 4, 8000)
    near = noisy(rng, far, 0.3, 4)
    target = noisy(rng, near, 0.3, 4)
    assert kept([far, near], target, name, states=4, significance=1e-3) == [1]


def test_independent_variables_are_dropped():
    rng = np.random.default_rng(6)
    columns, target = rng.integers(0, 4, (3, 2000)), rng.integers(0, 4, 2000)
    assert kept(columns, target, states=4, significance=1e-3) == []


def test_no_candidate_leaves_no_parent():
    target = np.zeros(10, dtype=np.uint8)
    assert shrink(np.zeros((10, 0), dtype=np.uint8), target, 2, 0.05, as_test("g")) == []


def test_a_single_candidate_is_tested_pairwise():
    rng = np.random.default_rng(7)
    cause = rng.integers(0, 2, 500)
    assert kept([cause], noisy(rng, cause)) == [0]
    assert kept([cause], rng.integers(0, 2, 500), significance=1e-3) == []


def test_constants_are_dropped():
    rng = np.random.default_rng(8)
    cause = rng.integers(0, 2, 500)
    assert kept([np.ones(500), cause, np.zeros(500)], noisy(rng, cause)) == [1]
    assert kept([cause], np.ones(500)) == []


def test_the_later_of_two_copies_is_dropped():
    rng = np.random.default_rng(9)
    cause = rng.integers(0, 2, 500)
    assert kept([cause, cause], noisy(rng, cause)) == [0]


def test_with_too_few_samples_variables_leave_from_the_back():
    """Given the other four, no stratum has five samples per cell: the least dependent go first."""
    rng = np.random.default_rng(10)
    cause = rng.integers(0, 4, 400)
    others = rng.integers(0, 4, (4, 400))
    assert kept([cause, *others], noisy(rng, cause, 0.2, 4), states=4, significance=1e-3) == [0]


def test_untestable_variables_are_dropped_last():
    """A p-value of 1 from a lack of samples is no evidence of independence.

    Given ``noise`` no stratum has 20 samples, so ``cause`` cannot be tested; given ``cause``
    the larger stratum is enough to see that ``noise`` is independent.
    """
    noise = np.arange(72) % 4
    cause = (np.arange(72) // 4 % 9 == 0).astype(int)
    target = cause.copy()
    target[4:7] = 1
    assert kept([cause, noise], target, states=4) == [0]


def test_untouched_input():
    rng = np.random.default_rng(12)
    codes, target = rng.integers(0, 2, (100, 3)).astype(np.uint8), np.zeros(100, dtype=np.uint8)
    codes.flags.writeable = target.flags.writeable = False
    assert shrink(codes, target, 2, 0.05, as_test("chi_square")) == []


def test_many_variables_are_shrunk_in_little_time():
    """Every one is tested given all the others, but of those few samples are left to count."""
    rng = np.random.default_rng(0)
    codes = (2 * (rng.random((5000, 60)) < 0.3) + (rng.random((5000, 60)) < 0.3)).astype(np.uint8)
    target = (codes[:, :6] > 1).any(axis=1).astype(np.uint8)
    started = time.process_time()
    assert shrink(codes, target, 4, 0.05, TESTS["chi_square"]) == [0, 1, 2, 3, 4, 5]
    assert time.process_time() - started < 5  # it was 9.3 s, and is 0.8 s


@pytest.mark.parametrize(("states", "most"), [(4, 10), (16, 4), (2, 17)])
def test_parents_are_no_more_than_fit_a_table(states, most):
    rng = np.random.default_rng(0)
    codes = ((states - 1) * (rng.random((4000, 17)) < 0.02)).astype(np.uint8)
    target = (codes > 0).any(axis=1).astype(np.uint8)
    assert shrink(codes, target, states, 0.05, TESTS["chi_square"]) == list(range(most))
