"""What a notebook shows: everything, safely, in any theme."""

from __future__ import annotations

from xml.etree import ElementTree

from pgm_explainer.report.notebook import to_notebook_html

HARMLESS = {
    *("div", "p", "b", "ul", "li"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("svg", "g", "title", "path", "rect", "text"),
}
HOSTILE = "<script>alert('x')</script>&\"\n"


def parsed(explanation):
    """The HTML as a tree: that it can be read as one is part of the test."""
    return ElementTree.fromstring(to_notebook_html(explanation))


def test_every_kind_of_explanation_can_be_shown(kinds):
    for explanation in kinds.values():
        tree = parsed(explanation)
        assert {each.tag for each in tree.iter()} <= HARMLESS
        assert (tree.find(".//svg") is None) == (explanation.network is None)


def test_it_contains_the_text(kinds):
    explanation = kinds["node"]
    text = " ".join("".join(parsed(explanation).itertext()).split())
    assert "The model predicts class 2 for node 14, with a probability" in text
    for node in explanation.nodes:
        for known in ("original", "perturbed", "kept", "changed"):
            assert f"{explanation.query({node: known}):.1%}" in text
    assert f"kept {explanation.query():.0%}" in text


def test_names_are_shown_as_plain_text(explain):
    explanation = explain(class_names=["a", "b", "<img src=x onerror=alert(1)>"])
    named = explanation.named([f"{HOSTILE}{number}" for number in range(16)])
    tree = parsed(named)
    assert not list(tree.iter("script"))
    assert not list(tree.iter("img"))
    titles = [each.text for each in tree.iter("title")]
    assert "<script>alert('x')</script>&\"\\n14" in titles
    assert "predicts class <img src=x onerror=alert(1)> for" in "".join(tree.itertext())


def test_the_network_is_drawn_arrow_by_arrow(kinds):
    for kind in ("node", "children", "graph", "edge"):
        network = kinds[kind].network
        svg = parsed(kinds[kind]).find(".//svg")
        assert len(list(svg.iter("path"))) == 2 * len(network.edges)  # a line and a head each
        assert len(list(svg.iter("title"))) == len(network.nodes)


def test_colours_come_from_the_page(kinds):
    shown = to_notebook_html(kinds["node"])
    assert "currentColor" in shown
    assert "black" not in shown
    assert "white" not in shown


def test_it_is_small_and_used_by_notebooks(kinds):
    assert kinds["node"]._repr_html_() == to_notebook_html(kinds["node"])
    assert all(len(to_notebook_html(each)) < 20_000 for each in kinds.values())


def test_it_shows_effects_and_dependents(kinds):
    explanation = kinds["node"]
    effects, pairs, _ = parsed(explanation).iter("table")
    assert "What changes the prediction:" in "".join(effects.find("caption").itertext())
    rows = [["".join(cell.itertext()) for cell in row] for row in effects.find("tbody")]
    found = [each for each in explanation.effects if each.significant]
    assert [row[:2] for row in rows] == [
        [str(each.node), f"{100 * each.effect:+.1f}"] for each in found
    ]
    assert len(list(pairs.find("tbody"))) == len(explanation.effects.pairs) == 1
    text = " ".join("".join(parsed(explanation).itertext()).split())
    assert "What else depends on it: The prediction depends significantly on no other node" in text


def test_without_effects_there_is_only_text(kinds):
    tree = parsed(kinds["constant"])
    assert {each.tag for each in tree} == {"p"}
    assert "None of 9 nodes has a significant effect" in "".join(tree.itertext())
    assert "Warning: " in "".join(tree.itertext())


def test_effects_need_no_network(kinds):
    tree = parsed(kinds["no network"])
    assert tree.find(".//svg") is None
    assert len(list(tree.iter("table"))) == 2
