"""The page of a data set: its table of targets in a real browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgm_explainer import ExplanationDataset, PGMExplainer, explain_dataset
from pgm_explainer.dataset.targets_table import TargetRow
from pgm_explainer.report.html.overview import overview_page

pytest.importorskip("pyarrow")
NAMES = ["honest", "fraud", "unsure"]


@pytest.fixture(scope="module")
def data(toy: Any, tmp_path_factory: Any) -> ExplanationDataset:
    options = {"num_layers": 2, "num_samples": 200, "class_names": NAMES, "progress": False}
    explainer = PGMExplainer(toy.part, toy.x, toy.edge_index, **options)
    folder = tmp_path_factory.mktemp("table") / "why"
    names = [f"account_{number}" for number in range(len(toy.x))]
    return explain_dataset(explainer, range(16), folder, names=names)


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Any:
    """Open a page of an overview; complaints fail the test."""
    wrong: list[str] = []
    contexts = []

    def open_page(write: Any, **options: Any) -> Any:
        path = tmp_path / "overview.html"
        write(path)
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def targets(page: Any) -> list[str]:
    return page.locator("#rows th").all_inner_texts()


def test_the_table_has_every_target_with_its_numbers(opened, data):
    page = opened(data.overview().to_html)
    assert targets(page) == [f"account_{number}" for number in range(16)]
    explanation = data["account_14"]
    row = page.locator("#rows tr").nth(14).inner_text()
    assert NAMES[explanation.explained_class] in row
    assert f"{100 * explanation.probability:.1f}%" in row
    assert f"{100 * explanation.class_stayed:.1f}%" in row
    strongest = next(each for each in explanation.effects if each.significant)
    assert f"{100 * abs(strongest.effect):.1f} {strongest.node}" in row


@pytest.mark.parametrize("embedded", [True, False])
def test_a_target_opens_its_explanation(opened, data, embedded, monkeypatch, tmp_path):
    if not embedded:
        monkeypatch.setattr("pgm_explainer.dataset.targets_table._EMBEDDED", 0)
        monkeypatch.setattr("pgm_explainer.dataset.targets_table._PER_FILE", 5)
    page = opened(data.overview().to_html)
    assert (tmp_path / "overview_pages").exists() is not embedded
    for name in ("account_0", "account_9"):
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_selector("#headline:not(:empty)")
        assert name in page.inner_text("#headline")
        page.go_back()
        page.wait_for_selector("#rows a")


def test_search_filters_and_sort(opened, data):
    page = opened(data.overview().to_html)
    rows = [data[f"account_{number}"] for number in range(16)]
    page.fill("#search", "account_1")
    assert targets(page)[0] == "account_1"
    assert len(targets(page)) >= 7  # and those with this cause
    page.fill("#search", "")
    wanted = NAMES[rows[0].explained_class]
    page.select_option("#class", wanted)
    same = [row.target for row in rows if row.explained_class == rows[0].explained_class]
    assert sorted(targets(page)) == sorted(same)
    page.select_option("#class", "")
    page.select_option("#effect", "rises")
    found = {row.target: [each for each in row.effects if each.significant] for row in rows}
    assert sorted(targets(page)) == sorted(
        name for name, each in found.items() if each and each[0].effect > 0
    )
    page.select_option("#effect", "")
    page.select_option("#warning", "warned")
    assert sorted(targets(page)) == sorted(row.target for row in rows if row.warnings)
    page.select_option("#warning", "")
    head = page.locator("[data-column=probability]")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    best = max(rows, key=lambda row: row.probability)
    assert targets(page)[0] == best.target
    head.get_by_role("button").click()
    assert targets(page)[-1] == best.target


def test_the_keyboard_is_enough(opened, data):
    page = opened(data.overview().to_html)
    page.focus("#search")
    page.keyboard.type("account_7")
    page.keyboard.press("Enter")
    page.wait_for_selector("#headline:not(:empty)")
    assert "account_7" in page.inner_text("#headline")
    page.go_back()
    page.focus("[data-column=kept] button")
    page.keyboard.press("Enter")
    assert page.locator("[data-column=kept]").get_attribute("aria-sort") == "descending"


def test_without_pages_the_command_is_shown(opened, data):
    page = opened(lambda path: data.overview().to_html(path, max_pages=0))
    assert page.locator("#rows a").count() == 0
    assert "--target TARGET" in page.inner_text(".lead")


def test_ten_thousand_targets_react_at_once(opened, data):
    rng = np.random.default_rng(0)
    evil = "<img src=x onerror=alert(1)>"
    rows = [
        TargetRow(f"{evil} {n}", NAMES[n % 3], float(rng.random()), 0.9, "x", -0.1, 2, ("few",))
        for n in range(10_000)
    ]
    text = overview_page(replace(data.overview(), explained=10_000), rows)
    assert len(text) < 1_500_000
    page = opened(lambda path: path.write_text(text, encoding="utf-8"))
    assert "10,000 of 10,000" in page.inner_text("#count")
    assert page.locator("#rows tr").count() == 100
    took = page.evaluate(
        """() => { const start = performance.now();
        document.querySelector("[data-column=probability] button").click();
        document.body.getBoundingClientRect();
        return performance.now() - start; }"""
    )
    assert took < 1000
    page.locator("#more").click()
    assert page.locator("#rows tr").count() == 1100


@pytest.mark.parametrize("width", [390, 1100])
def test_the_table_fits_the_screen(opened, data, width):
    page = opened(data.overview().to_html, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
