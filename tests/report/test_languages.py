"""A whole report in another language, from templates alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from pgm_explainer import InputError, MinimalSet
from pgm_explainer.report.document import _report
from pgm_explainer.report.template_texts import AUDIENCES

GERMAN = json.loads((Path(__file__).parent / "german.json").read_text(encoding="utf-8"))
NAMES_ONLY = {"effects", "feature_effects", "part", "counted", "in_node", "column_p"}
"""Templates that consist of fields, or are the same in both languages."""


def words_in(text: str) -> set[str]:
    return {each.lower() for each in re.findall(r"[^\W\d_]{2,}", text)}


ENGLISH = words_in(
    " ".join(re.sub(r"\{\w+\}", " ", each) for each in AUDIENCES["manager"].values())
)
FOREIGN = words_in(" ".join(re.sub(r"\{\w+\}", " ", each) for each in GERMAN.values()))
ONLY_ENGLISH = ENGLISH - FOREIGN


def test_every_template_is_translated():
    assert set(GERMAN) | NAMES_ONLY == set(AUDIENCES["manager"])
    assert {"node", "removing", "predicted", "probability", "range"} <= ONLY_ENGLISH


def test_no_english_word_is_left_in_any_kind_of_report(kinds, parts):
    assert len(kinds) + len(parts) > 15
    for kind, explanation in {**kinds, **parts}.items():
        report = _report(replace(explanation, warnings=()), "manager", GERMAN)
        texts = [report.title, *report.reason, *report.headings, report.caption, *report.columns]
        texts += [cell for row in report.rows for cell in row.cells]
        texts += [text for pair in report.tried for text in pair]
        left = words_in(" ".join(texts)) & ONLY_ENGLISH
        assert not left, (kind, left, texts)
        assert not re.search(r"\d\.\d(?!\d\d)", " ".join(texts)), "a decimal point"


def test_titles_nouns_and_numbers_can_be_replaced(kinds, parts, tmp_path):
    path = kinds["node"].report(tmp_path / "warum.html", templates=GERMAN)
    page = path.read_text(encoding="utf-8")
    assert '<html lang="de">' in page
    (title,) = re.findall("<h1>(.*?)</h1>", page)
    assert re.fullmatch(r"Warum Klasse \d für Knoten 14\?", unescape(title))
    assert re.search(r"um \d+,\d Prozentpunkte", page)
    removed = parts["edges"].reason(templates=GERMAN)
    assert "Entfernen von Kante" in removed
    assert "Kanten" in removed
    own = {"title": "Fall {target}", "noun_node": "account", "nouns_node": "accounts"}
    said = kinds["node"].report(tmp_path / "why.md", templates=own).read_text()
    assert said.startswith("# Fall account 14\n")
    assert "node" not in said


def test_pictures_are_translated_too(kinds, monkeypatch, tmp_path):
    pytest.importorskip("docx")
    from pgm_explainer.report.plots import document

    drawn: list[str] = []
    translate = document._translate

    def translated(axes, words):
        translate(axes, words)
        legend = axes.get_legend()
        drawn.extend(each.get_text() for each in legend.get_texts())
        drawn.append(axes.get_title())
        drawn.extend(each.get_text() for each in axes.get_yticklabels())

    monkeypatch.setattr(document, "_translate", translated)
    for ending in (".pdf", ".docx"):
        kinds["node"].report(tmp_path / f"warum{ending}", templates=GERMAN)
    assert "Ziel" in drawn
    assert any("(Ziel)" in each for each in drawn)
    assert not words_in(" ".join(drawn)) & (ONLY_ENGLISH | {"target", "interval", "significant"})


def test_the_page_has_the_title_and_the_reason_of_the_templates(kinds, parts, tmp_path):
    for explanation in (kinds["node"], kinds["value"], parts["edges"], parts["node time"]):
        page = explanation.to_html(templates=GERMAN)
        data = re.search('<script id="data" type="application/json">(.*?)</script>', page, re.S)
        (only,) = json.loads(data[1])["explanations"]
        said = " ".join(
            "".join(each if isinstance(each, str) else each[1] for each in sentence)
            for sentence in only["lead"]
        )
        assert said == explanation.reason(templates=GERMAN)
        assert only["headline"] == _report(explanation, "manager", GERMAN).title
        assert '<h1 id="headline" lang="de">' in page
        assert '<div id="lead" lang="de">' in page
    path = kinds["node"].to_html(tmp_path / "why.html", "engineer")
    assert "interval" in path.read_text()
    assert 'id="headline" lang="en"' in path.read_text()
    with pytest.raises(InputError, match="no template 'titel'"):
        kinds["node"].to_html(templates={"titel": ""})
    with pytest.raises(InputError, match="unknown audience"):
        kinds["node"].to_html(audience="child")


def test_a_noun_replaces_node_in_every_sentence(kinds, parts):
    own = {"noun_node": "atom", "nouns_node": "atoms", "all_nodes": "all atoms"}
    for kind, explanation in {**kinds, **parts}.items():
        bare = replace(explanation, warnings=())
        assert not re.search(r"\bnodes?\b", bare.reason(templates=own)), kind


def test_values_of_a_smallest_change_have_the_marks_of_the_templates(kinds):
    explanation = kinds["node"]
    part = explanation.effects.parts[0]
    change = MinimalSet(
        "counterfactual", (part,), 0.8, 0.7, 0.9, 10, 5, ("v1.2 1,687 → 0.43, sum 2.5e+12 → -3.1",)
    )
    said = explanation.reason(templates=GERMAN, counterfactual=change)
    assert "v1.2 1.687 → 0,43, sum 2,5e+12 → -3,1" in said
    assert "v1.2 1,687 → 0.43, sum 2.5e+12 → -3.1" in explanation.reason(counterfactual=change)
