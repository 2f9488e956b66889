"""The log of the chi-square tail, against arbitrary precision and where it would underflow."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgm_explainer.independence import log_chi_square_tail

ROUNDING = 1e-14
"""Where the tail is 1 to the last digit its logarithm can only be 0."""


def exact(statistic: float, dof: int) -> float:
    with mpmath.workdps(40):
        half = mpmath.mpf(statistic) / 2
        return float(mpmath.log(mpmath.gammainc(mpmath.mpf(dof) / 2, half, regularized=True)))


@pytest.mark.parametrize("dof", [1, 2, 3, 4, 9, 27, 81, 200])
def test_agrees_with_arbitrary_precision(dof):
    statistics = [0.0, 1e-3, 0.5, 3.84, 20.0, 150.0, 800.0, 1290.0, 1310.0, 2e3, 1e4, 1e5, 1e6]
    expected = [exact(statistic, dof) for statistic in statistics]
    answer = log_chi_square_tail(statistics, dof)
    np.testing.assert_allclose(answer, expected, rtol=1e-10, atol=ROUNDING)


@given(statistic=st.floats(0, 1e6), dof=st.integers(1, 200))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_agrees_with_arbitrary_precision_anywhere(statistic, dof):
    answer = log_chi_square_tail(statistic, dof)
    np.testing.assert_allclose(answer, exact(statistic, dof), rtol=1e-10, atol=ROUNDING)


@pytest.mark.parametrize("dof", [1000, 10_000])
def test_many_strata_add_up_to_many_degrees_of_freedom(dof):
    statistics = [dof * 0.5, dof * 1.0, dof * 1.5, dof * 2.0, dof * 3.0, dof * 20.0]
    expected = [exact(statistic, dof) for statistic in statistics]
    answer = log_chi_square_tail(statistics, dof)
    np.testing.assert_allclose(answer, expected, rtol=1e-9, atol=ROUNDING)


@pytest.mark.parametrize("dof", [1, 2, 9, 50, 200])
def test_a_larger_statistic_is_never_more_likely(dof):
    statistics = np.concatenate([np.linspace(0, 3000, 60_001), np.geomspace(3001, 1e6, 2000)])
    steps = np.diff(log_chi_square_tail(statistics, dof))
    assert (steps <= 1e-12).all()
    assert (steps[statistics[1:] > 2 * dof] < 0).all()


def test_the_two_ways_of_computing_meet_without_a_step():
    statistics = np.linspace(1200, 1500, 3001)
    steps = np.diff(log_chi_square_tail(statistics, 9))
    np.testing.assert_allclose(steps, -0.05, atol=1e-3)


def test_more_degrees_of_freedom_make_a_statistic_more_likely():
    answer = log_chi_square_tail(50.0, np.arange(1, 200))
    assert (np.diff(answer[:90]) > 0).all()


def test_nothing_to_test_gives_p_one():
    assert log_chi_square_tail([0.0, 5.0, 1e6], 0).tolist() == [0.0, 0.0, 0.0]


def test_no_statistic_gives_p_one():
    assert log_chi_square_tail(0.0, [1, 9, 200]).tolist() == [0.0, 0.0, 0.0]


def test_a_scalar_gives_a_scalar_and_shapes_broadcast():
    assert log_chi_square_tail(4.0, 1).shape == ()
    assert log_chi_square_tail(np.ones((3, 1)), np.ones(4)).shape == (3, 4)
    assert log_chi_square_tail(np.zeros((0, 2)), np.zeros((0, 2))).shape == (0, 2)


def test_where_p_underflows_its_log_still_differs():
    answer = log_chi_square_tail([1e5, 1e5 + 1, 1e6], 9)
    assert np.exp(answer).tolist() == [0.0, 0.0, 0.0]
    assert answer[0] > answer[1] > answer[2]
