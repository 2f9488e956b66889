"""P-values and effects have the same bits alone and among many."""

import numpy as np

from pgm_explainer.effects.estimate import EffectProblem, estimate_effects
from pgm_explainer.effects.randomization import log_tails
from pgm_explainer.effects.table import EFFECT_COLUMNS
from pgm_explainer.sampling.samples import Outcome
from pgm_explainer.significance import SignificanceConfig


def test_a_total_tested_alone_gives_the_same_bits_as_among_many():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 100)) ** 3  # some need many steps, some few
    totals = 0.3 * abs(values).sum(axis=1) * rng.uniform(0.1, 1, size=40)
    weights = np.ones(100)
    together = log_tails(totals, values, weights, 0.1)
    alone = [log_tails(totals[[at]], values[[at]], weights, 0.1)[0] for at in range(40)]
    assert together.tolist() == alone


def test_a_shared_row_gives_the_same_bits_as_a_single_one():
    rng = np.random.default_rng(1)
    row, weights = rng.normal(size=60), np.ones(60)
    totals = rng.uniform(0.5, 3, size=8)
    shared = np.broadcast_to(row, (8, 60))
    answers = log_tails(totals, shared.copy(), weights, 0.1).tolist()
    for same in (shared, np.asfortranarray(shared), row):
        assert log_tails(totals, same, weights, 0.1).tolist() == answers


def test_effects_estimated_alone_have_the_same_bits_as_among_many(lab):
    samples, rng, problems = lab(0, 30), np.random.default_rng(0), []
    for count in rng.integers(3, 20, size=25):  # fits of many sizes, some with products of pairs
        nodes = np.sort(rng.choice(30, size=int(count), replace=False))
        bits = samples.bits[:, nodes]
        values = bits @ rng.normal(size=int(count)) + 2 * (bits[:, 0] & bits[:, 1])
        noise = rng.normal(size=1000)
        problems.append(EffectProblem(nodes, Outcome(values + 0.3 * noise, 0.0, 1e-9)))

    def estimated(some):
        return estimate_effects(samples.table, some, 0.1, SignificanceConfig())

    together = estimated(problems)
    assert any(each.pairs for each in together)
    for problem, among_many in zip(problems, together, strict=True):
        (alone,) = estimated([problem])
        for name in EFFECT_COLUMNS:
            assert getattr(alone, name).tolist() == getattr(among_many, name).tolist()
        assert alone.pairs == among_many.pairs
