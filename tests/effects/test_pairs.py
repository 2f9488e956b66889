"""Pairs of nodes whose joint effect is not the sum of the two."""

from itertools import product

import numpy as np
import pytest

from pgm_explainer.effects import designs


def one_or_the_other(bits):
    """Either of nodes 0 and 1 lowers it, but not both together; 2 and 3 just add up."""
    return 0.9 - 0.4 * (bits[:, 0] ^ bits[:, 1]) - 0.2 * bits[:, 2] - 0.1 * bits[:, 3]


def only_together(bits):
    return 0.9 - 0.6 * (bits[:, 0] & bits[:, 1]) - 0.2 * bits[:, 2]


def exact_joint(model, size, first, second, probability=0.1):
    """What perturbing both changes, averaged over the patterns of the others."""
    others = np.array(list(product([False, True], repeat=size)))
    others = others[~others[:, first] & ~others[:, second]]
    both = others.copy()
    both[:, [first, second]] = True
    rest = np.delete(others, [first, second], axis=1)
    weights = np.where(rest, probability, 1 - probability).prod(axis=1)
    return float(weights @ (model(both) - model(others)))


@pytest.mark.parametrize(("model", "sign"), [(one_or_the_other, 1), (only_together, -1)])
def test_a_pair_is_found_with_its_joint_effect_and_its_excess(lab, exact_effects, model, sign):
    noise = 0.02 * np.random.default_rng(0).normal(size=4000)
    effects = lab(0, 6, 4000).effects(model(lab(0, 6, 4000).bits) + noise + 0.1)
    pair = effects.pairs[0]
    truth = exact_joint(model, 6, 0, 1)
    assert set(pair.nodes) == {0, 1}
    assert len(effects.pairs) == 1
    assert np.sign(pair.excess) == sign
    assert pair.joint == pytest.approx(truth, abs=0.04)
    assert pair.low <= truth - exact_effects(model, 6)[[0, 1]].sum() <= pair.high
    alone = dict(zip(effects.nodes.tolist(), effects.effect.tolist(), strict=True))
    assert pair.joint == pytest.approx(alone[0] + alone[1] + pair.excess)
    assert pair.log_p < np.log(0.05 / 3)


def test_a_joint_effect_on_a_probability_is_possible(lab):
    impossible = 0
    for seed in range(20):
        samples = lab(seed, 6, 300)
        bits, noise = samples.bits, np.random.default_rng(seed).random(300)
        values = 0.99 * ~(bits[:, 0] & bits[:, 1]) * ~(bits[:, 2] & (noise > 0.5))
        value, found = samples.effects(values), samples.effects(values, is_probability=True)
        for pair, same in zip(found.pairs, value.pairs, strict=True):
            without = values[~bits[:, pair.nodes].any(axis=1)].mean()
            assert -without - 1e-12 <= pair.joint <= 1 - without
            assert pair.low <= pair.excess <= pair.high
            assert pair.joint == max(same.joint, -without)
            assert pair.joint - pair.excess == pytest.approx(same.joint - same.excess)
            impossible += same.joint < -without
    assert impossible > 3


def test_the_excess_has_an_interval_that_covers_it(lab, exact_effects):
    truth = exact_joint(one_or_the_other, 4, 0, 1)
    truth -= exact_effects(one_or_the_other, 4)[[0, 1]].sum()
    covered = []
    for seed in range(60):
        samples = lab(seed, 4, 2000)
        noise = 0.1 * np.random.default_rng(seed).normal(size=2000)
        pairs = samples.effects(one_or_the_other(samples.bits) + noise + 0.1).pairs
        (found,) = [pair for pair in pairs if set(pair.nodes) == {0, 1}]
        covered.append(found.low <= truth <= found.high)
    assert 0.85 <= np.mean(covered) <= 1


def test_additive_effects_give_no_pairs(lab):
    found = 0
    for seed in range(60):
        samples = lab(seed, 8)
        noise = 0.05 * np.random.default_rng(seed).normal(size=1000)
        found += bool(samples.effects(1 - samples.bits @ np.linspace(0.02, 0.1, 8) + noise).pairs)
    assert found / 60 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.parametrize("chances", [(0.6, 0.3), (0.35, 0.05), (0.8, 0.1)])
def test_two_valued_outcomes_with_additive_chances_give_no_pairs(lab, chances):
    """Ten samples in a thousand have both bits, and their outcomes may all be equal by chance."""
    found = 0
    for seed in range(60):
        samples = lab(seed, 8)
        drawn = np.random.default_rng(1000 + seed).random(1000)
        found += bool(samples.effects(1.0 * (drawn > 0.02 + samples.bits[:, :2] @ chances)).pairs)
    assert found / 60 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)


def test_pairs_of_two_valued_outcomes_are_found(lab):
    found = 0
    for seed in range(30):
        samples = lab(seed, 8)
        either = samples.bits[:, 0] | samples.bits[:, 1]
        drawn = np.random.default_rng(seed).random(1000)
        pairs = samples.effects(1.0 * (drawn > 0.02 + 0.9 * either)).pairs
        found += any(set(pair.nodes) == {0, 1} for pair in pairs)
    assert found >= 27


def test_only_the_strongest_are_paired_and_at_most_five_reported(lab):
    def all_or_nothing(bits):
        return 1 - 0.8 * bits[:, :8].any(axis=1)

    effects = lab(1, 10, 8000).effects(all_or_nothing)
    assert len(effects.pairs) == 5
    assert {node for pair in effects.pairs for node in pair.nodes} <= set(effects.nodes[:6])
    excess = [abs(pair.excess) for pair in effects.pairs]
    assert excess == sorted(excess, reverse=True)
    assert all(pair.excess > 0 for pair in effects.pairs)  # the second adds nothing


def test_two_that_are_hardly_ever_perturbed_together_are_not_judged(lab):
    samples = lab(2, 3, 300)
    samples.bits[samples.bits[:, 0], 1] = False
    assert not samples.effects(one_or_the_other_of_two).pairs


def one_or_the_other_of_two(bits):
    return 0.9 - 0.4 * bits[:, 0] - 0.4 * bits[:, 1]


def test_ranges_of_samples_give_the_same_pairs(lab, monkeypatch):
    samples = lab(3, 6, 4001)
    noise = 0.02 * np.random.default_rng(0).normal(size=4001)
    whole = samples.effects(one_or_the_other(samples.bits) + noise + 0.1).pairs
    monkeypatch.setattr(designs, "CELLS_AT_ONCE", 1000)
    split = samples.effects(one_or_the_other(samples.bits) + noise + 0.1).pairs
    assert [each.nodes for each in split] == [each.nodes for each in whole]
    assert split[0].excess == pytest.approx(whole[0].excess, rel=1e-9)
    assert split[0].log_p == pytest.approx(whole[0].log_p, rel=1e-9)
