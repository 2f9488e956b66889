"""The page as a file: what it shows, what it may do, how large it is."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from pgm_explainer import Explanation, FileError, InputError, PGMExplainer, to_html
from pgm_explainer.report.colours import CLASSES
from pgm_explainer.report.html.payload import page_payload
from pgm_explainer.report.names import printable

LARGEST = 500_000
EVIL = "</script><script>alert(1)</script><!-- ]]> \u2028 \ud800"


COLOURS = ["red", "green", "blue"]


@pytest.fixture(scope="module")
def explanation(kinds):
    return kinds["node"]


def with_classes(explanation, names):
    settings = explanation.settings
    model = replace(settings.model, class_names=names)
    return replace(explanation, settings=replace(settings, model=model))


class Parts(HTMLParser):
    """The inline texts of a page, by their element, and its policy."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.policy, self.inside = [], "", None
        self.inline_attributes = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"]
        if tag in ("script", "style"):
            self.inside = (tag, named.get("type"))
            self.texts.append([*self.inside, ""])
        self.inline_attributes += [n for n in named if n == "style" or n.startswith("on")]

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if self.inside:
            self.texts[-1][2] += text


def test_the_policy_allows_this_style_and_this_script_and_nothing_else(explanation):
    parts = Parts(to_html(explanation))
    rules = dict(rule.split(" ", 1) for rule in parts.policy.split("; "))
    assert rules["default-src"] == "'none'"
    for tag, kind, text in parts.texts:
        if kind is None:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert rules[f"{tag}-src"] == f"'sha256-{digest}'"
    assert [(tag, kind) for tag, kind, _ in parts.texts] == [
        ("style", None),
        ("script", "application/json"),
        ("script", None),
    ]
    assert parts.inline_attributes == []
    assert "unsafe" not in parts.policy


def test_the_script_turns_no_text_into_markup(explanation):
    script = Parts(to_html(explanation)).texts[-1][2]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)
    assert not re.search(r"fetch\(|XMLHttpRequest|WebSocket|import\(|localStorage", script)


def test_names_cannot_leave_the_data_block(explanation):
    names = [f"{EVIL} {at}" for at in range(16)]
    parts = Parts(to_html(with_classes(explanation, [EVIL] * 3).named(names)))
    assert len(parts.texts) == 3
    shown = json.loads(parts.texts[1][2])["explanations"][0]
    assert shown["target"] == printable(names[14])
    assert shown["class"] == printable(EVIL)


def test_a_page_is_written_or_returned(explanation, tmp_path):
    path = tmp_path / "why.html"
    assert explanation.to_html(str(path)) == to_html(explanation, path) == path
    assert path.read_text(encoding="utf-8") == explanation.to_html()
    assert explanation.to_html() == to_html([explanation])
    assert path.stat().st_size < LARGEST


def test_a_page_of_thousands_of_candidates_is_small_too():
    size = 3000
    edges = np.random.default_rng(0).integers(0, size, (2, 4 * size))
    x = np.random.default_rng(1).random((size, 1))

    def model(x):
        score = 20 * (x[:, :9].mean(axis=1) - 0.5)
        return np.concatenate([-score, score], axis=-1)

    options = {"task": "graph", "max_nodes": 9, "num_samples": 400}
    page = PGMExplainer(model, x, edges, **options).explain().to_html()
    assert len(page.encode()) < LARGEST


def test_a_page_of_large_tables_is_small_too(toy):
    options = {"num_layers": 2, "max_nodes": 7, "only_significant": False, "no_child": False}
    explainer = PGMExplainer(toy.whole, toy.x, toy.edge_index, score="log_likelihood", **options)
    explanation = explainer.explain(14)
    assert explanation.network.cpt(explanation.network.nodes[-1]).values.size > 10_000
    assert len(explanation.to_html()) < LARGEST


def test_an_object_that_cannot_be_shown_is_named(explanation, tmp_path):
    with pytest.raises(InputError, match="list is empty"):
        to_html([])
    with pytest.raises(InputError, match="not 7"):
        to_html([explanation, 7])
    with pytest.raises(FileError, match="cannot be written"):
        explanation.to_html(tmp_path / "nowhere" / "why.html")


