"""Every kind of parts is called by its own name, in text and tables."""

from __future__ import annotations

import re
from html import unescape

import pytest

from pgm_explainer import Explanation
from pgm_explainer.report.contents import as_texts, chances, effect_rows, effects_of
from pgm_explainer.report.effects import dependence_sentence, named_parts, plain
from pgm_explainer.report.notebook import to_notebook_html
from pgm_explainer.report.reason import reason_sentences
from pgm_explainer.report.terms import describe_terms
from pgm_explainer.report.wording import Wording, part_label, part_mention, wording_for, wording_of

LEADS = {
    "nodes": "Perturbing node 1 lowers",
    "edges": "Removing edge (1, 2) lowers",
    "rewired": "Rewiring edge (1, 2) lowers",
    "directed": "Removing edge (1, 2) lowers",
    "features": "Perturbing feature 0 lowers",
    "node features": "Perturbing feature 1 of node 2 lowers",
    "groups": "Perturbing group 'ring' lowers",
    "edge groups": "Removing group 'ring' lowers",
    "feature groups": "Perturbing group 'first' lowers",
    "time": "Perturbing step 0 lowers",
    "node time": "Perturbing step 1 of node 2 lowers",
    "mixed": "Removing edge (1, 2) lowers",
    "edges and features": "Removing edge (1, 2) lowers",
}
NOUNS = {
    "edges": "edge",
    "rewired": "edge",
    "features": "feature",
    "node features": "feature",
    "groups": "group",
    "edge groups": "group",
    "feature groups": "group",
    "time": "step",
    "node time": "step",
    "mixed": "part",
    "edges and features": "part",
}


@pytest.mark.parametrize("kind", LEADS)
def test_the_strongest_effect_has_the_right_noun_and_verb(parts, kind):
    explanation = parts[kind]
    strongest = explanation.effects[0].node
    (lead,) = effects_of(explanation, [strongest])
    assert lead.startswith(LEADS[kind])
    number = explanation.names.index(strongest)
    its = wording_for(explanation, number)
    name = part_mention(explanation, number, typed=True)
    assert f"{its.perturbing.capitalize()} {its.noun} {name} lowers" in lead
    reason = " ".join(as_texts(explanation, reason_sentences(explanation, "engineer")))
    assert f"{its.noun} {name} " in reason


@pytest.mark.parametrize(("kind", "noun"), NOUNS.items())
def test_tables_and_captions_name_the_kind(parts, kind, noun):
    explanation = parts[kind]
    assert wording_of(explanation.settings).noun == noun
    assert next(iter(effect_rows(explanation)))[0] == noun
    assert next(iter(chances(explanation)))[0] == noun
    count = len(explanation.effects)
    assert re.search(rf"of {count} {noun}s (has|have) a", " ".join(str(explanation).split()))


@pytest.mark.parametrize("kind", [kind for kind in NOUNS if kind != "mixed"])
def test_what_is_no_node_is_never_called_one(parts, kind):
    """Only the target is a node, and what has parts of its own, such as time steps."""
    explanation = parts[kind]
    terms = describe_terms(explanation.settings)
    for text in (str(explanation), unescape(to_notebook_html(explanation))):
        line = " ".join(text.split()).replace(terms, "").replace("of all nodes", "")
        assert terms in " ".join(text.split())
        assert not re.search(r"\bnodes?\b", re.sub(r"node \d+", "", line), re.IGNORECASE)


def test_parts_of_a_mix_have_their_own_nouns(parts):
    mixed = parts["mixed"]
    edge = next(iter(mixed.part_labels))
    said = plain(named_parts(mixed, [1, edge]), lambda number: f"<{number}>")
    assert said == f"node <1> and edge <{edge}>"
    assert wording_for(mixed, 1).perturbing == "perturbing"
    assert wording_for(mixed, edge).perturbing == "removing"
    both = parts["edges and features"]
    nouns = {wording_for(both, number).noun for number in both.part_labels}
    assert nouns == {"edge", "feature"}


