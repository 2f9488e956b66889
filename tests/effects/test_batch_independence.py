"""A p-value from the randomisation has the same bits alone and among many."""

import numpy as np

from pgm_explainer.effects.randomization import log_tails


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
