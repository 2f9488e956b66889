"""Theorem 2: the Markov blanket of a variable without children lies within S(t)."""

import pytest


@pytest.mark.parametrize("size", [5, 6])
@pytest.mark.parametrize("seed", range(8))
def test_the_markov_blanket_of_a_leaf_is_inside_s(
    faithful_network, table_of, dependents_of, size, seed
):
    network = faithful_network(seed, size)
    table = table_of(network, seed)
    leaves = [node for node in network.nodes if not network.children(node)]
    assert leaves
    for target in leaves:
        chosen = dependents_of(table, target, no_child=True)
        assert set(network.markov_blanket(target)) == set(network.parents(target))
        assert set(network.parents(target)) <= chosen
        assert not chosen & {size, size + 1}
