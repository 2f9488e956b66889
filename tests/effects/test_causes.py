"""The nodes that a model uses are found, at any distance and despite dependent nodes."""

import numpy as np
import pytest

from pgm_explainer import PGMExplainer
from pgm_explainer.independence import pairwise_tests
from pgm_explainer.selection import as_test

RING = 40


def ring():
    nodes = np.arange(RING)
    beside = (nodes + 1) % RING
    return np.concatenate((np.stack((nodes, beside)), np.stack((beside, nodes))), axis=1)


def reads_node_6(x):
    """Node 0 reads node 6 alone; every other node reads itself and its neighbours."""
    value = x[..., 0]
    score = value + np.roll(value, 1, axis=-1) + np.roll(value, -1, axis=-1)
    score[..., 0] = 2 * value[..., 6]
    return np.stack((-score, score), axis=-1)


CHAIN = 30


def attention():
    """The attention of each node: 0 to 1, 1 to 2, 2 to 3, and 26 others to 2 and 3.

    The others are neighbours of 0, which hardly attends to them: they depend on it without effect.
    """
    weights = np.zeros((CHAIN, CHAIN))
    for node in range(3):
        weights[node, node + 1] = 0.95
    weights[0, 4:] = 0.05 / 26
    weights[1, 4:] = weights[2, 4:] = 0.05 / 26
    weights[3, 3] = 1
    weights[4:17, 2] = weights[17:, 3] = 1
    return weights


def three_layers_of_attention(x):
    hidden = x[..., 0]
    for _ in range(3):
        hidden = hidden @ attention().T
    return np.stack((-4 * hidden, 4 * hidden), axis=-1)


@pytest.mark.parametrize("seed", range(3))
def test_a_cause_six_hops_away_is_first(seed):
    x = np.random.default_rng(seed).normal(size=(RING, 1))
    explanation = PGMExplainer(reads_node_6, x, ring(), num_layers=6, seed=seed).explain(0)
    assert explanation.effects[0].node == 6
    assert explanation.effects[0].significant
    assert explanation.nodes[0] == 6
    assert 6 in explanation.network.parents(0)
    assert len(explanation.effects) == 13  # all candidates, and the target
    assert explanation.effects[0].log_p < explanation.effects[1].log_p - 50


