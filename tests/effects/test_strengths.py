"""The order of effects: which node changes a prediction most, however the others change it."""

import numpy as np
import pytest

from pgm_explainer.effects.designs import PerturbedSamples
from pgm_explainer.effects.estimate import EffectProblem, estimate_effects
from pgm_explainer.effects.regression import Cells
from pgm_explainer.effects.strengths import _sizes, _Strong
from pgm_explainer.sampling.samples import Outcome
from pgm_explainer.significance import SignificanceConfig


def strength_of(effects):
    return dict(zip(effects.nodes.tolist(), effects.strength.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_a_node_that_flips_the_prediction_is_before_one_that_hardly_changes_it(lab, seed):
    """Ranks alone put node 1 first: it changes something each time, node 0 every second time."""
    samples = lab(seed, 20)
    flips = samples.bits[:, 0] & (np.random.default_rng(seed).random(1000) < 0.45)
    effects = samples.effects(1 - 0.9 * flips - 1e-5 * samples.bits[:, 1])
    strength = strength_of(effects)
    assert effects.nodes[0] == 0
    assert effects.significant[:2].all()
    assert strength[1] < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_either_of_two_groups_that_suffice_is_strong(lab, seed):
    """Nodes 0 and 1 each keep a log-odds of 30 or more: only losing both is seen as a probability.

    In few samples both are perturbed; the log-odds tell them from the others in all samples.
    """
    samples = lab(seed, 30, 300)
    log_odds = 30.0 * (2 - samples.bits[:, :2].sum(axis=1))
    nodes = np.arange(30)
    found = {}
    for name, changes in (("seen", abs(log_odds - 60)), ("unseen", None)):
        outcome = Outcome(1 / (1 + np.exp(-log_odds)), 1.0, 1e-6, log_odds=changes)
        problem = EffectProblem(nodes, outcome)
        (found[name],) = estimate_effects(samples.table, [problem], 0.1, SignificanceConfig())
    assert set(found["seen"].nodes[:2].tolist()) == {0, 1}
    strength = strength_of(found["seen"])
    assert min(strength[0], strength[1]) > 2 * max(strength[node] for node in range(2, 30))
    order = [np.argsort(each.nodes) for each in found.values()]
    for column in ("effect", "low", "high", "log_p"):
        seen, unseen = (
            getattr(each, column)[at] for each, at in zip(found.values(), order, strict=True)
        )
        assert np.array_equal(seen, unseen)


def test_large_changes_by_others_do_not_hide_small_ones(lab):
    """Three nodes change the prediction at random by far more than two others ever do."""
    found = []
    for seed in range(20):
        samples, rng = lab(seed, 40), np.random.default_rng(100 + seed)
        large = (samples.bits[:, :3] * rng.normal(0, 0.3, (1000, 3))).sum(axis=1)
        small = samples.bits[:, 3:5] @ np.array([0.02, 0.01])
        found.append(samples.effects(1 - small - large).nodes[:5].tolist())
    assert np.mean([set(nodes) == {0, 1, 2, 3, 4} for nodes in found]) >= 0.95
    assert np.mean([nodes[3:] == [3, 4] for nodes in found]) >= 0.95


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_nodes_that_matter_only_together_are_strong(lab, share):
    """Alone, neither of the two changes anything; the third changes less, but on its own."""
    samples = lab(3, 30, 4000)
    both = samples.bits[:, 0] & samples.bits[:, 1]
    effects = samples.effects(1 - 0.9 * both - 0.02 * share * samples.bits[:, 2])
    strength = strength_of(effects)
    others = [strength[node] for node in range(3, 30)]
    assert min(strength[0], strength[1]) > 2 * max(others)
    assert {0, 1} <= set(effects.nodes[:3].tolist())


def test_a_joint_change_in_both_directions_has_evidence_but_no_size(lab):
    samples = lab(4, 30, 4000)
    sign = np.where(np.random.default_rng(4).random(4000) < 0.5, 1, -1)
    effects = samples.effects(0.5 + 0.4 * sign * (samples.bits[:, 0] & samples.bits[:, 1]) + 0.5)
    assert set(effects.nodes[:2].tolist()) == {0, 1}
    assert effects.strength[0] == 1


def test_sizes_are_differences_of_means_without_other_strong_nodes(lab):
    samples = lab(5, 8)
    bits = samples.bits
    changes = np.random.default_rng(5).exponential(size=(1, 1000)) + 3 * bits[:, :2].sum(axis=1)
    table = samples.table
    strong = _Strong(np.array([0, 1]), np.array([0, 0]), np.array([0, 1]))
    columns = np.arange(8)
    perturbed = PerturbedSamples(table, table.columns(columns))
    sizes = _sizes(perturbed, Cells([columns], 8), strong, changes, 0.1)
    for node in range(8):
        quiet = ~bits[:, [each for each in (0, 1) if each != node]].any(axis=1)
        with_node, without = (changes[0, quiet & (bits[:, node] == on)] for on in (True, False))
        undisturbed = changes[0, ~bits[:, :2].any(axis=1)]
        floor = 3 * undisturbed.std() / np.sqrt(0.09 * len(undisturbed))
        expected = with_node.mean() - without.mean()
        assert sizes[node] == pytest.approx(max(expected, floor), rel=1e-9)


@pytest.mark.parametrize("probability", [0.02, 0.5, 0.9])
def test_the_order_is_right_for_other_probabilities(lab, probability):
    samples = lab(6, 12, 4000, probability)
    weights = np.array([0.3, 0.2, 0.1, *np.zeros(9)])
    effects = samples.effects(lambda bits: 1 - bits @ weights, probability=probability)
    assert effects.nodes[:3].tolist() == [0, 1, 2]
    assert np.isfinite(effects.strength).all()


def test_strengths_have_the_same_bits_alone_and_among_many(lab):
    samples, rng = lab(7, 40), np.random.default_rng(7)
    problems = []
    for count in (40, 7, 1, 25):
        nodes = np.sort(rng.permutation(40)[:count])
        values = 1 - samples.bits[:, nodes] @ rng.exponential(0.1, count) * rng.random(1000)
        problems.append(EffectProblem(nodes, Outcome(values, 1.0, 1e-9)))
    table, significance = samples.table, SignificanceConfig()
    together = estimate_effects(table, problems, 0.1, significance)
    for problem, found in zip(problems, together, strict=True):
        (alone,) = estimate_effects(table, [problem], 0.1, significance)
        assert alone.nodes.tolist() == found.nodes.tolist()
        assert alone.strength.tolist() == found.strength.tolist()
