"""The two answers on the page: what changes the prediction, and what else depends on it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from pgm_explainer import PGMExplainer

LONG = [f"Department of Computational Biology {number}" for number in range(16)]


@pytest.fixture(scope="module")
def along():
    """An explanation with a dependent node that is no cause: it shares a cause with the target."""
    edges = np.array([[1, 1, 2, 3], [0, 2, 0, 0]])

    def model(x):
        score = 8 * x[..., 0] - 4
        score[:, 0] = 2 * x[:, 1, 0] - x[:, 3, 0]
        score[:, 2] = 8 * x[:, 1, 0] - 4
        return np.stack([-score, score], axis=-1)

    options = {"num_layers": 1, "num_samples": 1000, "perturb_probability": 0.3}
    explainer = PGMExplainer(model, np.ones((4, 1)), edges, perturbation="zero", **options)
    return explainer.explain(0).named(["Ann", "Bob", "Cid", "Dee"])


def signed(number):
    """An effect on a probability, as the page writes it."""
    text = f"{100 * number:+.1f}"
    return (text if float(text) else text[1:]).replace("-", "−")


def test_the_lead_is_the_reason(read, along):
    reader, first = read(along), along.effects[0]
    low, high = (f"{100 * abs(each):.1f}" for each in (first.high, first.low))
    assert (
        f"Replacing the data of node Bob lowers the probability of class 1 by "
        f"{-100 * first.effect:.1f} percentage points (95% range {low} to {high})"
    ) in reader.text("#lead")
    said = [each.inner_text() for each in reader.page.locator("#lead p").all()]
    assert " ".join(said) == along.reason()
    keys = [each.get_attribute("data-key") for each in reader.page.locator("#lead b").all()]
    assert "n1" in keys


def test_evidence_against_the_prediction_is_marked(read, node_explanation):
    reader = read(node_explanation)
    against = [each.node for each in node_explanation.effects if each.significant and each.low > 0]
    assert against
    for node in against:
        row = reader.page.locator(f"#changes tr[data-key='n{node}']")
        assert "evidence against" in row.inner_text()
        card = reader.node(f"n{node}")
        if card.count():
            assert "evidence against: +" in card.text_content()
    rows = reader.page.locator("#informative button").all()
    assert rows
    assert all(re.search(r"(raises|lowers) it by \d+\.\d points", row.inner_text()) for row in rows)


def test_dependents_without_effect_are_listed_separately(read, along, node_explanation):
    reader = read(along)
    assert reader.text("#along") == (
        "Node Cid changes together with the prediction, but perturbing it has no significant "
        "effect."
    )
    assert reader.page.locator("#along b").get_attribute("data-key") == "n2"
    assert "Cid" not in reader.text("#changes")
    assert read(node_explanation).text("#along").startswith("The prediction depends")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("kind", ["node", "graph", "edge", "levels"])
def test_effects_are_a_table_that_can_be_read_aloud(read, explanations, kind, width):
    explanation = explanations[kind]
    reader = read(explanation, viewport={"width": width, "height": 800})
    table = reader.page.locator("#changes").get_by_role("table").first
    assert table.get_by_role("columnheader").all_inner_texts() == [
        "node",
        "effect in percentage points, with its 95% interval",
    ]
    found = [each for each in explanation.effects if each.significant][:12]
    rows = table.get_by_role("row").all()[1:]
    assert len(rows) >= len(found) > 2
    for row, each in zip(rows, found, strict=False):
        effect, low, high = (signed(number) for number in (each.effect, each.low, each.high))
        assert row.get_by_role("rowheader").inner_text().split()[0] == str(each.node)
        assert row.get_by_role("cell").inner_text().split() == [effect, low, "to", high]


def test_the_target_is_marked_and_always_there(read, node_explanation, along):
    for explanation in (node_explanation, along):
        page = read(explanation).page
        row = page.locator("#changes .bars tr").filter(has=page.locator(".mark"))
        said = row.get_by_role("rowheader").inner_text().split()
        assert said == [str(explanation.target), "target", "not", "significant"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_falls_go_left_and_rises_go_right_in_another_colour(read, along, scheme):
    page = read(along, color_scheme=scheme).page
    zero = page.locator(".bars .zero").first.bounding_box()["x"]
    falls, rises = (page.locator(f".bars [data-key={key}] .size") for key in ("n1", "n3"))
    left, right = falls.bounding_box(), rises.bounding_box()
    assert min(left["width"], right["width"]) > 5
    assert left["x"] + left["width"] == pytest.approx(zero, abs=2)
    assert right["x"] == pytest.approx(zero, abs=2)
    colours = [
        bar.evaluate("one => getComputedStyle(one).backgroundColor") for bar in (falls, rises)
    ]
    assert colours[0] != colours[1]
    legend = page.locator("#changes .directions li").all_inner_texts()
    verbs = [f"perturbing it {verb} the probability of class 1" for verb in ("lowers", "raises")]
    assert legend == [*verbs, "not significant"]  # the target's own bar


def test_a_bar_without_a_clear_direction_has_a_colour_of_its_own(read, along):
    effects = along.effects
    shown = replace(along, effects=replace(effects, low=effects.low - 1, high=effects.high + 1))
    page = read(shown).page
    assert page.locator(".bars .size.both").count() == int(effects.significant.sum())
    colour = "one => getComputedStyle(one).backgroundColor"
    bar = page.locator(".bars .size.both").first.evaluate(colour)
    assert page.locator("#changes .directions .both").evaluate(colour) == bar
    assert page.locator("#changes .directions .none").evaluate(colour) != bar
    assert "Direction not clear: the 95% interval contains 0" in page.inner_text("#changes")


def test_bars_and_whiskers_have_one_scale(read, along):
    page = read(along).page
    scales = []
    for key, each in (("n1", along.effects[0]), ("n3", along.effects[1])):
        bar, whisker = (
            page.locator(f".bars [data-key={key}] .{name}").bounding_box()["width"]
            for name in ("size", "whisker")
        )
        scales.append(bar / abs(each.effect))
        assert whisker == pytest.approx(scales[-1] * (each.high - each.low), abs=2)
    assert scales[0] == pytest.approx(scales[1], rel=0.05)


def test_pairs_are_below_the_bars(read, node_explanation):
    reader = read(node_explanation)
    assert "Pairs whose joint effect differs from the sum of their effects" in reader.text(
        "#changes"
    )
    pair = node_explanation.effects.pairs[0]
    first = reader.page.locator("#changes .scroll tbody tr").first.inner_text().split()
    numbers = (pair.joint, pair.joint - pair.excess, pair.excess, pair.low, pair.high)
    joint, total, excess, low, high = map(signed, numbers)
    names = [str(pair.nodes[0]), "and", str(pair.nodes[1])]
    assert first == [*names, joint, total, excess, low, "to", high]


@pytest.mark.parametrize("width", [390, 1000, 1280])
def test_the_table_of_pairs_fits(read, node_explanation, width):
    for explanation in (node_explanation, node_explanation.named(LONG)):
        page = read(explanation, viewport={"width": width, "height": 800}).page
        box = page.locator("#changes .scroll")
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
        heads = box.get_by_role("columnheader").all_inner_texts()
        assert heads == ["pair", "joint effect", "sum of effects", "difference", "95% interval"]


def test_strong_causes_outside_the_network_are_named_below_it(read, toy):
    explainer = PGMExplainer(toy.graph_level, toy.x, toy.edge_index, task="graph", max_nodes=1)
    explanation = explainer.explain()
    assert explanation.left_out
    reader = read(explanation)
    shown = reader.page.locator("#left-out b").all_text_contents()
    assert shown == [str(node) for node in explanation.left_out[:8]]
    assert "not in the network" in reader.text("#left-out")


def test_pointing_at_an_effect_lights_its_node(read, node_explanation):
    reader, first = read(node_explanation), node_explanation.nodes[0]
    reader.page.locator(f".bars [data-key=n{first}]").hover()
    lit = reader.page.locator("#network [data-variable].lit")
    assert lit.evaluate_all("all => all.map((one) => one.dataset.key)") == [f"n{first}"]


def test_all_effects_are_in_the_details(read, node_explanation):
    reader = read(node_explanation)
    reader.open_details("effects")
    rows = reader.page.locator("#effects tbody tr").all_inner_texts()
    assert len(rows) == len(node_explanation.effects)
    for row, each in zip(rows, node_explanation.effects, strict=True):
        cells = row.split("\t")
        own = " (target)" if each.node == node_explanation.target else ""
        assert cells[:2] == [f"{each.node}{own}", signed(each.effect)]
        assert cells[-1] == ("yes" if each.significant else "")


def test_the_ranking_is_that_of_the_dependence(read, node_explanation):
    reader, ranking = read(node_explanation), node_explanation.ranking
    reader.open_details("ranking")
    rows = reader.page.locator("#ranking tr").all_inner_texts()
    head, *body = (row.split("\t") for row in rows)
    columns = dict(zip(head, zip(*body, strict=True), strict=True))
    assert columns["node"] == tuple(str(each.node) for each in ranking)
    assert columns["log p"] == tuple(f"{value:.1f}" for value in ranking.log_p)
    strengths = [cell.strip() for cell in columns["Cramér's V"]]  # a bar is before the number
    assert strengths == [f"{value:.2f}" for value in ranking.effect_size]
    assert columns["in the network"] == tuple("yes" if one else "" for one in ranking.selected)


def test_the_page_states_that_there_are_no_effects(read, toy):
    explainer = PGMExplainer(lambda x: np.ones((*x.shape[:2], 2)), toy.x, toy.edge_index)
    reader = read(explainer.explain(14))
    assert "has a significant effect on the probability of class 0" in reader.text("#changes")
    assert reader.text("#changes").startswith("None of ")
    assert "Replacing the data of any single node makes no clear difference" in reader.text("#lead")


@pytest.mark.parametrize("width", [390, 1280])
def test_names_bars_and_numbers_do_not_overlap(read, node_explanation, width):
    for explanation in (node_explanation, node_explanation.named(LONG)):
        reader = read(explanation, viewport={"width": width, "height": 800})
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
        for row in reader.page.locator(".bars tbody tr").all():
            boxes = row.locator(":is(th, .chart, td b, td > span:last-child)").evaluate_all(
                "all => all.map((one) => one.getBoundingClientRect()).map((box) => "
                "[box.left, box.right, box.top, box.bottom])"
            )
            assert len(boxes) == 4
            for one, other in combinations(boxes, 2):
                across = one[1] <= other[0] or other[1] <= one[0]
                assert across or one[3] <= other[2] or other[3] <= one[2]


@pytest.fixture(scope="module")
def with_features():
    """An explanation with features: the target's own second one, and the first of a neighbour."""

    def model(x, edge_index):
        score = 4 * x[..., 1]
        score[:, 0] -= 6 * x[:, 1, 0]
        return np.stack([-score, score], axis=-1)

    x = np.random.default_rng(0).random((30, 3))
    return PGMExplainer(
        *(model, x, np.array([[1, 2], [0, 0]])),
        num_layers=1,
        feature_names=["share of negative ratings", "age", "unused"],
    ).explain(0, with_features=True)


