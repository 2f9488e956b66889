"""What a reader can do with a page of many explanations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pgm_explainer import PGMExplainer

COUNT = 200
OPENS_IN, ANSWERS_IN = 2.0, 0.1  # seconds
TRIES = 6
COLOURS = ["red", "green", "blue"]


def renamed(explanation, class_names):
    settings = explanation.settings
    model = replace(settings.model, class_names=class_names)
    return replace(explanation, settings=replace(settings, model=model))


@pytest.fixture(scope="module")
def many(toy):
    """Two hundred explanations; a dozen copies of the toy side by side hold enough nodes."""
    copies = -(-COUNT // len(toy.x))
    x = np.concatenate([toy.x + 0.1 * copy for copy in range(copies)])
    edges = np.concatenate([toy.edge_index + len(toy.x) * copy for copy in range(copies)], axis=1)
    options = {"num_layers": 2, "class_names": COLOURS}
    return PGMExplainer(toy.part, x, edges, **options).explain_many(range(COUNT))


_FIT = """() => {
    const box = document.querySelector("#network");
    const svg = box.querySelector("svg");
    if (!svg) return { box: box.clientWidth, cut: 0, natural: 0, scale: 1 };
    const natural = svg.viewBox.baseVal.width;
    return {
        box: box.clientWidth,
        cut: box.scrollWidth - box.clientWidth,
        natural,
        scale: svg.getBoundingClientRect().width / natural,
    };
}"""


def listed(reader):
    return reader.page.locator("#entries b").all_text_contents()


def test_all_are_listed_and_the_first_is_shown(read, many):
    reader = read(many[:20])
    assert listed(reader) == [str(each.target) for each in many[:20]]
    assert reader.text("h1").startswith("Node 0 ")
    reader.page.locator("#entries button").nth(7).click()
    assert reader.text("h1").startswith("Node 7 ")
    assert reader.holds() == pytest.approx(many[7].query(), abs=1e-6)
    assert reader.page.locator("#entries [aria-current]").text_content().startswith("7")


def test_the_keyboard_walks_the_list(read, many):
    reader = read(many[:5])
    reader.page.locator("#entries button").first.focus()
    reader.page.keyboard.press("ArrowDown")
    reader.page.keyboard.press("ArrowDown")
    reader.page.keyboard.press("Enter")
    assert reader.text("h1").startswith("Node 2 ")


def test_searching_filters_the_list(read, many):
    reader = read(many[:30])
    reader.page.locator("#search").fill("GREEN")
    green = [str(each.target) for each in many[:30] if each.explained_class == 1]
    assert listed(reader) == green
    assert reader.text("#count") == f"{len(green)} of 30 explanations"
    reader.page.locator("#search").fill("3 green")
    assert listed(reader) == [each for each in green if each.endswith("3")]
    reader.page.locator("#search").fill("nobody")
    assert listed(reader) == []


def test_the_search_text_is_one_phrase(read, many):
    unnamed = [renamed(each, None) for each in many[:30]]
    reader = read(unnamed)
    reader.page.locator("#search").fill(" class  1 ")
    expected = [str(each.target) for each in unnamed if each.explained_class == 1]
    assert 0 < len(expected) < 30
    assert listed(reader) == expected


def test_enter_opens_the_first_that_was_found(read, many):
    reader = read(many[:30])
    reader.page.locator("#search").fill("7")
    reader.page.keyboard.press("Enter")
    assert reader.text("h1").startswith("Node 7 ")
    reader.page.locator("#search").fill("nobody")
    reader.page.keyboard.press("Enter")
    assert reader.text("h1").startswith("Node 7 ")


def test_the_list_shows_the_sort_columns(read, many):
    long = [*COLOURS[:2], "blue with a very long name that cannot fit"]
    some = [renamed(each, long) for each in many[:9]]
    shown = read(some).page.locator("#entries button")
    for entry, each in zip(shown.all(), some, strict=True):
        summary = f"p {each.probability:.1%} · stays {each.class_stayed:.1%}"
        assert summary in entry.inner_text()
        assert f"{len(each.nodes)} node" in entry.inner_text()
        number = entry.locator("small").last
        assert number.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_explanations_with_warnings_are_marked(read, many):
    some = [replace(each, warnings=()) for each in many[:4]]
    some[2] = replace(some[2], warnings=("it is thin",))
    page = read(some).page
    assert page.locator("#entries .warned").count() == 1
    marked = page.get_by_role("button", name="with warnings")
    assert marked.locator("b").text_content() == "2"
    assert page.locator("#entries .warned").get_attribute("title") == "it is thin"


@pytest.mark.parametrize("width", [1280, 1000, 390])
def test_beside_a_list_the_network_is_not_cut(read, many, width):
    reader = read(many[:15], viewport={"width": width, "height": 800})
    for at in range(15):
        reader.page.locator("#entries button").nth(at).click()
        shown = reader.page.evaluate(_FIT)
        assert shown["scale"] > 0.599
        fits = shown["natural"] * 0.6 <= shown["box"]
        assert shown["cut"] <= (0 if fits else shown["natural"])
        assert fits or width < 1280
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width


def test_sorting_and_reversing(read, many):
    some = many[29::-1]
    orders = {
        "given": lambda each: 0,
        "target": lambda each: each.target,
        "class": lambda each: COLOURS[each.explained_class],
        "probability": lambda each: -each.probability,
        "held": lambda each: -each.class_stayed,
        "found": lambda each: -len(each.nodes),
    }
    reader = read(some)
    for by, key in orders.items():
        reader.page.locator("#sort").select_option(by)
        expected = [str(each.target) for each in sorted(some, key=key)]
        assert listed(reader) == expected
        reader.page.get_by_role("button", name="Reverse the order").click()
        assert listed(reader) == expected[::-1]
        reader.page.get_by_role("button", name="Reverse the order").click()


_CLICK_ALL = """async (selector) => {
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const times = [];
    for (const one of [...document.querySelectorAll(selector)].slice(0, 4)) {
        const start = performance.now();
        one.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        await painted();
        times.push(performance.now() - start);
    }
    return Math.min(...times);
}"""


def test_a_page_of_two_hundred_opens_and_reacts_fast(read, many):
    """Timed by the page's own clock; the best of a few is the page's, the rest the machine's."""
    page = read(many).page
    promised = {"open": OPENS_IN, "pick": ANSWERS_IN, "ask": ANSWERS_IN}
    best = dict.fromkeys(promised, np.inf)
    for _ in range(TRIES):
        opened = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        picked = page.evaluate(_CLICK_ALL, "#entries button")
        queried = page.evaluate(_CLICK_ALL, "#network [data-word]")
        for what, time in zip(best, (opened, picked, queried), strict=True):
            best[what] = min(best[what], time / 1000)
        if all(best[what] < promised[what] for what in best):
            break
        page.reload()
    assert all(best[what] < promised[what] for what in best), best
