"""The adjusting fit against NumPy's least squares."""

import numpy as np
import pytest

from pgm_explainer.effects import designs
from pgm_explainer.effects.designs import PerturbedSamples
from pgm_explainer.effects.regression import fit_all


def fitted(samples, outcome):
    columns = np.arange(samples.bits.shape[1])
    bits = PerturbedSamples(samples.table, columns)
    return fit_all(bits, [(columns, outcome)], 0.1)[0]


def with_intercept(columns):
    return np.column_stack((np.ones(len(columns)), columns))


@pytest.mark.parametrize("seed", range(5))
def test_with_all_nodes_adjusted_for_it_is_least_squares(lab, seed):
    samples, rng = lab(seed, 8), np.random.default_rng(seed)
    outcome = samples.bits @ np.linspace(0.5, 1, 8) + 0.1 * rng.normal(size=1000)
    alone, _ = fitted(samples, outcome)
    design = with_intercept(samples.bits)
    expected, *_ = np.linalg.lstsq(design, outcome, rcond=None)
    assert sorted(alone.active.tolist()) == list(range(8))
    np.testing.assert_allclose(alone.coefficients, expected[1:][alone.active], rtol=1e-6)
    left = outcome - design @ expected
    np.testing.assert_allclose(alone.residual, left * np.sqrt(1000 / (1000 - 9)), atol=1e-6)


def test_pairs_that_stand_out_are_adjusted_for_and_leave_less(lab):
    samples, rng = lab(9, 4, 2000), np.random.default_rng(9)
    both = samples.bits[:, 0] & samples.bits[:, 1]
    outcome = samples.bits @ np.array([1, 1, 0.5, 0.5]) + 2.0 * both
    outcome = outcome + 0.05 * rng.normal(size=2000)
    alone, paired = fitted(samples, outcome)
    assert paired.residual.std() == pytest.approx(0.05, rel=0.1)
    assert alone.residual.std() > 0.15


def test_an_additive_outcome_has_no_pairs(lab):
    samples, rng = lab(10, 6, 2000), np.random.default_rng(10)
    outcome = samples.bits @ np.ones(6) + 0.1 * rng.normal(size=2000)
    alone, paired = fitted(samples, outcome)
    np.testing.assert_allclose(paired.coefficients, alone.coefficients, atol=0.02)


def test_weak_nodes_are_not_adjusted_for(lab):
    samples, rng = lab(11, 300), np.random.default_rng(11)
    outcome = samples.bits[:, 5] + 0.3 * rng.normal(size=1000)
    alone, _ = fitted(samples, outcome)
    assert alone.active.tolist() == [5]


def test_a_few_rare_changes_are_not_overfitted(lab):
    """Four of five changed samples share a node by chance in 2,000: far out for a normal law."""
    samples = lab(12, 2000)
    outcome = np.zeros(1000)
    outcome[:5] = 1
    assert (samples.bits[:5].sum(axis=0) >= 3).sum() > 3
    alone, _ = fitted(samples, outcome)
    assert alone.active.tolist() == []


def test_at_most_one_in_ten_samples_is_spent(lab):
    samples = lab(13, 60, 100, 0.5)
    alone, _ = fitted(samples, samples.bits @ np.linspace(1, 2, 60) * 10)
    assert len(alone.active) <= 10


def test_ranges_of_samples_give_the_same_fit(lab, monkeypatch):
    """With many samples, the columns of a fit are in memory a range of samples at a time."""
    samples, rng = lab(14, 9, 2003), np.random.default_rng(14)
    outcome = samples.bits @ np.linspace(0.5, 1, 9) + 2.0 * (
        samples.bits[:, 7] & samples.bits[:, 8]
    )
    outcome = outcome + 0.05 * rng.normal(size=2003)
    whole = fitted(samples, outcome)
    monkeypatch.setattr(designs, "CELLS_AT_ONCE", 1000)
    assert len(designs.sample_ranges(2003, 9)) > 10
    for one, two in zip(whole, fitted(samples, outcome), strict=True):
        assert one.active.tolist() == two.active.tolist()
        np.testing.assert_allclose(one.coefficients, two.coefficients, rtol=1e-9)
        np.testing.assert_allclose(one.residual, two.residual, atol=1e-9)


@pytest.mark.parametrize("width", [1, 3, 7, 1000, 10**7])
@pytest.mark.parametrize("num_samples", [20, 1003, 2_097_153])
def test_ranges_cover_all_samples(num_samples, width):
    ranges = designs.sample_ranges(num_samples, width)
    ends = [0, *(each.stop for each in ranges)]
    assert [each.start for each in ranges] == ends[:-1]
    assert all(each.start % 8 == 0 for each in ranges)
    assert ends[-1] == num_samples
    assert (len(ranges) == 1) == (num_samples * width <= designs.CELLS_AT_ONCE)
