"""A report says the same in every format."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from pgm_explainer import FileError, InputError, PGMExplainer
from pgm_explainer.effects.table import EFFECT_COLUMNS

docx = pytest.importorskip("docx")

HOSTILE = "<script>|`*_[x](y)\x00"


def said(path) -> str:
    """The text of a report, without markup."""
    if path.suffix == ".docx":
        document = docx.Document(path)
        cells = [c.text for table in document.tables for row in table.rows for c in row.cells]
        return " ".join([*(each.text for each in document.paragraphs), *cells])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return unescape(re.sub(r"<[^>]+>", " ", text.partition("<body>")[2]))
    return re.sub(r"\\(.)", r"\1", text)


@pytest.mark.parametrize("ending", [".md", ".html", ".docx"])
@pytest.mark.parametrize("audience", ["manager", "engineer"])
def test_it_has_the_reason_the_effects_and_what_was_tried(kinds, parts, ending, audience, tmp_path):
    every = (*kinds.values(), *parts.values())
    for number, explanation in enumerate(every[::5] if ending == ".docx" else every):
        path = tmp_path / f"{number}{ending}"
        assert explanation.report(path, audience) == path
        text = " ".join(said(path).split())
        assert " ".join(explanation.reason(audience).split()) in text
        samples = explanation.settings.sampling.num_samples
        assert f"{samples:,}" in text
        for warning in explanation.warnings:
            assert warning[1:] in text
        if audience == "engineer":
            assert explanation.versions["numpy"] in text
        scale = 1 if explanation.explained_class is None else 100
        for each in list(explanation.effects)[:3]:
            if each.significant and scale == 100 and abs(each.effect) >= 0.001:
                shown = f"{scale * each.effect:+.1f}".replace("-", "−")
                assert shown in text


def test_a_managers_report_has_no_jargon(kinds, tmp_path):
    for ending in (".md", ".html", ".docx"):
        kinds["node"].report(tmp_path / f"why{ending}")
        assert not re.search("perturb|significan|p-value", said(tmp_path / f"why{ending}"))


def test_a_pdf_has_one_page_whatever_the_explanation(kinds, parts, tmp_path):
    shown = [kinds[each] for each in ("node", "graph", "edge", "constant", "values")]
    shown += [parts[each] for each in ("edges", "node time", "mixed")]
    for number, explanation in enumerate(shown):
        for audience in ("manager", "engineer"):
            path = explanation.report(tmp_path / f"{number}.pdf", audience)
            data = path.read_bytes()
            assert data.startswith(b"%PDF")
            assert len(re.findall(rb"/Type /Page\b", data)) == 1
    again = shown[0].report(tmp_path / "again.pdf", "manager").read_bytes()
    assert again == shown[0].report(tmp_path / "once more.pdf", "manager").read_bytes()


def test_a_word_document_has_a_picture(kinds, tmp_path):
    path = kinds["node"].report(tmp_path / "why.docx")
    names = zipfile.ZipFile(io.BytesIO(path.read_bytes())).namelist()
    assert any(name.endswith(".png") for name in names)


def test_names_are_shown_as_plain_text(kinds, tmp_path):
    named = kinds["node"].named({14: HOSTILE, 8: f"{HOSTILE} 8"})
    for ending in (".md", ".html", ".docx", ".pdf"):
        named.report(tmp_path / f"why{ending}")
    page = (tmp_path / "why.html").read_text()
    assert "<script" not in page
    assert "default-src 'none'" in page
    table = [line for line in (tmp_path / "why.md").read_text().splitlines() if line[:1] == "|"]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {6}


@pytest.mark.parametrize("path", ["why.txt", "why", "why.json", "why.doc"])
def test_another_extension_is_refused(kinds, path, tmp_path):
    with pytest.raises(InputError, match=r"must be one of \.md, \.html, \.docx, \.pdf"):
        kinds["node"].report(tmp_path / path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_leaves_nothing(kinds, tmp_path):
    with pytest.raises(FileError, match="cannot be written"):
        kinds["node"].report(tmp_path / "missing" / "why.md")
    with pytest.raises(InputError, match="no field"):
        kinds["node"].report(tmp_path / "why.md", templates={"caption": "{x}"})
    assert not list(tmp_path.iterdir())


def test_its_headings_can_be_replaced(kinds, tmp_path):
    own = {"heading_effects": "Was zählt", "cell_for": "dafür", "row_samples": "Kopien"}
    text = kinds["node"].report(tmp_path / "why.md", templates=own).read_text()
    assert "## Was zählt" in text
    assert "| dafür |" in text
    assert "- Kopien: 800" in text


def test_what_does_not_fit_on_a_page_is_not_lost(kinds, tmp_path):
    warned = replace(kinds["node"], warnings=tuple(f"{'word ' * 90}{at}" for at in range(12)))
    data = warned.report(tmp_path / "why.pdf", "engineer").read_bytes()
    assert len(re.findall(rb"/Type /Page\b", data)) > 1


def test_the_direction_of_values_is_told_without_evidence(kinds, tmp_path):
    for kind, words in (
        ("value", ("lowers it", "raises it")),
        ("values", ("closer to the", "away")),
    ):
        text = kinds[kind].report(tmp_path / "why.md").read_text()
        assert "| direction |" in text
        assert all(word in text for word in words)
        assert "likely" not in text


def test_names_of_any_length_fit_into_every_format(kinds, tmp_path):
    long = kinds["node"].named({node: f"{'a' * 20_000}{node}" for node in range(100)})
    for ending in (".md", ".html", ".docx", ".pdf"):
        long.report(tmp_path / f"why{ending}")
    assert len(docx.Document(tmp_path / "why.docx").core_properties.title) == 255
    pages = re.findall(rb"/Type /Page\b", (tmp_path / "why.pdf").read_bytes())
    assert 1 <= len(pages) <= 6, "hundreds of lines take many seconds"


def test_an_address_in_a_name_is_no_link(kinds, tmp_path):
    for name in ("https://example.org", "www.example.org", "me@example.org", "&lt;b&gt;"):
        kinds["node"].named({node: f"{name}/{node}" for node in range(100)}).report(
            tmp_path / "why.md"
        )
        written = (tmp_path / "why.md").read_text()
        assert name not in written
        assert name in said(tmp_path / "why.md")


def test_every_part_that_the_sentences_name_has_a_row(kinds, tmp_path):
    """Rows are the strongest parts, and the sentences name those with the largest effects."""
    explanation = kinds["graph"]
    effects = explanation.effects
    weakest_first = np.argsort(abs(effects.effect))
    columns = {name: getattr(effects, name)[weakest_first] for name in EFFECT_COLUMNS}
    reordered = replace(explanation, effects=replace(effects, **columns, pairs=()))
    text = reordered.report(tmp_path / "why.md").read_text()
    sentences, table = text.split("| ---", 1)
    named = set(re.findall(r"node (\d+)", sentences))
    assert named
    assert named <= set(re.findall(r"^\| (?:node )?(\d+)", table, re.MULTILINE)), table


def test_the_largest_effects_are_listed_in_order(kinds, tmp_path):
    explanation = kinds["node"]
    effects = explanation.effects
    text = explanation.report(tmp_path / "why.md").read_text()
    rows = re.findall(r"^\| (\S+).*? \| ([+−]?[\d.]+) \|", text.replace("\\", ""), re.MULTILINE)
    sizes = [abs(float(size.replace("−", "-"))) for _, size in rows]
    largest = 100 * np.sort(abs(effects.effect[effects.significant]))[::-1]
    expected = min(len(largest), 5)
    assert sizes[:expected] == [round(each, 1) for each in largest[:expected]]


def test_features_that_the_reason_names_have_rows_and_bars(tmp_path):
    """Fifteen features of a neighbour matter more than the two of the target itself."""
    rng = np.random.default_rng(0)
    x, edges = rng.normal(size=(40, 15)), np.array([[1], [0]])
    x[1], x[0, [3, 7]] = 1.5, (1.5, -1.5)
    weights = np.zeros(15)
    weights[[3, 7]] = 0.1, 0.1

    def model(x, edge_index):
        score = x @ weights
        score[:, 0] += 0.15 * x[:, 1].sum(axis=-1) - 3
        return np.stack([score, -score], axis=-1)

    explainer = PGMExplainer(
        model,
        x,
        edges,
        num_layers=1,
        num_samples=3000,
        feature_names=[f"word{at}" for at in range(15)],
    )
    explanation = explainer.explain(0, with_features=True)
    reason = explanation.reason()
    own = {each.feature for each in explanation.features if each.node == 0 and each.significant}
    assert own == {"word3", "word7"}
    text = explanation.report(tmp_path / "why.md").read_text()
    table = text[text.index("| --- |") :]
    page = explanation.to_html()
    bars = json.loads(re.search('application/json">(.*?)</script>', page, re.S)[1])
    shown = [each["name"] for each in bars["explanations"][0]["features"]["bars"]]
    for feature in own:
        assert f"“{feature}”" in reason
        assert re.search(rf"^\| {feature} \(", table, re.MULTILINE), table
        assert any(feature in name for name in shown), shown
    assert len(shown) == 12
