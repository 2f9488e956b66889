"""Theorem 3: for a target without children, Algorithm 2 finds the truth up to I-equivalence."""

from functools import partial

import pytest

from pgm_explainer.learning import Problem, learn_networks
from pgm_explainer.network import NetworkConfig, equivalent
from pgm_explainer.selection import SelectionConfig, as_test
from pgm_explainer.significance import SignificanceConfig
from pgm_explainer.structure import DAG, exact_search, hill_climb

every_network = [(seed, size) for size in (5, 6) for seed in range(8)]


def learn_network(table, nodes, target, plan):
    """Algorithm 2, or 1, for one target."""
    (network,) = learn_networks(table, [Problem(target, nodes)], *plan)
    return network


def plan(search, significance, test="chi_square", no_child=True):
    """The paper's: a full table for the target too."""
    return (
        NetworkConfig(structure=search, target_table="full"),
        SelectionConfig(test=as_test(test), no_child=no_child),
        SignificanceConfig(significance=significance),
    )


def renamed(network, size):
    """The graph of a learned network with variables numbered as in the truth."""
    return DAG(size, network.edges)


@pytest.mark.parametrize("test", ["chi_square", "g"])
@pytest.mark.parametrize(("seed", "size"), every_network)
def test_algorithm_2_is_equivalent_to_the_truth(
    faithful_network, table_of, significance, seed, size, test
):
    truth = faithful_network(seed, size)
    table = table_of(truth, seed)
    for target in (node for node in truth.nodes if not truth.children(node)):
        others = [node for node in truth.nodes if node != target]
        learnt = learn_network(table, others, target, plan(exact_search, significance, test))
        assert learnt.parents(target) == sorted(truth.parents(target))
        assert learnt.children(target) == []
        assert equivalent(renamed(learnt, size), truth.dag)


@pytest.mark.parametrize(("seed", "size"), every_network)
def test_algorithm_1_is_equivalent_to_the_truth(
    faithful_network, table_of, significance, seed, size
):
    truth = faithful_network(seed, size)
    learnt = learn_network(
        table_of(truth, seed),
        truth.nodes[:-1],
        truth.nodes[-1],
        plan(exact_search, significance, no_child=False),
    )
    assert equivalent(renamed(learnt, size), truth.dag)


def test_hill_climbing_finds_the_truth_too_most_of_the_time(
    faithful_network, table_of, significance
):
    found = 0
    for seed, size in every_network:
        truth = faithful_network(seed, size)
        target = next(node for node in truth.nodes if not truth.children(node))
        others = [node for node in truth.nodes if node != target]
        search = partial(hill_climb, restarts=10)
        learnt = learn_network(table_of(truth, seed), others, target, plan(search, significance))
        assert learnt.parents(target) == sorted(truth.parents(target))
        found += equivalent(renamed(learnt, size), truth.dag)
    assert found >= 14  # of 16


@pytest.mark.parametrize(("seed", "size"), every_network)
def test_the_whole_of_algorithm_2_finds_the_leafs_parents(
    faithful_network, table_of, dependents_of, significance, seed, size
):
    """Selection, then learning: unrelated and screened-off nodes never become parents."""
    truth = faithful_network(seed, size)
    table = table_of(truth, seed)
    for target in (node for node in truth.nodes if not truth.children(node)):
        nodes = sorted(dependents_of(table, target, no_child=True))
        learnt = learn_network(table, nodes, target, plan(exact_search, significance))
        assert sorted(learnt.parents(target)) == sorted(truth.parents(target))


@pytest.mark.parametrize("no_child", [True, False])
def test_without_other_variables_the_target_stands_alone(
    faithful_network, table_of, significance, no_child
):
    truth = faithful_network(0, 5)
    learnt = learn_network(
        table_of(truth, 0), [], 2, plan(exact_search, significance, no_child=no_child)
    )
    assert learnt.nodes == [2]
    assert learnt.edges == []


def test_a_target_with_children_gets_its_whole_blanket_as_parents(
    faithful_network, table_of, significance
):
    """The paper's note after Theorem 3."""
    checked = 0
    for seed, size in every_network:
        truth = faithful_network(seed, size)
        table = table_of(truth, seed)
        for target in truth.nodes:
            others = [node for node in truth.nodes if node != target]
            learnt = learn_network(table, others, target, plan(exact_search, significance))
            assert sorted(learnt.parents(target)) == truth.markov_blanket(target)
            checked += bool(truth.children(target))
    assert checked > 20
