"""Which nodes of a network add nothing to it."""

from __future__ import annotations

import numpy as np
import pytest

from pgm_explainer import PGMExplainer, QueryError
from pgm_explainer.report.facts import idle_nodes
from pgm_explainer.structure import DAG

TARGET, CAUSE, SIBLING, THIRD = 0, 1, 2, 3
EDGES = np.array([[CAUSE, CAUSE, SIBLING, THIRD], [TARGET, SIBLING, TARGET, TARGET]])


def common_cause(x):
    """The target and its sibling both follow the cause; node 3 follows its own feature."""
    score = 8 * x[..., 0] - 4
    score[:, TARGET] = score[:, SIBLING] = 8 * x[:, CAUSE, 0] - 4
    return np.stack([-score, score], axis=-1)


def explain(**options):
    chosen = {"num_layers": 1, "num_samples": 4000, "perturb_probability": 0.5, **options}
    explainer = PGMExplainer(common_cause, np.ones((4, 1)), EDGES, perturbation="zero", **chosen)
    return explainer.explain(TARGET)


def test_an_isolated_node_adds_nothing():
    def first_into_last(data, cardinalities):
        return DAG(len(cardinalities), [(0, len(cardinalities) - 1)])

    explanation = explain(structure=first_into_last, no_child=False)
    (tied,) = explanation.markov_blanket
    (loose,) = set(explanation.nodes) - {tied}
    assert idle_nodes(explanation) == [loose]
    assert f"Evidence about {loose} alone does not change the probability" in " ".join(
        str(explanation).split()
    )


def test_no_statement_if_all_nodes_are_isolated():
    explanation = explain(structure=lambda data, sizes: DAG(len(sizes), []), no_child=False)
    assert set(idle_nodes(explanation)) == {CAUSE, SIBLING}
    words = " ".join(str(explanation).split())
    assert "In it, the prediction depends on none of them." in words
    assert "alone does not change" not in words


def answer(explanation, node, word):
    try:
        return explanation.query({node: word})
    except QueryError:  # invalid evidence, or evidence of probability 0
        return explanation.query()


@pytest.mark.parametrize("kind", ["node", "children", "levels", "graph", "edge", "values", "alone"])
def test_idle_nodes_change_no_probability(kinds, kind):
    explanation = kinds[kind]
    base, idle = explanation.query(), idle_nodes(explanation)
    for node in explanation.nodes:
        words = explanation.network.variable(node).words
        moves = [abs(answer(explanation, node, word) - base) for word in words]
        assert (node in idle) == (max(moves) < 0.005)


@pytest.mark.parametrize("kind", ["no network", "constant"])
def test_without_a_network_there_are_none(kinds, kind):
    assert idle_nodes(kinds[kind]) == []