def test_the_page_has_all_that_was_found(explanation):
    payload = page_payload([with_classes(explanation, COLOURS)])
    shown = payload["explanations"][0]
    assert shown["headline"] == "Node 14 is predicted to be of class blue"
    assert shown["answer"] == [
        [name, pytest.approx(score, rel=1e-5)]
        for name, score in zip(COLOURS, explanation.values, strict=True)
    ]
    assert [row[1] for row in shown["ranking"]["rows"]] == [
        str(r.node) for r in explanation.ranking
    ]
    for variable, node in zip(
        shown["network"]["variables"], explanation.network.nodes, strict=True
    ):
        table = explanation.network.cpt(node)
        assert variable["name"] == str(node)
        if "noisyOr" in variable:
            holds = [1 - chance for chance in table.chances]
            for shown_holds, expected in zip(variable["noisyOr"]["holds"], holds, strict=True):
                np.testing.assert_allclose(shown_holds, expected, atol=1e-11)
            continue
        values = np.full((table.values.size // 4, 4), 1 / 4)
        seen = np.zeros(len(values))
        for at, samples, *row in variable["rows"]:
            values[at], seen[at] = row, samples
        np.testing.assert_allclose(values, table.values.reshape(-1, 4), atol=1e-11)
        np.testing.assert_array_equal(seen, table.counts.sum(axis=-1).ravel())
    setup = payload["setups"][shown["setup"]]
    assert setup["settings"]["seed"] == "0"
    assert setup["settings"]["class_names"] == "red, green, blue"
    assert setup["versions"]["numpy"] == np.__version__


def test_sentences_equal_those_of_the_text_with_node_keys(kinds):
    for explanation in kinds.values():
        payload = page_payload([explanation])["explanations"][0]
        words = " ".join(str(explanation).split())
        along = payload["effects"]["along"]
        plain = "".join(part if isinstance(part, str) else part[1] for part in along)
        assert f"What else depends on it: {plain}" in words
        assert payload["effects"]["caption"] in words
        for key, name in (
            part for part in sum(payload["lead"], along) if not isinstance(part, str)
        ):
            assert key == f"n{name}"


def test_bars_are_the_significant_effects_and_the_targets_own(kinds):
    for explanation in kinds.values():
        effects = page_payload([explanation])["explanations"][0]["effects"]
        found = [each for each in explanation.effects if each.significant]
        bars = {bar["key"]: bar for bar in effects["bars"]}
        ends = {f"n{end}" for end in explanation.ends.tolist()}
        assert list(bars)[: len(found)] == [f"n{each.node}" for each in found[:12]]
        assert set(bars) == {f"n{each.node}" for each in found[:12]} | ends
        assert {key for key, bar in bars.items() if bar["target"]} == ends
        for each in found[:12]:
            numbers = bars[f"n{each.node}"]["numbers"]
            assert numbers == pytest.approx([each.effect, each.low, each.high], rel=1e-5)
        assert len(effects["rows"]) == len(explanation.effects)


def test_an_explanation_from_a_file_gives_the_same_page(explanation, tmp_path):
    explanation.save(tmp_path / "why.json")
    assert Explanation.load(tmp_path / "why.json").to_html() == explanation.to_html()


def test_shared_data_is_stored_once(explanation):
    payload = page_payload([explanation] * 3)
    assert len(payload["explanations"]) == 3
    assert len(payload["setups"]) == len(payload["kinds"]) == 1


def test_nodes_have_the_classes_and_colours_of_the_plots(explanation):
    picture = page_payload([with_classes(explanation, COLOURS)])["explanations"][0]["picture"]
    present = sorted(set(explanation.node_classes.tolist()))
    assert [each["name"] for each in picture["classes"]] == [COLOURS[each] for each in present]
    assert [each["colour"] for each in picture["classes"]] == [CLASSES[each] for each in present]
    around = dict(zip(explanation.around.tolist(), explanation.node_classes, strict=True))
    for node in picture["nodes"]:
        assert present[node["class"]] == around[int(node["name"])]


@pytest.mark.parametrize("kind", ["graph", "edge", "values"])
def test_nodes_without_a_class_have_none(kinds, kind):
    picture = page_payload([kinds[kind]])["explanations"][0]["picture"]
    assert picture["classes"] == []
    assert {node["class"] for node in picture["nodes"]} == {None}


def test_a_class_other_than_the_predicted_one_is_stated(kinds):
    headline = page_payload([kinds["other class"]])["explanations"][0]["headline"]
    assert headline == "Node 14 could be of class 1, but is predicted to be of class 2"


def test_a_regression_shows_its_value(kinds):
    found = kinds["value"]
    shown = page_payload([found])["explanations"][0]
    assert shown["headline"] == f"Node 14 has the value {found.values[0]:.4g} of output 2"
    assert shown["class"] is shown["probability"] is None
    assert shown["answer"][0][0] == "value 2"


def test_a_node_that_stands_alone_has_a_page_too(kinds):
    shown = page_payload([kinds["alone"]])["explanations"][0]
    assert [node["name"] for node in shown["picture"]["nodes"]] == ["15"]
    assert shown["picture"]["edges"] == []
    assert shown["found"] == 0


def test_nodes_of_several_kinds_are_named_as_people_write_them(explanation):
    names = [("author", at) for at in range(16)]
    shown = page_payload([explanation.named(names)])["explanations"][0]
    assert shown["target"] == "author 14"
    assert {each["name"] for each in shown["picture"]["nodes"]} <= {
        f"author {n}" for n in range(16)
    }


def test_the_page_needs_numpy_and_scipy_only():
    code = "import sys, pgm_explainer.report.html.payload; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"networkx", "matplotlib", "torch", "pandas"} & set(loaded)


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({"class_names": ["price", "area"]}, ["price", "area"]),
        ({"class_names": ["price", "area"], "output": 1}, ["area"]),
        ({"output": 1}, ["value 1"]),
        ({}, ["value 0", "value 1"]),
    ],
)
def test_the_page_labels_values_as_the_text_does(on_a_path, options, labels):
    explanation = on_a_path(scores="values", **options).explain(0)
    payload = page_payload([explanation])["explanations"][0]
    assert [label for label, _ in payload["answer"]] == labels
