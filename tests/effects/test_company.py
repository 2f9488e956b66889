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
