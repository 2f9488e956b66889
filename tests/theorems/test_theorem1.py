"""Theorem 1: the Markov blanket of any variable lies within U(t)."""

import pytest


@pytest.mark.parametrize("size", [5, 6])
@pytest.mark.parametrize("seed", range(8))
def test_the_markov_blanket_is_inside_u(faithful_network, table_of, dependents_of, size, seed):
    network = faithful_network(seed, size)
    table = table_of(network, seed)
    for target in network.nodes:
        chosen = dependents_of(table, target, no_child=False)
        assert set(network.markov_blanket(target)) <= chosen
        assert not chosen & {size, size + 1}  # the strangers stay outside


def test_some_blankets_are_outside_what_depends_on_the_target(
    faithful_network, table_of, dependents_of
):
    """Spouses may be independent of the target: that is why Theorem 1 looks one step further."""
    missed = 0
    for seed in range(8):
        network = faithful_network(seed, 6)
        table = table_of(network, seed)
        for target in network.nodes:
            dependent = dependents_of(table, target, no_child=True)
            missed += not set(network.markov_blanket(target)) <= dependent
    assert missed > 0
