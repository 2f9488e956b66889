"""Effects against exact ones, the coverage of their intervals, and what nothing causes."""

import numpy as np
import pytest
from scipy import stats


def logistic(bits):
    """A probability that ten nodes lower, each less than the one before, the last not at all."""
    weights = np.array([3, 2, 1.5, 1, 0.7, 0.5, 0.3, 0.2, 0.1, 0])
    return 1 / (1 + np.exp(bits.astype(float) @ weights - 2))


def any_of_three(bits):
    """Each of three nodes does all that can be done: their effects are far from a sum."""
    return 1 - 0.8 * bits[:, :3].any(axis=1)


def with_interactions(bits):
    b = bits.astype(float)
    score = 1.2 - b @ np.array([2.5, -1.5, 1.0, 0.6, -0.4, 0.2, 0, 0])
    return 1 / (1 + np.exp(1.5 * b[:, 0] * b[:, 1] - 2 * b[:, 2] * b[:, 3] - score))


MODELS = [(logistic, 10), (any_of_three, 6), (with_interactions, 8)]


def by_node(effects):
    """Estimates and margins in the order of the nodes."""
    order = np.argsort(effects.nodes)
    return effects.effect[order], (effects.high - effects.low)[order] / 2


@pytest.mark.parametrize(("model", "size"), MODELS)
def test_effects_are_those_of_all_patterns(lab, exact_effects, model, size):
    estimates, margins = by_node(lab(0, size, 4000).effects(model))
    assert (abs(estimates - exact_effects(model, size)) <= 4 / 1.96 * margins + 1e-9).all()
    assert margins.max() < 0.03


@pytest.mark.parametrize(("model", "size"), MODELS)
def test_intervals_cover_the_truth_in_95_of_100(lab, exact_effects, model, size):
    """Also if effects do not add up, which intervals once ignored."""
    truth = exact_effects(model, size)
    covered = []
    for seed in range(200):
        estimates, margins = by_node(lab(seed, size).effects(model))
        covered.append(abs(estimates - truth) <= margins)
    assert 0.93 <= np.mean(covered) <= 0.97
    assert np.mean(covered, axis=0).min() > 0.88


def test_an_exact_sum_is_known_exactly(lab):
    weights = np.array([-0.4, 0.2, -0.1, 0.05, 0])
    estimates, margins = by_node(lab(1, 5).effects(lambda bits: 0.7 + bits @ weights))
    np.testing.assert_allclose(estimates, weights, atol=1e-7)
    np.testing.assert_allclose(margins, 0, atol=1e-7)


def test_order_is_by_strength_and_the_strongest_has_one(lab):
    effects = lab(2, 10, 4000).effects(logistic)
    assert effects.nodes[:4].tolist() == [0, 1, 2, 3]
    assert effects.strength[0] == 1
    assert (np.diff(effects.strength) <= 0).all()
    assert effects.significant[:4].all()
    assert (effects.effect[:4] < 0).all()


def test_a_node_with_effects_in_both_directions_is_strong(lab):
    samples = lab(3, 6, 4000)
    up = np.random.default_rng(3).random(4000) < 0.5
    moved = 0.5 + samples.bits[:, 0] * np.where(up, 0.3, -0.3) + 0.05 * samples.bits[:, 1]
    first = samples.effects(moved - 0.5 + 1.0)[0]  # original is 1
    assert (first.node, first.strength) == (0, 1)
    assert first.significant
    assert first.low < 0 < first.high


def test_a_node_that_is_never_or_always_perturbed_has_no_effect(lab):
    samples = lab(4, 4)
    samples.bits[:, 2], samples.bits[:, 3] = False, True
    effects = samples.effects(lambda bits: 1 - 0.5 * bits[:, 0])
    assert effects.nodes[0] == 0
    for node in (2, 3):
        (at,) = np.flatnonzero(effects.nodes == node)
        assert effects.effect[at] == effects.strength[at] == effects.log_p[at] == 0
        assert not effects.significant[at]


def test_a_constant_prediction_has_no_effects(lab):
    effects = lab(5, 5).effects(lambda bits: np.full(len(bits), 0.5))
    assert not effects.significant.any()
    assert (effects.effect == 0).all()
    assert (effects.strength == 0).all()


def test_rounding_errors_are_no_changes(lab):
    noise = 1e-10 * lab(6, 5).bits[:, 0]
    assert not lab(6, 5).effects(1.0 + noise).significant.any()


@pytest.mark.parametrize("size", [6, 40])
def test_an_estimate_does_not_depend_on_columns_without_effect(lab, size):
    samples = lab(7, 40, 2000)
    few = samples.effects(logistic_of_first)
    some = type(samples)(samples.bits[:, :size]).effects(logistic_of_first)
    for node in range(3):
        one, other = (np.flatnonzero(each.nodes == node)[0] for each in (few, some))
        assert few.effect[one] == pytest.approx(some.effect[other], abs=0.01)


def logistic_of_first(bits):
    return 1 / (1 + np.exp(bits[:, :3].astype(float) @ np.array([2.0, 1.5, 1.0]) - 1))


RATES = {
    "5 of 1000 changed": lambda rng: -0.5 * (np.arange(1000) < 5),
    "20 of 1000 changed": lambda rng: -0.5 * (np.arange(1000) < 20),
    "skewed": lambda rng: -0.001 * rng.exponential(size=1000) ** 4,
    "normal": lambda rng: 0.1 * rng.normal(size=1000),
}


@pytest.mark.parametrize("kind", RATES)
def test_no_effects_are_found_if_there_are_none(lab, kind):
    """Outcomes shuffled against perturbations of 2,000 candidates: any discovery is false."""
    rng = np.random.default_rng(11)
    replicates, found = 40, 0
    tables = [lab(seed, 2000) for seed in range(2)]
    for at in range(replicates):
        values = 1 + rng.permutation(RATES[kind](rng))
        found += tables[at % 2].effects(values).significant.any()
    most = 0.05 + 2 * np.sqrt(0.05 * 0.95 / replicates)
    assert found / replicates <= most


def test_p_values_without_effect_are_not_too_small(lab):
    rng = np.random.default_rng(12)
    log_p = np.concatenate(
        [
            lab(seed, 2000).effects(1 + rng.permutation(RATES["skewed"](rng))).log_p
            for seed in range(10)
        ]
    )
    for level in (0.05, 0.01, 0.001):
        most = stats.binom.ppf(0.999, len(log_p), level)
        assert (log_p < np.log(level)).sum() <= most


def test_a_cause_is_found_among_thousands_without_effect(lab):
    rng = np.random.default_rng(13)
    tables, false = [lab(seed, 2000) for seed in range(2)], []
    for at in range(20):
        samples = tables[at % 2]
        noise = 0.05 * rng.normal(size=1000)
        effects = samples.effects(1 - 0.1 * samples.bits[:, 7] + noise)
        assert effects.nodes[0] == 7
        assert effects.significant[0]
        false.append(1 - 1 / effects.significant.sum())
    assert np.mean(false) <= 0.05 + 2 * np.std(false) / np.sqrt(20)