@pytest.mark.parametrize("width", [390, 1280])
def test_features_are_a_table_with_the_targets_own_first(read, with_features, width):
    reader = read(with_features, viewport={"width": width, "height": 900})
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
    found = reader.page.locator("#features tbody tr")
    names = found.locator("th").all_inner_texts()
    rows = [row for row in with_features.features if row.significant]
    own_first = sorted(rows, key=lambda row: row.node != 0)
    own, other = (f"({row.value:.3g})" for row in own_first)
    assert [" ".join(name.split()) for name in names] == [
        f"age {own} target evidence against",
        f"share of negative ratings of node 1 {other} evidence for",
    ]
    assert found.locator("b").all_inner_texts() == [signed(row.effect) for row in own_first]
    legend = reader.page.locator("#features .directions li").all_inner_texts()
    assert legend == [
        "perturbing it lowers the probability of class 1",
        "perturbing it raises the probability of class 1",
    ]
    reader.open_details("all-features")
    listed = reader.page.locator("#all-features tbody tr").count()
    assert listed == len(with_features.features)


def test_without_features_there_is_no_panel(read, along, with_features):
    reader = read([along, with_features])
    panel = reader.page.locator("#features-panel")
    assert not panel.is_visible()
    assert not reader.page.locator("#all-features").is_visible()
    reader.page.locator("#entries button").nth(1).click()
    assert panel.is_visible()
