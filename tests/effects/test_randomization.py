"""Tails of sums over random samples, against exact ones."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from pgm_explainer.effects.randomization import atoms, log_tails, normal_log_p


def lattice_tails(values, probability):
    """The sums of (coin - probability) * value of whole values, and the chance of each.

    Found by adding one coin after the other, so it is exact.
    """
    chances = np.ones(1)
    for value in values:
        longer = np.zeros(len(chances) + value)
        longer[: len(chances)] += (1 - probability) * chances
        longer[value:] += probability * chances
        chances = longer
    return np.arange(len(chances)) - probability * values.sum(), chances


def one_sided(totals, chances):
    """The probability of as much or more (or less, below the mean), with half of the total's own.

    A smooth approximation does not distinguish *at least* from *more than*; it is between the two.
    """
    up = np.cumsum(chances[::-1])[::-1] - chances / 2
    down = np.cumsum(chances) - chances / 2
    return np.where(totals > 0, up, down)


@pytest.mark.parametrize(("count", "probability"), [(1000, 0.1), (1000, 0.05), (200, 0.5)])
def test_equal_values_have_binomial_tails(count, probability):
    mean, spread = count * probability, np.sqrt(count * probability * (1 - probability))
    heads = np.arange(int(mean + 1), int(mean + 7 * spread))
    ours = log_tails(heads - mean, np.ones(count), np.ones(count), probability)
    at_least = stats.binom.logsf(heads - 1, count, probability)
    above = stats.binom.logsf(heads, count, probability)
    middle = np.logaddexp(at_least, above) - np.log(2)
    np.testing.assert_allclose(ours, np.log(2) + middle, atol=0.1)


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("power", [1, 2, 4])
def test_tails_of_skewed_values_are_exact_far_out(probability, power):
    values = np.random.default_rng(power).exponential(size=200) ** power
    values = np.ceil(2000 * values / values.max()).astype(np.int64)
    totals, chances = lattice_tails(values, probability)
    exact = one_sided(totals, chances)
    chosen = np.flatnonzero((exact > 1e-10) & (exact < 0.2))[::50]
    assert exact[chosen].min() < 1e-9
    ours = log_tails(totals[chosen], values.astype(float), np.ones(200), probability)
    ratio = np.exp(ours) / (2 * exact[chosen])
    above = totals[chosen] > 0
    assert np.median(ratio) == pytest.approx(1, abs=0.05)
    assert 0.75 < ratio[above].min() < ratio[above].max() < 1.3
    assert ratio[~above].min() > 0.75  # too careful where next to no coin came up


@pytest.mark.parametrize("probability", [0.3, 0.5])
def test_twelve_coins_with_skewed_values_are_as_enumerated(probability):
    values = np.random.default_rng(3).exponential(size=12)
    coins = np.array(list(product([0, 1], repeat=12)))
    chances = np.where(coins, probability, 1 - probability).prod(axis=1)
    totals = (coins - probability) @ values
    order = np.argsort(totals)
    exact = np.empty(len(totals))
    exact[order] = one_sided(totals[order], chances[order])
    ours = np.exp(log_tails(totals, values, np.ones(12), probability)) / 2
    for low, high in ((0.05, 0.3), (0.01, 0.05), (0.001, 0.01)):
        within = (exact > low) & (exact <= high) & (coins.any(axis=1))
        ratio = (ours / exact)[within]
        assert len(ratio) > 30
        assert np.median(ratio) == pytest.approx(1, abs=0.1)
        assert 0.6 < ratio.min() < ratio.max() < 1.6


@pytest.mark.parametrize("changed", [3, 5, 8, 20])
def test_p_values_of_few_equal_changes_are_not_too_small(changed):
    """Twice the one-sided tail is never much below the exact one-sided tail."""
    values = np.zeros(1000)
    values[:changed] = 1
    heads = np.arange(1 + changed // 10, changed + 1)
    ours = log_tails(heads - 0.1 * changed, *atoms(values), 0.1)
    exact = stats.binom.logsf(heads - 1, changed, 0.1)
    assert (ours - exact > np.log(0.4)).all()
    assert (np.diff(ours) < 0).all()


def test_far_tails_are_finite_and_fall():
    values = np.random.default_rng(4).exponential(size=1000) ** 2
    values -= values.mean()
    most = values[values > 0].sum()
    totals = np.linspace(0.01, 1.2, 300) * most
    tails = log_tails(totals, *atoms(values), 0.1)
    assert np.isfinite(tails).all()
    assert (np.diff(tails) <= 1e-9).all()
    assert tails[0] > -2
    assert tails[150] < -100


def test_p_values_are_invariant_to_sign_and_scale():
    rng = np.random.default_rng(5)
    values, totals = rng.normal(size=100), np.array([1.0, 8.0, 15.0])
    ones = np.ones(100)
    upper = log_tails(totals, values, ones, 0.2)
    np.testing.assert_allclose(log_tails(-totals, -values, ones, 0.2), upper, rtol=1e-9)
    np.testing.assert_allclose(log_tails(1e-9 * totals, 1e-9 * values, ones, 0.2), upper, rtol=1e-9)
    each = log_tails(totals, np.stack([values] * 3), np.ones((3, 100)), 0.2)
    np.testing.assert_allclose(each, upper, rtol=1e-12)


def test_p_values_near_the_mean_are_large():
    values = np.random.default_rng(6).normal(size=500)
    assert (log_tails(np.array([0.0, 1e-12, -1e-12]), values, np.ones(500), 0.1) > -0.2).all()
    assert log_tails(np.zeros(1), np.zeros(500), np.ones(500), 0.1).tolist() == [0.0]


def test_atoms_keep_the_extremes_and_the_sum():
    values = np.random.default_rng(7).exponential(size=5000) ** 3
    points, weights = atoms(values)
    assert len(points) <= 160
    assert weights.sum() == 5000
    assert weights @ points == pytest.approx(values.sum())
    assert points[-1] == values.max()
    assert points[0] == values.min()
    few = np.array([3.0, 1.0, 2.0])
    assert atoms(few)[0].tolist() == [1, 2, 3]


def test_many_values_have_the_tails_of_their_atoms():
    rng = np.random.default_rng(8)
    values = rng.exponential(size=3000) ** 2
    values -= values.mean()
    spread = np.sqrt(0.09 * (values**2).sum())
    totals = spread * np.array([2.0, 3.0, 5.0, 8.0])
    whole = log_tails(totals, values, np.ones(3000), 0.1)
    np.testing.assert_allclose(log_tails(totals, *atoms(values), 0.1), whole, atol=0.1)


def test_normal_p_values():
    z = np.array([0.0, 1.96, -1.96, 40.0])
    expected = np.log(2) + stats.norm.logsf(abs(z))
    np.testing.assert_allclose(normal_log_p(z), expected, atol=1e-12)
