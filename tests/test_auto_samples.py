"""num_samples="auto": as many samples as needed to estimate the strongest effects."""

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.effects.estimate import STAGES

NODES = 30


def ring():
    nodes = np.arange(NODES)
    beside = (nodes + 1) % NODES
    return np.concatenate((np.stack((nodes, beside)), np.stack((beside, nodes))), axis=1)


def features():
    return np.random.default_rng(0).integers(-2, 3, size=(NODES, 1)).astype(float)


def mixed(x, edge_index, nodes):
    """Even nodes copy a neighbour; odd ones are moved by all around them, wildly.

    All numbers are sixteenths: the same to the last bit, however they are added up.
    """
    value = x[..., 0]
    around = np.zeros_like(value)
    np.add.at(around, (slice(None), edge_index[1]), value[:, edge_index[0]])
    wild = np.mod(7 * around * around + 5 * around + 3 * value, 16)
    score = np.where(nodes % 2 == 0, np.clip(8 + 2 * around, 0, 16), wild)
    return np.stack((16 - score, score), axis=-1) / 16


def explainer(num_samples="auto", **options):
    options = {"num_layers": 1, "scores": "probabilities", **options}
    return PGMExplainer(mixed, features(), ring(), num_samples=num_samples, **options)


def drawn(explanation):
    return explanation.settings.sampling.num_samples


@pytest.fixture(scope="module")
def together():
    return explainer().explain_many(range(NODES))


def test_some_need_few_samples_and_others_many(together):
    counts = [drawn(each) for each in together]
    assert set(counts) <= set(STAGES)
    assert min(counts) == STAGES[0]
    assert max(counts) > STAGES[1]
    assert len(set(counts)) > 2


def test_each_target_has_the_same_number_as_alone(together):
    for target in (0, 1, 6, 7, 13, 20):
        alone = explainer().explain(target)
        assert alone == together[target]
        assert alone.settings == together[target].settings
        assert alone.warnings == together[target].warnings


def test_order_and_other_targets_do_not_matter(together):
    backwards = explainer().explain_many([21, 4, 7, 4])
    assert backwards == [together[target] for target in (21, 4, 7, 4)]


def test_it_equals_the_explanation_with_that_number_of_samples(together):
    for target in (2, 5, 9, 16):
        count = drawn(together[target])
        fixed = explainer(num_samples=count).explain(target)
        assert fixed == together[target]
        assert fixed.settings == together[target].settings


def test_the_seed_decides():
    one, same, other = (explainer(seed=seed).explain(7) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def leading_margin(explanation):
    return ((explanation.effects.high - explanation.effects.low) / 2)[:5].max()


def test_the_strongest_effects_are_known_well_enough(together):
    checked = 0
    for explanation in together:
        if drawn(explanation) == STAGES[-1]:
            continue
        strongest = abs(explanation.effects.effect).max()
        assert leading_margin(explanation) <= max(0.2 * strongest, 0.01)
        checked += 1
        if drawn(explanation) > STAGES[0]:  # a stage before, they were not
            half = explainer(num_samples=drawn(explanation) // 2).explain(explanation.target)
            strongest = abs(half.effects.effect).max()
            assert leading_margin(half) > max(0.2 * strongest, 0.01)
    assert checked > 10


def test_a_clear_model_takes_few_samples():
    def clear(x):
        score = 3 * np.roll(x[..., 0], 1, axis=-1)
        return np.stack((-score, score), axis=-1)

    x = np.where(np.arange(NODES) % 2, 1.0, -1.0)[:, None]
    explanation = PGMExplainer(
        clear, x, ring(), num_layers=1, num_samples="auto", perturbation="zero"
    ).explain(4)
    assert drawn(explanation) == STAGES[0]
    assert not any("samples" in text for text in explanation.warnings)


def noisy(x):
    """Moved by everything, in no direction."""
    value = 0.5 + 0.4 * np.sin(50 * x.sum(axis=(-2, -1)))
    return np.stack((1 - value, value), axis=-1)


def explain_noisy(**options):
    x = np.random.default_rng(1).normal(size=(NODES, 1))
    edges = np.zeros((2, 0), dtype=int)
    return PGMExplainer(noisy, x, edges, task="graph", **options).explain()


def test_reaching_the_limit_gives_a_warning():
    explanation = explain_noisy(num_samples="auto")
    assert drawn(explanation) == STAGES[-1] == 8000
    (text,) = [each for each in explanation.warnings if "8000 samples" in each]
    assert f"to within {100 * leading_margin(explanation):.2g} percentage points" in text
    assert leading_margin(explanation) > 0.01


def test_a_given_number_is_used():
    explanation = explain_noisy(num_samples=600)
    assert drawn(explanation) == 600
    assert not any("600 samples do not" in each for each in explanation.warnings)


def test_features_take_as_many_samples():
    auto = explainer()
    explanation = auto.explain(7)
    fixed = explainer(num_samples=drawn(explanation))
    ours, theirs = auto.explain_features(explanation), fixed.explain_features(fixed.explain(7))
    np.testing.assert_array_equal(ours.log_p, theirs.log_p)
    assert ours.log_p.min() < -10


def test_samples_need_a_number():
    with pytest.raises(InputError, match="set num_samples to a number"):
        explainer().samples([0])


def test_an_unknown_word_is_refused():
    with pytest.raises(InputError, match="'many'"):
        explainer(num_samples="many")
