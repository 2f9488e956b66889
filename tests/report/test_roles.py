"""Which nodes only move along, which add nothing, and when the target's own features matter."""

from __future__ import annotations

import numpy as np
import pytest

from pgm_explainer import PGMExplainer, QueryError
from pgm_explainer.report.roles import roles_of
from pgm_explainer.report.text import summarise
from pgm_explainer.structure import DAG

TARGET, CAUSE, SIBLING, THIRD = 0, 1, 2, 3
EDGES = np.array([[CAUSE, CAUSE, SIBLING, THIRD], [TARGET, SIBLING, TARGET, TARGET]])


def common_cause(x):
    """The target and its sibling both follow the cause; node 3 follows its own feature."""
    score = 8 * x[..., 0] - 4
    score[:, TARGET] = score[:, SIBLING] = 8 * x[:, CAUSE, 0] - 4
    return np.stack([-score, score], axis=-1)


def explain(model, **options):
    chosen = {
        "num_layers": 1,
        "num_samples": 4000,
        "perturb_probability": 0.5,
        "perturbation": "zero",
        **options,
    }
    return PGMExplainer(model, np.ones((4, 1)), EDGES, **chosen).explain(TARGET)


def test_a_node_that_only_moves_along_is_told_from_a_cause():
    explanation = explain(common_cause)
    assert set(explanation.nodes) == {CAUSE, SIBLING}
    assert roles_of(explanation).together == (SIBLING,)
    said = summarise(explanation)
    assert f"Perturbing {SIBLING} makes next to no difference by itself: it changes toge" in said
    assert 'rank_by="influence"' in said


def test_by_influence_it_is_not_there():
    explanation = explain(common_cause, rank_by="influence")
    assert explanation.nodes == [CAUSE]
    assert roles_of(explanation).together == ()
    assert "rank_by" not in str(explanation)


def test_a_node_that_the_network_ties_to_nothing_adds_nothing():
    def first_into_last(data, cardinalities):
        return DAG(len(cardinalities), [(0, len(cardinalities) - 1)])

    explanation = explain(common_cause, structure=first_into_last, no_child=False)
    (tied,) = explanation.markov_blanket
    (loose,) = set(explanation.nodes) - {tied}
    assert roles_of(explanation).idle == (loose,)
    assert f"Taken alone, {loose} adds nothing in the network." in summarise(explanation)


def test_nothing_is_added_where_no_node_is_tied_at_all():
    explanation = explain(
        common_cause, structure=lambda data, sizes: DAG(len(sizes), []), no_child=False
    )
    assert set(roles_of(explanation).idle) == {CAUSE, SIBLING}
    assert "Taken alone" not in summarise(explanation)


def voting(own, cause, third):
    """The target is of class 1 with a majority of the votes, of which it and two others have some.

    Whose features are perturbed to 0 loses them.
    """

    def model(x):
        score = 8 * x[..., 0] - 4
        score[:, TARGET] = x[:, [TARGET, CAUSE, THIRD], 0] @ (own, cause, third)
        score[:, TARGET] -= (own + cause + third) / 2 + 0.5
        return np.stack([-score, score], axis=-1)

    return model


@pytest.mark.parametrize(
    ("votes", "nodes", "said"),
    [
        ((4, 2, 2), {CAUSE, THIRD}, "matters most"),
        ((2, 4, 2), {CAUSE, THIRD}, None),
        ((4, 0, 0), set(), "does matter"),
    ],
)
def test_the_targets_own_features_are_told_of_where_they_matter_most(votes, nodes, said):
    explanation = explain(voting(*votes), change="flip", perturb_probability=0.3)
    assert set(explanation.nodes) == nodes
    assert roles_of(explanation).own_features_first == (said is not None)
    sentence = f"Perturbing the target's own features {said}."
    assert summarise(explanation).endswith(sentence) == (said is not None)


def answer(explanation, node, word):
    try:
        return explanation.query({node: word})
    except QueryError:  # it cannot be said, or never happens
        return explanation.query()


@pytest.mark.parametrize("kind", ["node", "children", "levels", "graph", "edge", "values", "alone"])
def test_they_are_what_the_network_answers(kinds, kind):
    explanation = kinds[kind]
    roles, base = roles_of(explanation), explanation.query()

    def apart(node, *words):
        return abs(np.subtract(*(answer(explanation, node, word) for word in words)))

    for node in explanation.nodes:
        words = explanation.network.variable(node).words
        still = apart(node, "original", "perturbed") < 0.02
        along = explanation.task == "node" and apart(node, "kept", "changed") >= 0.02
        assert (node in roles.together) == (still and along)
        moves = [abs(answer(explanation, node, word) - base) for word in words]
        assert (node in roles.idle) == (max(moves) < 0.005)


def test_without_a_network_nothing_is_said(kinds):
    for kind in ("no network", "constant"):
        roles = roles_of(kinds[kind])
        assert (roles.together, roles.idle, roles.own_features_first) == ((), (), False)
