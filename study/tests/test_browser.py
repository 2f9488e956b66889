"""The study in Chromium: by keyboard, on a phone, with interruptions of every kind."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import replace

import pytest

from pgm_explainer_study.design import plan
from pgm_explainer_study.store import Store
from pgm_explainer_study.web.static_page import import_answers, static_page

EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
PAUSE = 320
"""Longer than the time in which the page ignores a second click."""

CONTRASTS = """() => {
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = (at) => {
        for (; at; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.length < 4 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    return [...document.querySelectorAll("h1, p, summary, legend, span, button, figcaption, label")]
        .filter((each) => each.textContent.trim() && each.offsetParent)
        .map((each) => {
            const [a, b] = [light(parse(getComputedStyle(each).color)), light(behind(each))];
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            return [each.tagName + " " + each.textContent.slice(0, 20), ratio];
        });
}"""


@pytest.fixture(scope="module")
def study(make_study):
    return make_study(2, arms_per_item=2, repeats=0)


def at(page, trial):
    """Wait for a question, and until a click counts."""
    page.wait_for_url(f"**#{trial}")
    page.get_by_role("heading", name=f"Question {trial} of").wait_for()
    page.clock.fast_forward(PAUSE)


def begin(page):
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Start").click()
    at(page, 1)


def choose(page, option, then="Next"):
    page.get_by_role("radio").nth(option).check()
    page.get_by_role("button", name=then).click()


def answer_from(page, trials, first):
    """Answer as somebody who reads the instructions, from a question to the end."""
    for trial in range(first, len(trials) + 1):
        at(page, trial)
        right = trials[trial - 1].correct
        choose(page, right if trials[trial - 1].kind == "check" else trial % 2)


def rows(client):
    with closing(sqlite3.connect(client.server.answers)) as db:
        return db.execute("SELECT rater, trial, value FROM answers ORDER BY id").fetchall()


def token(page):
    return page.url.partition("/r/")[2].partition("#")[0]


def answers(client, page):
    return {int(trial): value for trial, value in client.answers(token(page)).items()}


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "this did not happen in time"
        time.sleep(0.05)


def test_the_keyboard_is_enough_for_the_whole_study(client, study, tab):
    page = tab(client.server.url)
    press = page.keyboard.press
    press("Tab")
    press("Space")
    press("Tab")
    press("Enter")
    page.get_by_role("button", name="Start").wait_for()
    for _ in range(2):  # the personal link, then the button
        press("Tab")
    press("Enter")
    trials = plan(study, Store(client.server.answers, study.code).rater(token(page)).slot)
    for trial, asked in enumerate(trials, 1):
        at(page, trial)
        assert page.evaluate("document.activeElement.tagName") == "H1"
        for _ in range(2):  # the instructions, then the answers
            press("Tab")
        press("Space")
        for _ in range(asked.correct if asked.kind == "check" else 1):
            press("ArrowRight")
        press("Enter")
    page.get_by_text("Your completion code:").wait_for()
    assert page.locator("#code").inner_text() == "C0DE"
    expected = {n: t.correct if t.kind == "check" else 1 for n, t in enumerate(trials)}
    assert answers(client, page) == expected


def test_a_phone_shows_everything_with_contrast(client, tab):
    page = tab(client.server.url, viewport={"width": 390, "height": 844})

    def fits():
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for what, ratio in page.evaluate(CONTRASTS):
                assert ratio >= 4.5, (scheme, what)

    fits()
    begin(page)
    for trial in range(1, 6):
        at(page, trial)
        fits()
        for control in page.locator(".choice, button").all():
            assert control.bounding_box()["height"] >= 44
        choose(page, trial - 1 if trial < 3 else 0)
    at(page, 6)
    assert page.locator("h1").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
    assert "Highlighted: row" in page.locator("img").get_attribute("alt")
    assert page.get_by_role("group").locator("legend").inner_text()


def test_reloading_and_the_personal_link_keep_the_place(client, tab):
    page = tab(client.server.url)
    begin(page)
    choose(page, 0)
    at(page, 2)
    choose(page, 1)
    at(page, 3)
    page.reload()
    at(page, 3)
    again = tab(page.url.partition("#")[0])  # another browser
    again.get_by_role("button", name="Continue").click()
    at(again, 3)
    again.get_by_role("button", name="Back").click()
    at(again, 2)
    assert again.get_by_role("radio").nth(1).is_checked()


def test_the_back_button_returns_to_an_answer_that_can_be_changed(client, tab):
    page = tab(client.server.url)
    begin(page)
    choose(page, 0)
    at(page, 2)
    choose(page, 1)
    at(page, 3)
    choose(page, 0)
    at(page, 4)
    page.go_back()
    at(page, 3)
    assert page.get_by_role("radio").nth(0).is_checked()
    choose(page, 1)
    at(page, 4)
    page.reload()
    at(page, 4)
    assert answers(client, page) == {0: 0, 1: 1, 2: 1}
    page.goto(page.url.partition("#")[0] + "#9")  # not ahead of the first open question
    at(page, 4)


def test_two_tabs_of_one_rater_agree(client, tab):
    page = tab(client.server.url)
    begin(page)
    choose(page, 0)
    at(page, 2)
    other = tab(page.url, page.context)
    at(other, 2)
    choose(other, 1)
    at(other, 3)
    choose(other, 1)
    at(other, 4)
    page.bring_to_front()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    wait_for(lambda: page.get_by_role("radio").nth(1).is_checked())
    page.get_by_role("button", name="Next").click()
    at(page, 3)
    choose(page, 0)
    at(page, 4)
    wait_for(lambda: answers(client, page) == {0: 0, 1: 1, 2: 0})


def test_a_double_click_counts_once(client, tab):
    page = tab(client.server.url)
    begin(page)
    page.get_by_role("radio").nth(0).check()
    page.get_by_role("button", name="Next").dblclick()
    at(page, 2)
    page.get_by_role("radio").nth(1).check()
    page.get_by_role("button", name="Next").dblclick()
    at(page, 3)
    assert page.locator("#error").inner_text() == ""
    wait_for(lambda: answers(client, page) == {0: 0, 1: 1})
    everybody = rows(client)
    assert len([row for row in everybody if row[0] == everybody[-1][0]]) == 2


def test_a_click_that_hits_the_next_question_too_early_is_ignored(client, tab):
    page = tab(client.server.url)
    begin(page)
    # The second click arrives right after the next question has replaced this one.
    page.evaluate(
        """() => addEventListener("hashchange", () => {
            document.querySelector("button[type=submit]").click();
            document.body.dataset.clicked = "yes";
        }, { once: true })"""
    )
    choose(page, 0)
    page.locator("body[data-clicked=yes]").wait_for()
    at(page, 2)
    assert page.locator("#error").inner_text() == ""


def test_an_answer_is_required_and_a_wrong_check_is_explained(client, study, tab):
    page = tab(client.server.url)
    begin(page)
    page.get_by_role("button", name="Next").click()
    assert page.get_by_role("alert").inner_text() == "Please choose an answer."
    choose(page, 2)
    page.get_by_text("Please read again").wait_for()
    assert study.checks[0].hint in page.get_by_role("alert").inner_text()
    page.clock.fast_forward(PAUSE)
    choose(page, 0)
    at(page, 2)


def test_answers_wait_in_the_page_while_the_server_is_away(serve, study, tab):
    client = serve(study)
    page = tab(client.server.url)
    begin(page)
    choose(page, 0)
    at(page, 2)
    choose(page, 1)
    at(page, 3)
    wait_for(lambda: len(rows(client)) == 2)
    client.server.kill()
    for trial in (3, 4, 5):
        at(page, trial)
        choose(page, 1)
    at(page, 6)
    status = page.get_by_role("status")
    status.get_by_text("There is no connection").wait_for()
    assert "kept on this device" in status.inner_text()
    assert len(rows(client)) == 2
    client.server.start()
    page.clock.fast_forward(10_000)  # the page tries again after at most eight seconds
    wait_for(lambda: len(rows(client)) == 5)
    assert answers(client, page) == {0: 0, 1: 1, 2: 1, 3: 1, 4: 1}
    wait_for(lambda: status.inner_text() == "")


def test_markup_in_texts_stays_text(serve, study, tab):
    items = tuple(replace(item, caption=EVIL) for item in study.items)
    texts = replace(study.texts, intro=EVIL, rating=EVIL, forecast=EVIL)
    client = serve(replace(study, title=EVIL, items=items, texts=texts, checks=()))
    page = tab(client.server.url)
    begin(page)
    assert page.locator("figcaption").inner_text() == EVIL
    assert page.locator("main img").count() == 1


def test_the_static_page_needs_no_server(study, store, tab, tmp_path):
    path = tmp_path / "study.html"
    path.write_text(static_page(study, 3))
    page = tab(path.as_uri() + "#rater=2")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Start").click()
    trials = plan(study, 1)
    answer_from(page, trials[:4], 1)
    at(page, 5)
    page.reload()
    answer_from(page, trials, 5)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save your answers").click()
    file = tmp_path / "answers.json"
    download.value.save_as(file)
    assert json.loads(file.read_text()) == json.loads(page.locator("#copy").input_value())
    assert import_answers(study, store, file)
    assert not import_answers(study, store, file)  # once only
    (rater,) = store.raters()
    assert (rater.slot, rater.source) == (1, "imported")
    expected = {n: t.correct if t.kind == "check" else (n + 1) % 2 for n, t in enumerate(trials)}
    assert store.latest(rater.id) == expected
