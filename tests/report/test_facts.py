"""The informative facts are those that an exhaustive search of the network finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pgm_explainer import PGMExplainer, QueryError
from pgm_explainer.report.facts import informative_facts, own_chance

WITH_NETWORK = ["node", "children", "levels", "graph", "edge", "alone"]
ENOUGH, WORTH = 20, 0.01


def everything_known(explanation):
    """Every single fact and pair of facts: its evidence, what follows, and how likely it is."""
    network = explanation.network
    atoms = [
        (node, word)
        for node in network.nodes
        for word in network.variable(node).words
        if node != explanation.target or word in ("original", "perturbed")
    ]
    found = {}
    for known in [*((atom,) for atom in atoms), *combinations(atoms, 2)]:
        evidence = {}
        for node, word in known:
            evidence[node] = [*evidence.get(node, []), word]
        try:
            found[known] = explanation.query(evidence), network.probability(evidence)
        except QueryError:  # it contradicts itself, or never happens
            continue
    return found


def best_by_hand(explanation, found, most, size):
    base = explanation.query()
    best = []
    for sign in (1, -1):
        per_nodes = {}
        for known, (holds, likelihood) in found.items():
            move = sign * (holds - base)
            alone = [sign * (found[(said,)][0] - base) for said in known] if size == 2 else []
            enough = likelihood * explanation.settings.sampling.num_samples >= ENOUGH
            if len(known) == size and enough and move - max([0, *alone]) >= WORTH:
                nodes = frozenset(node for node, _ in known)
                per_nodes[nodes] = max(per_nodes.get(nodes, 0), move)
        best += [base + sign * move for move in sorted(per_nodes.values(), reverse=True)[:most]]
    return best


@pytest.mark.parametrize("kind", WITH_NETWORK)
def test_they_are_the_best_of_all_facts_and_pairs(kinds, kind):
    explanation = kinds[kind]
    found = everything_known(explanation)
    for most in (1, 2, 5):
        facts = informative_facts(explanation, most)
        for size in (1, 2):
            of_size = [fact.holds for fact in facts if len(fact.known) == size]
            assert of_size == pytest.approx(best_by_hand(explanation, found, most, size), abs=1e-9)


@pytest.mark.parametrize("kind", WITH_NETWORK)
def test_facts_have_the_probabilities_of_the_network(kinds, kind):
    explanation = kinds[kind]
    facts = informative_facts(explanation)
    assert facts
    for fact in facts:
        assert fact.holds == pytest.approx(explanation.query(fact.evidence), abs=1e-12)
        likelihood = explanation.network.probability(fact.evidence)
        assert fact.likelihood == pytest.approx(likelihood, abs=1e-12)


def test_two_facts_may_be_informative_only_together():
    """The prediction holds if both or neither of two nodes are perturbed: an exclusive or."""
    edges = np.array([[1, 2], [0, 0]])

    def model(x):
        score = np.zeros((*x.shape[:2], 2))
        score[:, 0, 0] = 8 * (x[:, 1, 0] == x[:, 2, 0])
        return score

    options = {"num_layers": 1, "perturbation": "zero", "perturb_probability": 0.5}
    chosen = {**options, "only_significant": False, "num_samples": 2000, "target_table": "full"}
    ones = np.ones((3, 1))
    explanation = PGMExplainer(model, ones, edges, **chosen).explain(0)
    facts = informative_facts(explanation, 1)
    assert [len(fact.known) for fact in facts][-2:] == [2, 2]
    raises, lowers = facts[-2:]
    assert (raises.holds, lowers.holds) == (1, 0)
    assert set(raises.evidence) == set(lowers.evidence) == {1, 2}
    assert len(set(raises.evidence.values())) == 1
    assert len(set(lowers.evidence.values())) == 2


@pytest.mark.parametrize("kind", ["constant", "no network"])
def test_without_a_network_there_are_none(kinds, kind):
    assert informative_facts(kinds[kind]) == []


def test_facts_with_few_samples_are_left_out(explain):
    few = explain(num_samples=20)
    assert all(fact.likelihood == 1 for fact in informative_facts(few))


def test_the_probability_that_a_variable_is_kept(kinds):
    node, graph = kinds["node"], kinds["graph"]
    assert own_chance(node, 14) == (node.query(), "kept")
    first = node.nodes[0]
    expected = node.network.query(first)[node.network.variable(first).matching("kept")].sum()
    assert own_chance(node, first) == (pytest.approx(expected), "kept")
    assert own_chance(graph, graph.nodes[0])[1] == "original"