def test_several_parts_of_one_kind_share_their_noun(parts):
    edges = parts["edges"]
    first, second = sorted(edges.part_labels)[:2]
    (said,) = as_texts(edges, [named_parts(edges, [first, second])])
    assert said == f"edges {edges.part_labels[first]} and {edges.part_labels[second]}"
    time = parts["node time"]
    first, second = sorted(time.part_labels)[:2]
    (said,) = as_texts(time, [named_parts(time, [first, second])])
    assert said == "step 0 of node 0 and step 1 of node 0"


LABELS = {
    "nodes": (1, "1", "1", "1"),
    "edges": ((1, 2), "1 – 2", "(1, 2)", "1 – 2"),
    "directed": ((1, 2), "1 → 2", "(1, 2)", "1 → 2"),
    "features": ("feature 0", "feature 0", "0", "0"),
    "groups": ("ring", "ring", "'ring'", "ring"),
    "node time": ((2, "step 1"), "node 2, step 1", "1 of node 2", "1 of node 2"),
}


@pytest.mark.parametrize(("kind", "expected"), LABELS.items())
def test_a_part_has_a_label_for_pictures_and_a_name_for_sentences(parts, kind, expected):
    explanation = parts[kind]
    label, *names = expected
    number = explanation.names.index(label)
    assert names == [
        part_label(explanation, number),
        part_mention(explanation, number, typed=True),
        part_mention(explanation, number),
    ]


def test_named_nodes_appear_in_the_names_of_their_edges(parts):
    named = parts["edges"].named([f"n{node}" for node in range(12)])
    assert "Removing edge ('n1', 'n2') lowers" in " ".join(str(named).split())
    assert part_label(named, named.names.index(("n1", "n2"))) == "n1 – n2"
    cells = parts["node time"].named([f"n{node}" for node in range(12)])
    assert "Replacing the data of step 1 of node n2 lowers" in " ".join(str(cells).split())


@pytest.mark.parametrize("kind", LEADS)
def test_a_loaded_explanation_reads_the_same(parts, kind, tmp_path):
    explanation = parts[kind]
    explanation.save(tmp_path / "saved.json")
    loaded = Explanation.load(tmp_path / "saved.json")
    assert str(loaded) == str(explanation)
    assert loaded.part_members == explanation.part_members
    assert loaded.has_directed_edges == explanation.has_directed_edges == (kind == "directed")


def test_dependence_without_effect_says_that_edges_have_no_prediction(parts):
    """An edge cannot change together with the prediction, as it has none of its own."""
    for kind, explanation in parts.items():
        said = plain(dependence_sentence(explanation), str)
        assert ("together" in said) <= (kind == "nodes")


MEANINGS = {
    "edges": "Each edge is perturbed with probability 0.25: it is removed.",
    "rewired": "it gets the source of another edge, drawn at random.",
    "features": "Each feature is perturbed with probability 0.25: its values in all nodes are",
    "node features": "Each feature of each chosen node is perturbed",
    "groups": "Each group is perturbed with probability 0.25: the features of its nodes are",
    "edge groups": "Each group is perturbed with probability 0.25: its edges are removed.",
    "feature groups": "its features of all nodes are replaced",
    "time": "the features of all nodes in it are replaced",
    "node time": "Each step of each node is perturbed",
    "mixed": "Each edge is perturbed with the same probability: it is removed.",
}


@pytest.mark.parametrize(("kind", "meaning"), MEANINGS.items())
def test_the_text_defines_what_perturbing_a_part_does(parts, kind, meaning):
    assert meaning in " ".join(str(parts[kind]).split())


def test_one_and_many():
    assert Wording("step").counted(1) == "1 step"
    assert Wording("step").counted(0) == "0 steps"


def test_removed_edges_make_a_class_more_likely_not_data(parts):
    said = parts["edges"].reason()
    assert re.search(r"(this edge makes|these edges make) class \d (more|less) likely", said)
    assert "original data makes" not in said
    assert "feature 0 of all nodes" in parts["features"].reason()
