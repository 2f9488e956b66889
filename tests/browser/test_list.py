"""What a reader can do with a page of many explanations."""

from __future__ import annotations

import numpy as np
import pytest

from pgm_explainer import PGMExplainer

COUNT = 200
OPENS_IN, ANSWERS_IN = 2.0, 0.1  # seconds
BUSY = 3  # how much slower a machine may be that others use too
COLOURS = ["red", "green", "blue"]


@pytest.fixture(scope="module")
def many(toy):
    """Two hundred explanations; a dozen copies of the toy side by side hold enough nodes."""
    copies = -(-COUNT // len(toy.x))
    x = np.concatenate([toy.x + 0.1 * copy for copy in range(copies)])
    edges = np.concatenate([toy.edge_index + len(toy.x) * copy for copy in range(copies)], axis=1)
    return PGMExplainer(toy.part, x, edges, num_layers=2).explain_many(range(COUNT))


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


def test_searching_leaves_what_fits(read, many):
    reader = read(many[:30], class_names=COLOURS)
    reader.page.locator("#search").fill("GREEN")
    green = [str(each.target) for each in many[:30] if each.explained_class == 1]
    assert listed(reader) == green
    assert reader.text("#count") == f"{len(green)} of 30 explanations"
    reader.page.locator("#search").fill("3 green")
    assert listed(reader) == [each for each in green if "3" in each]
    reader.page.locator("#search").fill("nobody")
    assert listed(reader) == []


def test_sorting_and_reversing(read, many):
    some = many[29::-1]
    orders = {
        "given": lambda each: 0,
        "target": lambda each: each.target,
        "class": lambda each: COLOURS[each.explained_class],
        "probability": lambda each: -each.probability,
        "held": lambda each: -each.held,
        "found": lambda each: -len(each.nodes),
    }
    reader = read(some, class_names=COLOURS)
    for by, key in orders.items():
        reader.page.locator("#sort").select_option(by)
        expected = [str(each.target) for each in sorted(some, key=key)]
        assert listed(reader) == expected
        reader.page.get_by_role("button", name="Reverse the order").click()
        assert listed(reader) == expected[::-1]
        reader.page.get_by_role("button", name="Reverse the order").click()


def test_two_hundred_open_and_answer_at_once(read, many):
    opening, answering = [], []
    reader = read(many)
    for _ in range(3):  # the best of three is the page's own
        reader.page.reload()
        opening.append(
            reader.page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        )
        times = reader.page.evaluate(
            """async () => {
                const painted = () => new Promise((done) =>
                    requestAnimationFrame(() => setTimeout(done)));
                const times = [];
                for (const entry of [...document.querySelectorAll("#entries button")].slice(0, 5)) {
                    const start = performance.now();
                    entry.click();
                    await painted();
                    times.push(performance.now() - start);
                }
                for (const row of [...document.querySelectorAll("#network [data-word]")]) {
                    const start = performance.now();
                    row.dispatchEvent(new MouseEvent("click", { bubbles: true }));
                    await painted();
                    times.push(performance.now() - start);
                }
                return times;
            }"""
        )
        answering.append(float(np.median(times)))
    assert min(opening) < 1000 * BUSY * OPENS_IN
    assert min(answering) < 1000 * BUSY * ANSWERS_IN