@pytest.mark.parametrize("max_nodes", [1, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_a_cause_is_not_displaced_by_dependents(seed, max_nodes):
    x = np.random.default_rng(seed).normal(size=(CHAIN, 1))
    x[3] = 2.0
    receiver, sender = np.nonzero(attention())
    explainer = PGMExplainer(
        three_layers_of_attention,
        x,
        np.stack((sender, receiver)),
        num_layers=3,
        max_nodes=max_nodes,
        seed=seed,
    )
    explanation = explainer.explain(0)
    along = explanation.ranking.significant.sum()
    assert along > 10  # many depend on the target
    assert explanation.effects[0].node == 3
    assert explanation.nodes[0] == 3
    assert 3 in explanation.network.parents(0)
    assert explanation.left_out == []
    assert len(explanation.nodes) == max_nodes


def reads_eight(x):
    score = 1 - 0.8 * x[..., :8, 0].sum(axis=-1)
    return np.stack((-score, score), axis=-1)


def explain_eight(**options):
    x = np.zeros((20, 1))
    explainer = PGMExplainer(
        reads_eight,
        x,
        np.zeros((2, 0), int),
        task="graph",
        perturbation=lambda x, rng: x + 1,
        num_samples=2000,
        **options,
    )
    return explainer.explain()


def test_strong_causes_outside_the_network_are_named():
    explanation = explain_eight(max_nodes=5)
    assert len(explanation.nodes) == 5
    assert len(explanation.left_out) == 3
    assert sorted([*explanation.nodes, *explanation.left_out]) == list(range(8))
    strength = dict(zip(explanation.effects.parts, explanation.effects.strength, strict=True))
    assert min(strength[node] for node in explanation.nodes) >= max(
        strength[node] for node in explanation.left_out
    )


def test_without_a_limit_nothing_is_left_out():
    explanation = explain_eight(max_nodes=None)
    assert sorted(explanation.nodes[:8]) == list(range(8))
    assert explanation.left_out == []
    assert sorted(explanation.network.parents("graph")) == list(range(8))


@pytest.mark.parametrize("no_child", [True, False])
def test_every_node_of_a_network_has_an_effect_or_depends(toy, no_child):
    """Without no_child, what depends on a dependent counts too: the paper's U(t)."""
    options = {"num_layers": 2, "num_samples": 400, "max_nodes": None, "no_child": no_child}
    explainer = PGMExplainer(toy.part, toy.x, toy.edge_index, **options)
    targets = range(15)
    table = explainer.samples(targets).table
    test, shown = as_test("g"), 0
    for target, explanation in zip(targets, explainer.explain_many(targets), strict=True):
        dependent = explanation.ranking.nodes[explanation.ranking.significant]
        acting = explanation.effects.nodes[explanation.effects.significant]
        for node in set(explanation.nodes) - set(dependent.tolist()) - set(acting.tolist()):
            assert not no_child
            assert any(log_p(table, node, other, test) < np.log(0.05) for other in dependent)
        shown += len(explanation.nodes)
        assert target not in explanation.nodes
    assert shown > 30


def log_p(table, one, other, test):
    codes = table.codes([table.column(int(one)), table.column(int(other))])
    counts = np.zeros((4, 4))
    np.add.at(counts, (codes[:, 0], codes[:, 1]), 1)
    return float(pairwise_tests(counts, test).log_p)


def test_the_target_is_among_the_effects_and_not_among_the_nodes():
    def reads_itself(x):
        return np.concatenate((-3 * x, 3 * x), axis=-1)

    x = np.random.default_rng(0).normal(size=(RING, 1))
    x[5] = 1.5
    explanation = PGMExplainer(reads_itself, x, ring(), num_layers=1, seed=1).explain(5)
    first = explanation.effects[0]
    assert (first.node, first.significant) == (5, True)
    assert first.high < 0
    assert explanation.nodes == []
    assert explanation.left_out == []
    assert explanation.network.cpt(5).own > 0.5


@pytest.mark.parametrize("layers", [1, 10])
def test_a_model_without_neighbours_gives_no_other_causes(layers):
    """All other nodes are candidates, and any that is found is found by chance."""

    def reads_itself(x):
        return np.concatenate((-3 * x, 3 * x), axis=-1)

    x = np.random.default_rng(0).normal(size=(RING, 1))
    acting, dependent = [], []
    for seed in range(8):
        options = {"num_layers": layers, "seed": seed, "structure": None}
        for each in PGMExplainer(reads_itself, x, ring(), **options).explain_many(range(RING)):
            others = each.effects.nodes != each.target
            acting.append(each.effects.significant[others].any())
            dependent.append(each.ranking.significant.any())
    noise = 2 * np.sqrt(0.05 * 0.95 / len(acting))
    assert np.mean(acting) <= 0.05 + noise
    assert np.mean(dependent) <= 1.5 * 0.05 + noise  # G rejects somewhat too often here


def test_a_nearly_constant_prediction_is_reported_with_its_range():
    def hardly(x):
        score = 10 + 0.8 * np.tanh(np.roll(x[..., 0], 1, axis=-1))
        return np.stack((np.zeros_like(score), score), axis=-1)

    x = np.random.default_rng(0).normal(size=(RING, 1))
    explanation = PGMExplainer(hardly, x, ring(), num_layers=1).explain(3)
    (text,) = [each for each in explanation.warnings if "hardly changes" in each]
    values = PGMExplainer(hardly, x, ring(), num_layers=1).samples([3]).values.of(3)
    moved = 100 * abs(values[0] - values[1])
    assert f"within {moved.max():.2g} percentage points" in text
    assert f"between {values[0].min():.6g} and {values[0].max():.6g}" in text
    assert f"of {explanation.probability:.6g}" in text
    assert moved.max() < 0.01


def test_a_changing_prediction_is_not_reported_as_constant():
    x = np.random.default_rng(0).normal(size=(RING, 1))
    explanation = PGMExplainer(reads_node_6, x, ring(), num_layers=6).explain(0)
    assert not any("hardly changes" in each for each in explanation.warnings)
