"""The inference of the page equals Python's to 1e-6, for any evidence."""

from __future__ import annotations

import numpy as np
import pytest

from pgm_explainer import QueryError

KINDS = ["node", "graph", "levels", "edge", "free", "smoothed", "markov", "dependency", "drawn"]
QUESTIONS = 30


def key_of(explanation, node):
    is_prediction = node == explanation.target and explanation.task != "node"
    return "target" if is_prediction else f"n{node}"


def random_evidence(explanation, rng):
    """Something about a random part of the variables: of either half, or of both."""
    evidence = {}
    for node in explanation.network.nodes:
        variable = explanation.network.variable(node)
        state = variable.states[rng.integers(variable.cardinality)].split(", ")
        said = [word for word in state if rng.random() < 0.35]
        if said:
            evidence[node] = said
    return evidence


@pytest.mark.parametrize("kind", KINDS)
def test_every_probability_is_that_of_the_network(read, explanations, kind):
    explanation = explanations[kind]
    network, rng = explanation.network, np.random.default_rng(0)
    reader, answered = read(explanation), 0
    for _ in range(QUESTIONS):
        evidence = random_evidence(explanation, rng)
        clicks = [(key_of(explanation, n), word) for n, said in evidence.items() for word in said]
        page = reader.state_all(clicks)
        try:
            expected = explanation.query(evidence)
        except QueryError:
            assert page["impossible"]
            continue
        answered += 1
        assert not page["impossible"]
        assert page["holds"] == pytest.approx(expected, abs=1e-6)
        shown = {(key, word): p for key, word, p in page["facts"]}
        for node in network.nodes:
            states, variable = network.query(node, evidence), network.variable(node)
            for word in variable.words:
                if word == "changed" and variable.levels > 2:
                    continue  # the sum of the levels, which has no separate bar
                displayed = shown[key_of(explanation, node), word]
                assert displayed == pytest.approx(states[variable.matching(word)].sum(), abs=1e-6)
    assert answered > QUESTIONS / 3


def test_the_title_and_the_legend_say_which_family_it_is(read, explanations):
    for kind, title, legend in (
        ("node", "Bayesian network", "Arrows"),
        ("markov", "Markov network", "Lines"),
        ("drawn", "Dependency network", "frequencies in 10,000 draws"),
    ):
        reader = read(explanations[kind])
        page = reader.page
        assert page.locator("#network-title").inner_text() == title
        assert legend in page.locator("#network-legend").inner_text()
        reader.open_details("tables")  # waits: a section is filled after the click
        assert page.locator("#tables table").count() > 0


def test_any_level_of_change_can_be_stated(read, explanations):
    explanation = explanations["levels"]
    reader = read(explanation)
    first = explanation.nodes[0]
    reader.node(key_of(explanation, first)).locator(".title").click()
    reader.page.get_by_role("radio", name="changed", exact=False).nth(0).check(force=True)
    assert reader.holds() == pytest.approx(explanation.query({first: "changed"}), abs=1e-6)
