from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pgm_explainer.sampling.randomness import Draws

LOW_P = 1e-3  # seeds are fixed, so a test that passes once passes always


def draws(samples=1000, nodes=20, seed=0):
    return Draws.grid(seed, np.arange(samples), np.arange(nodes))


rows_and_columns = st.tuples(
    st.lists(st.integers(0, 39), min_size=1, max_size=8),
    st.lists(st.integers(0, 29), min_size=1, max_size=8),
    st.integers(0, 2**70),
)


@given(rows_and_columns)
def test_any_split_into_samples_and_nodes_sees_the_same_numbers(choice):
    samples, nodes, seed = choice
    everything = draws(40, 30, seed)
    part = Draws.grid(seed, np.array(samples), np.array(nodes))
    where = np.ix_(samples, nodes)
    np.testing.assert_array_equal(part.uniforms("u", 3), everything.uniforms("u", 3)[where])
    np.testing.assert_array_equal(part.bits("b", 70), everything.bits("b", 70)[where])
    np.testing.assert_array_equal(part.coins("c", 0.3), everything.coins("c", 0.3)[where])


def test_chosen_draws_are_those_of_the_grid():
    everything, chosen = draws(6, 5), np.random.default_rng(0).random((6, 5)) < 0.3
    part = everything.where(chosen)
    assert part.shape == (chosen.sum(),)
    np.testing.assert_array_equal(part.uniforms("u", 3), everything.uniforms("u", 3)[chosen])
    np.testing.assert_array_equal(part.bits("b", 70), everything.bits("b", 70)[chosen])
    assert everything.where(np.zeros((6, 5), dtype=bool)).uniforms("u", 3).shape == (0, 3)


def test_generators_belong_to_the_sample():
    everything = draws(6).generators("own")
    assert list(everything) == list(range(6))
    numbers = {sample: rng.random(3).tolist() for sample, rng in everything.items()}
    part = Draws.grid(0, np.array([4, 1]), np.arange(2)).generators("own")
    assert {sample: rng.random(3).tolist() for sample, rng in part.items()} == {
        sample: numbers[sample] for sample in (1, 4)
    }
    assert len({tuple(each) for each in numbers.values()}) == 6


def test_uniforms_are_uniform():
    values = draws().uniforms("u", 3).ravel()
    assert values.min() >= 0
    assert values.max() < 1
    assert stats.kstest(values, "uniform").pvalue > LOW_P
    last_bits = (values * 2**53).astype(np.uint64) & np.uint64(1)
    assert stats.binomtest(int(last_bits.sum()), values.size).pvalue > LOW_P


@pytest.mark.parametrize("seed", [0, 1, 12345])
@pytest.mark.parametrize("probability", [0.1, 0.25, 0.5])
def test_coins_fall_with_their_probability(seed, probability):
    coins = draws(seed=seed).coins("c", probability)
    assert stats.binomtest(int(coins.sum()), coins.size, probability).pvalue > LOW_P


def test_coins_of_different_nodes_are_independent():
    coins = draws(2000, 12).coins("c", 0.25).astype(int)
    p_values = []
    for left in range(12):
        for right in range(left):
            table = np.histogram2d(coins[:, left], coins[:, right], bins=2)[0]
            p_values.append(stats.chi2_contingency(table, correction=False).pvalue)
    assert stats.kstest(p_values, "uniform").pvalue > LOW_P


def test_coins_of_following_samples_are_independent():
    coins = draws(2001, 12).coins("c", 0.25).astype(int)
    table = np.histogram2d(coins[:-1].ravel(), coins[1:].ravel(), bins=2)[0]
    assert stats.chi2_contingency(table, correction=False).pvalue > LOW_P


def test_features_of_one_node_are_independent_of_each_other_and_of_the_next_sample():
    values = draws(4000, 1).uniforms("u", 2)[:, 0]
    assert stats.spearmanr(values[:, 0], values[:, 1]).pvalue > LOW_P
    assert stats.spearmanr(values[:-1, 1], values[1:, 0]).pvalue > LOW_P


@pytest.mark.parametrize("width", [1, 10, 64, 65, 130])
def test_bits_are_fair_in_every_position(width):
    bits = draws(500, 8).bits("b", width)
    assert bits.shape == (500, 8, width)
    assert set(np.unique(bits)) == {0, 1}
    ones = bits.sum(axis=(0, 1))
    assert min(stats.binomtest(int(count), 4000).pvalue for count in ones) > LOW_P / width
    assert stats.binomtest(int(ones.sum()), bits.size).pvalue > LOW_P


def test_bits_of_different_positions_are_independent():
    bits = draws(4000, 1).bits("b", 80)[:, 0].astype(int)
    correlation = np.corrcoef(bits.T) - np.eye(80)
    assert abs(correlation).max() < 5 / np.sqrt(4000)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (draws(seed=0).uniforms("a"), draws(seed=1).uniforms("a")),
        (draws(seed=0).uniforms("a"), draws(seed=2**64).uniforms("a")),
        (draws().uniforms("a"), draws().uniforms("b")),
        (draws().uniforms("ab"), draws().uniforms("ba")),
    ],
    ids=["seed", "large seed", "purpose", "letters of a purpose"],
)
def test_another_seed_or_purpose_gives_unrelated_numbers(one, other):
    assert not (one == other).any()
    assert stats.spearmanr(one.ravel(), other.ravel()).pvalue > LOW_P


def test_numbers_are_the_same_on_every_machine_and_in_every_release():
    part = Draws.grid(5, np.array([0, 7]), np.array([3]))
    assert part.uniforms("pinned").ravel().tolist() == [0.48438260063957717, 0.6367735683562117]
    assert part.bits("pinned", 6).tolist() == [[[1, 0, 0, 0, 0, 0]], [[0, 0, 0, 1, 0, 1]]]
