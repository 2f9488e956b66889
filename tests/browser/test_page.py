"""What a reader can do with the page of one explanation."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from pgm_explainer import PGMExplainer, explain_graphs
from pgm_explainer.explanation import renamed
from pgm_explainer.report.colours import CLASSES
from pgm_explainer.report.terms import describe_held, describe_kept, describe_perturbed

EVIL = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "<!--", "${data}"]


def test_the_page_shows_the_results(read, node_explanation):
    reader = read(node_explanation)
    assert reader.page.title() == reader.text("h1") == "Node 14 is predicted to be of class blue"
    stayed = f"{node_explanation.class_stayed:.1%}"
    assert f"still predicted class blue in {stayed} of them" in reader.text("#lead")
    assert f"{stayed} of 800 perturbed graphs keep the class" in reader.text("#figures")
    assert f"{node_explanation.sample_mean:.1%} is its mean probability" in reader.text("#figures")
    assert reader.text("#holds") == f"{node_explanation.query():.1%}"
    for node in node_explanation.nodes:
        assert reader.node(f"n{node}").count() == 1
        assert reader.node(f"n{node}", "picture").count() == 1


def test_clicking_a_bar_states_a_fact_and_clicking_again_removes_it(read, node_explanation):
    reader, first = read(node_explanation), node_explanation.nodes[0]
    reader.state(f"n{first}", "changed")
    known = node_explanation.query({first: "changed"})
    assert reader.holds() == pytest.approx(known, abs=1e-6)
    assert reader.text("#holds") == f"{known:.1%}"
    assert f"{node_explanation.query():.1%} without evidence" in reader.text("#against")
    assert f"{abs(known - node_explanation.query()) * 100:.1f}" in reader.text("#moved")
    assert reader.text("#known") == f"{first} changed ×"
    reader.state(f"n{first}", "changed")
    assert reader.holds() == pytest.approx(node_explanation.query(), abs=1e-6)


def test_clicking_a_node_offers_features_and_prediction(read, node_explanation):
    reader, first = read(node_explanation), node_explanation.nodes[0]
    reader.node(f"n{first}", "picture").click()
    dialogue = reader.page.get_by_role("dialog")
    dialogue.get_by_text("original").click()
    dialogue.get_by_text("changed").click()
    expected = node_explanation.query({first: "original, changed"})
    assert reader.holds() == pytest.approx(expected, abs=1e-6)
    dialogue.get_by_role("group", name="Prediction").get_by_text("unknown").click()
    expected = node_explanation.query({first: "original"})
    assert reader.holds() == pytest.approx(expected, abs=1e-6)


def test_the_keyboard_is_enough(read, node_explanation):
    reader = read(node_explanation)
    press = reader.page.keyboard.press
    reader.page.locator("#network [tabindex='0']").focus()
    nodes = node_explanation.network.nodes
    press("ArrowRight")
    press("Enter")  # queries the second variable
    press("ArrowDown")
    expected = node_explanation.query({nodes[1]: "original"})
    assert reader.holds() == pytest.approx(expected, abs=1e-6)
    press("Tab")
    press("ArrowDown")
    expected = node_explanation.query({nodes[1]: "original, kept"})
    assert reader.holds() == pytest.approx(expected, abs=1e-6)
    press("Escape")
    assert reader.page.get_by_role("dialog").count() == 0
    assert reader.page.evaluate("document.activeElement.dataset.key") == f"n{nodes[1]}"
    press("ArrowLeft")
    press("Space")
    assert reader.text("#dialog-title") == str(nodes[0])


def test_every_control_is_reachable_by_tab_and_shows_focus(read, node_explanation):
    reader, reached = read(node_explanation), set()
    for _ in range(40):
        reader.page.keyboard.press("Tab")
        reached.add(reader.page.evaluate("document.activeElement.closest('[id]')?.id"))
        visible = "document.activeElement === document.body || " + (
            "document.activeElement.matches(':focus-visible')"
        )
        assert reader.page.evaluate(visible)
    assert {"theme", "picture", "network", "informative", "ranking", "setup"} <= reached


def test_impossible_evidence_is_reported_and_can_be_undone(read, node_explanation):
    reader = read(node_explanation)
    impossible = first_impossible(node_explanation)
    for node, word in impossible:
        reader.state(f"n{node}", word)
    assert reader.page.locator("#impossible").is_visible()
    assert reader.text("#holds") == "–"
    reader.page.get_by_role("button", name="Undo").click()
    assert not reader.page.locator("#impossible").is_visible()
    expected = node_explanation.query(dict(impossible[:-1]))
    assert reader.holds() == pytest.approx(expected, abs=1e-6)
    reader.page.get_by_role("button", name="Clear all").click()
    assert reader.holds() == pytest.approx(node_explanation.query(), abs=1e-6)


def first_impossible(explanation):
    """Facts about different nodes that cannot all be so, though without the last one they can."""
    network = explanation.network
    facts = [(node, word) for node in network.nodes for word in network.variable(node).words]
    for count in (2, 3, 4):
        for known in combinations(facts, count):
            evidence, before = dict(known), dict(known[:-1])
            if len(evidence) == count and network.probability(evidence) == 0:
                assert network.probability(before) > 0
                return list(known)
    raise AssertionError("the test needs evidence that cannot happen")


def test_a_query_shows_its_number_of_samples(read, node_explanation):
    reader, network = read(node_explanation), node_explanation.network
    assert reader.text("#basis") == ""
    first, *_ = node_explanation.nodes
    samples = 800 * network.probability({first: "changed"})
    assert samples > 20
    reader.state(f"n{first}", "changed")
    expected = (
        f"According to the network, this evidence occurs in about {samples:.0f} of 800 samples."
    )
    assert reader.text("#basis") == expected
    plain = reader.page.locator("#basis").evaluate("one => getComputedStyle(one).backgroundColor")
    evidence = first_unlikely(node_explanation, 5 / 800)
    reader.state_all([(f"n{node}", word) for node, word in evidence.items()])
    assert not reader.page.locator("#impossible").is_visible()
    assert reader.text("#basis").startswith(
        "Too few samples to rely on: according to the network, "
    )
    num_samples = 800 * network.probability(evidence)
    count = "fewer than 1" if num_samples < 1 else f"about {num_samples:.1f}"
    assert f"occurs in {count} of 800 samples" in reader.text("#basis")
    warned = reader.page.locator("#basis").evaluate("one => getComputedStyle(one).backgroundColor")
    assert warned != plain
    assert "Too few samples to rely on" in reader.page.locator("#spoken").text_content()
    reader.page.get_by_role("button", name="Clear all").click()
    assert reader.text("#basis") == ""


def first_unlikely(explanation, below):
    words = ("perturbed", "changed", "kept")
    for chosen in product(words, repeat=len(explanation.nodes)):
        evidence = dict(zip(explanation.nodes, chosen, strict=True))
        if 0 < explanation.network.probability(evidence) < below:
            return evidence
    raise AssertionError("the test needs evidence that hardly happens")


def test_impossible_evidence_has_no_samples(read, node_explanation):
    reader = read(node_explanation)
    impossible = first_impossible(node_explanation)
    reader.state_all([(f"n{node}", word) for node, word in impossible])
    assert reader.page.locator("#impossible").is_visible()
    assert reader.text("#basis") == ""


def test_the_terms_are_defined(read, explanations):
    for explanation in explanations.values():
        reader = read(explanation)
        assert reader.text("#meaning") == describe_perturbed(explanation.settings)
        assert reader.page.locator("#kept").text_content() == describe_kept(explanation)
        reader.page.locator("#setup summary").click()
        # Details are filled a moment after they are opened.
        held = describe_held(explanation.settings)
        reader.page.locator("#setup", has_text=held).wait_for(timeout=10_000)
        assert "dependence, not causation" in reader.text("#network-panel")


def test_facts_are_removed_one_by_one(read, node_explanation):
    reader = read(node_explanation)
    one, two = node_explanation.nodes[:2]
    reader.state(f"n{one}", "kept")
    reader.state(f"n{two}", "original")
    reader.page.get_by_role("button", name=f"Remove evidence: {one} is kept").click()
    assert reader.holds() == pytest.approx(node_explanation.query({two: "original"}), abs=1e-6)


def test_the_most_telling_fact_is_found(read, node_explanation):
    reader, now = read(node_explanation), node_explanation.query()
    network, moves = node_explanation.network, {}
    for node in network.nodes:
        words = ("original", "perturbed") if node == 14 else network.variable(node).words
        for word in words:
            if network.probability({node: word}) > 0:
                moves[node, word] = abs(node_explanation.query({node: word}) - now)
    node, word = max(moves, key=moves.get)
    first = reader.page.locator("#informative button").first
    assert first.inner_text().split()[:2] == [str(node), word]
    first.click()
    assert reader.holds() == pytest.approx(node_explanation.query({node: word}), abs=1e-6)


def test_facts_with_too_few_samples_are_not_offered(read, node_explanation):
    reader = read(node_explanation)
    evidence, offered, thin = first_with_thin_facts(node_explanation)
    reader.state_all([(f"n{node}", word) for node, word in evidence.items()])
    rows = reader.page.locator("#informative .fact").all()
    shown = {tuple(row.locator(":scope > *").all_text_contents()) for row in rows}
    assert offered <= shown
    assert not thin & shown


def first_with_thin_facts(explanation):
    """Evidence, after which facts about features move the answer: often sampled ones, and rare."""
    network = explanation.network
    for words in product(("changed", "kept", None), repeat=len(explanation.nodes)):
        evidence = {n: word for n, word in zip(explanation.nodes, words, strict=True) if word}
        if network.probability(evidence) == 0:
            continue
        now, offered, thin = explanation.query(evidence), set(), set()
        for node, word in product(network.nodes, ("original", "perturbed")):
            known = {**evidence, node: [word, *([evidence[node]] if node in evidence else [])]}
            samples = 800 * network.probability(known)
            if samples > 0 and abs(explanation.query(known) - now) > 0.01:
                (thin if samples < 20 else offered).add((str(node), word))
        if thin and 0 < len(offered) <= 6:
            return evidence, offered, thin
    raise AssertionError("the test needs evidence with which some facts are rare")


@pytest.mark.parametrize(("here", "there"), [("picture", "network"), ("network", "picture")])
def test_hovering_a_node_highlights_it_in_the_other_drawing(read, node_explanation, here, there):
    reader, key = read(node_explanation), f"n{node_explanation.nodes[0]}"
    lit = reader.page.locator(f"#{there} [data-variable].lit")
    assert lit.count() == 0
    reader.node(key, here).hover()
    assert lit.evaluate_all("all => all.map((one) => one.dataset.key)") == [key]
    reader.page.mouse.move(0, 0)
    assert lit.count() == 0
    reader.node(key, here).focus()
    assert lit.count() == 1


def test_pointing_at_a_pair_lights_both_of_its_nodes(read, explanations):
    reader = read(explanations["edge"])
    reader.node("target").hover()
    lit = reader.page.locator("#picture .node.lit title").all_text_contents()
    assert sorted(lit) == ["14", "2"]


def test_nodes_have_the_colours_of_their_classes(read, node_explanation):
    reader, explanation = read(node_explanation), node_explanation
    assert reader.text("#picture-legend .classes").split() == ["red", "green", "blue"]
    for node, number in zip(explanation.around, explanation.node_classes, strict=True):
        mark = reader.page.locator(f"#picture [data-key=n{node}] :is(.disc, .dot)").last
        fill = to_hex(mark.evaluate("mark => getComputedStyle(mark).fill"))
        assert fill == CLASSES[number]


def to_hex(rgb):
    return "#" + "".join(f"{int(part):02X}" for part in rgb[4:-1].split(","))


def test_the_details_contain_ranking_tables_text_and_settings(read, node_explanation):
    reader = read(node_explanation)
    reader.open_details("ranking", "tables", "words", "setup")
    assert reader.page.locator("#ranking tbody tr").count() == len(node_explanation.ranking)
    assert node_explanation.network.factorisation in reader.text("#tables")
    tables = [node_explanation.network.cpt(node) for node in node_explanation.network.nodes]
    seen = [
        (table.counts.sum(axis=-1) > 0).sum()
        if hasattr(table, "counts")
        else len(table.parents) + 2  # a noisy-or: itself and anything else beside its parents
        for table in tables
    ]
    assert reader.page.locator("#tables tbody tr").count() == sum(seen)
    assert reader.text("#words pre") == str(node_explanation)
    assert "perturb_probability\t0.25" in reader.text("#setup")
    assert "seed\t0" in reader.text("#setup")
    assert f"numpy {np.__version__}" in reader.text("#setup")


def test_names_are_shown_as_plain_text(read, node_explanation):
    names = [f"{EVIL[at % len(EVIL)]} {at}" for at in range(16)]
    model = replace(node_explanation.settings.model, class_names=EVIL)
    settings = replace(node_explanation.settings, model=model)
    reader = read(replace(node_explanation, settings=settings).named(names))
    for node in node_explanation.nodes:
        reader.node(f"n{node}").locator(".title").click()
        assert reader.text("#dialog-title") == names[node]
        reader.page.keyboard.press("Escape")
    reader.open_details("ranking", "tables", "words", "setup")
    assert names[14] in reader.text("h1")
    assert EVIL[2] in reader.text("h1")
    assert reader.page.locator("img").count() == 0
    assert reader.page.locator("script").count() == 2


def test_the_content_security_policy_blocks_injected_scripts(browser, node_explanation, tmp_path):
    path = tmp_path / "page.html"
    node_explanation.to_html(path)
    evil = '<script>document.title = "broken"</script><img src="http://127.0.0.1:9/x.png">'
    path.write_text(path.read_text().replace("</body>", f"{evil}</body>"))
    page, requests = browser.new_page(), []
    page.on("requestfinished", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    assert page.title() == "Node 14 is predicted to be of class blue"
    assert requests == [path.as_uri()]
    with pytest.raises(Exception, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<b>x</b>'")
    page.close()


def luminance(reader):
    colour = reader.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(each) for each in colour[4:-1].split(","))


def test_dark_and_light_follow_the_system_until_switched(read, node_explanation):
    light = read(node_explanation, color_scheme="light")
    dark = read(node_explanation, color_scheme="dark")
    assert luminance(light) > 600
    assert luminance(dark) < 150
    for reader in (light, dark):
        before = luminance(reader)
        reader.page.locator("#theme").click()
        assert abs(luminance(reader) - before) > 450
        reader.page.locator("#theme").click()
        assert luminance(reader) == before


def test_nothing_is_cut_off_on_a_small_screen(read, explanations):
    for explanation in explanations.values():
        reader = read(explanation, viewport={"width": 360, "height": 740})
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 360


_SPARE = """() => {
    const box = (one) => one.getBoundingClientRect();
    const cards = [...document.querySelectorAll(".panel, #hero")].filter((one) => !one.hidden);
    const covered = cards.reduce((sum, one) => sum + box(one).width * box(one).height, 0);
    const all = [...document.querySelectorAll(".answers, .columns")];
    return 1 - covered / all.reduce((sum, one) => sum + box(one).width * box(one).height, 0);
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_no_space_is_left_empty_beside_the_cards(read, explanations, node_explanation, width):
    without = replace(node_explanation, network=None)
    for explanation in (*explanations.values(), without):
        page = read(explanation, viewport={"width": width, "height": 800}).page
        assert page.evaluate(_SPARE) < 0.06  # the gaps between them


def test_a_network_that_is_too_wide_has_a_bar_to_scroll_by(read, explanations):
    phone = {"viewport": {"width": 390, "height": 740}, "is_mobile": True, "has_touch": True}
    network = read(explanations["free"], **phone).page.locator("#network")
    assert network.evaluate("box => box.scrollWidth > box.clientWidth")
    assert network.evaluate("box => box.offsetHeight - box.clientHeight") >= 8


def test_marked_nodes_do_not_touch(read, explanations):
    for explanation in (explanations["free"], explanations["edge"], on_a_long_path()):
        reader = read(explanation)
        at = reader.page.locator("#picture .node:not(.other)").evaluate_all(
            """all => all.map((one) => {
                const { e, f } = one.transform.baseVal.consolidate().matrix;
                return [e, f];
            })"""
        )
        assert len(at) > 2
        apart = np.linalg.norm(np.array(at)[:, None] - at, axis=-1) + 999 * np.eye(len(at))
        assert apart.min() > 2 * 26  # the outermost mark around a node


def on_a_long_path():
    """Forty nodes in a row, of which the first depends on the next two: all three are near."""

    def model(x):
        score = np.zeros((*x.shape[:2], 1))
        score[:, 0, 0] = 8 * (x[:, 1, 0] + x[:, 2, 0] - 1)
        return np.concatenate([-score, score], axis=-1)

    x = np.random.default_rng(0).random((40, 1))
    edges = np.stack((np.arange(1, 40), np.arange(39)))
    options = {"num_layers": 39, "perturbation": "permute", "perturb_probability": 0.3}
    return PGMExplainer(model, x, edges, **options).explain(0)


def test_the_neighbours_of_the_target_are_named_while_few(read, node_explanation):
    reader, part = read(node_explanation), node_explanation.neighbourhood
    edges = part.nodes[part.edge_index]
    near = {int(b if a == 14 else a) for a, b in edges.T if 14 in (a, b)} - {14}
    named = set(reader.page.locator("#picture .other .name").all_text_contents())
    assert named == {str(node) for node in near - set(node_explanation.nodes)}
    assert named


def test_the_page_states_why_there_is_no_network(read, toy, node_explanation):
    constant = PGMExplainer(
        lambda x: np.ones((*x.shape[:2], 2)), toy.x, toy.edge_index, num_samples=800
    )
    reader = read(constant.explain(14))
    assert "the prediction never changed" in reader.text("#network")
    assert not reader.page.locator("#hero").is_visible()
    assert "Warning: the prediction was kept in all 800 samples" in reader.text("#warnings")
    assert "structure is None" in read(replace(node_explanation, network=None)).text("#network")


def test_a_large_neighbourhood_is_reduced_to_a_readable_size(read):
    size = 400
    edges = np.stack((np.arange(1, size), np.zeros(size - 1, dtype=int)))
    x = np.random.default_rng(0).random((size, 1))

    def model(x):
        score = np.zeros((*x.shape[:2], 1))
        score[:, 0, 0] = 6 * (x[:, 1, 0] + x[:, 2, 0] - x[:, 3, 0])
        return np.concatenate([-score, score], axis=-1)

    explanation = PGMExplainer(model, x, edges, num_layers=1, perturbation="permute").explain(0)
    reader = read(explanation)
    drawn = reader.page.locator("#picture .node").count()
    assert drawn <= 60
    assert f"{size - drawn} more nodes are not drawn" in reader.text("#picture-legend")
    for node in (0, *explanation.nodes):
        assert reader.node(f"n{node}", "picture").count() == 1
    reader.open_details("ranking")
    assert "199 more candidates are not listed" in reader.text("#ranking")


_OVERLAPS = """() => {
    const boxes = [...document.querySelectorAll("#picture .name:not(.unplaced, .in)")]
        .map((name) => [name.textContent, name.getBoundingClientRect()]);
    const found = [];
    boxes.forEach(([one, a], at) => boxes.slice(at + 1).forEach(([other, b]) => {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 3) found.push(`${one} and ${other}`);
    }));
    return [boxes.length, found];
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_names_in_the_picture_never_overlap(read, node_explanation, width):
    names = [f"account number {number}" for number in range(16)]
    reader = read(node_explanation.named(names), viewport={"width": width, "height": 900})
    count, overlaps = reader.page.evaluate(_OVERLAPS)
    assert count > 5
    assert overlaps == []
    hidden = reader.page.locator("#picture .unplaced").count()
    said = f"{hidden} name{'s are' if hidden > 1 else ' is'} hidden"
    assert (said in reader.text("#picture-legend")) == (hidden > 0)


def test_text_in_the_picture_can_be_read_on_a_phone(read, node_explanation):
    names = [f"account {number}" for number in range(16)]
    reader = read(node_explanation.named(names), viewport={"width": 390, "height": 900})
    heights = reader.page.evaluate(
        """() => [...document.querySelectorAll("#picture .name:not(.unplaced)")]
            .map((name) => name.getBoundingClientRect().height)"""
    )
    assert min(heights) > 10


def test_a_hidden_name_appears_when_pointed_at(read, node_explanation):
    names = [f"a very long name of account {number}" for number in range(16)]
    reader = read(node_explanation.named(names), viewport={"width": 390, "height": 900})
    name = reader.page.locator("#picture .unplaced").first
    assert not name.is_visible()
    node = name.locator("xpath=..")
    node.locator("path").last.hover(force=True)
    assert name.is_visible()


def test_edges_of_a_directed_graph_have_heads(read, node_explanation, toy):
    part = node_explanation.neighbourhood
    directed = {(u, v) for u, v in part.nodes[part.edge_index].T.tolist() if u != v}
    reader = read(node_explanation)
    assert reader.page.locator("#picture .link-head").count() == len(directed)
    assert "Arrowheads" in reader.text("#picture-legend")
    both = np.concatenate([toy.edge_index, toy.edge_index[::-1]], axis=1)
    options = {"num_layers": 1, "num_samples": 200}
    undirected = read(PGMExplainer(toy.part, toy.x, both, **options).explain(14))
    assert undirected.page.locator("#picture .link-head").count() == 0
    assert "Arrowheads" not in undirected.text("#picture-legend")


def test_node_types_have_shapes_and_a_legend(read, node_explanation):
    types = ("paper", "author", "venue")
    names = {node: (types[node % 3], node) for node in node_explanation.around.tolist()}
    reader = read(renamed(node_explanation, names, True))
    legend = reader.page.get_by_role("list", name="Node types")
    assert legend.locator("li").all_inner_texts() == ["venue", "author", "paper"]
    shapes = reader.page.evaluate(
        """() => new Set([...document.querySelectorAll("#picture .dot")]
            .map((dot) => dot.getAttribute("d").replace(/[^A-Z]/g, ""))).size"""
    )
    assert shapes > 1


def test_colours_of_nodes_without_classes_have_a_legend(read, explanations):
    reader = read(explanations["graph"])
    legend = reader.text("#picture-legend")
    for direction, text in (("falls", "lowers"), ("rises", "raises")):
        drawn = reader.page.locator(f"#picture .node.{direction}").count()
        assert (text in legend) == (drawn > 0)


def test_facts_are_readable_on_a_phone(read, node_explanation):
    """A long name is wrapped: the list once showed only its first letter."""
    names = [f"account number {number}" for number in range(16)]
    reader = read(node_explanation.named(names), viewport={"width": 390, "height": 900})
    cut = reader.page.evaluate(
        """() => [...document.querySelectorAll("#informative .fact b")]
            .filter((name) => name.scrollWidth > name.clientWidth + 1).length"""
    )
    assert reader.page.locator("#informative .fact").count() > 2
    assert cut == 0


def test_the_address_names_an_explanation(read, explanations):
    several = [explanations["node"], explanations["graph"]]
    reader = read(several)
    assert reader.text("#headline").startswith("Node 14")
    reader.page.evaluate("location.hash = '#1'")
    reader.page.wait_for_function("document.title.startsWith('The graph')")
    assert reader.page.locator("[aria-current] b").inner_text() == "graph"


def test_graphs_of_many_are_named_by_their_position(read):
    rng = np.random.default_rng(0)
    graphs = [(rng.normal(size=(4, 2)), np.array([[0, 1, 2], [1, 2, 3]])) for _ in range(3)]

    def model(x, edge_index):
        total = x.sum(axis=(1, 2))
        return np.stack([total, -total], axis=1)

    found = explain_graphs(model, graphs, num_samples=200, progress=False)
    reader = read(found)
    assert reader.page.locator("#entries b").all_inner_texts() == ["graph 0", "graph 1", "graph 2"]
    assert reader.text("#headline").startswith("Graph 0 is predicted")
