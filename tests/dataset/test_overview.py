"""The view over a whole data set: counted right, shown as text, picture and page."""

import re
import warnings
from collections import Counter, defaultdict
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from job_models import NODES, explainer, fails_near_marked

from pgm_explainer import InputError
from pgm_explainer.dataset import ExplanationDataset, Influence, Overview, Shared, explain_dataset
from pgm_explainer.dataset.targets_table import target_rows
from pgm_explainer.report.html.overview import overview_page
from pgm_explainer.report.names import width


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    made = explainer(fails_near_marked, max_nodes=2)
    return explain_dataset(made, None, folder, shard_size=25, with_features=True)


def test_the_counts_match_the_explanations(data):
    view = data.overview(top=1000)
    explanations = list(data)
    assert (view.explained, view.failed) == (len(explanations), len(data.failures()))
    assert view.explained + view.failed == NODES == view.targets
    assert sum(view.errors.values()) == view.failed
    assert view.unchanged == sum(each.held == 1 for each in explanations)
    stayed = [each.class_stayed for each in explanations]
    assert view.class_stayed == pytest.approx(sum(stayed) / len(stayed))
    assert f"in {view.class_stayed:.1%} of perturbed graphs, on average" in str(view)
    found = [significant(each) for each in explanations]
    assert view.unaffected == sum(not effects for effects in found)
    assert view.own == sum(
        each.target in effects for each, effects in zip(explanations, found, strict=True)
    )
    assert view.in_points
    sets = Counter(frozenset(each.nodes) for each in explanations if each.nodes)
    shared = {frozenset(each.nodes): len(each.targets) for each in view.shared}
    assert shared == {nodes: count for nodes, count in sets.items() if count > 1}
    assert {each.what for each in view.features} <= {0, 1, 2}
    assert view.kinds == []
    assert view.throughput == pytest.approx((view.explained + view.failed) / view.seconds)


def significant(explanation):
    """The significant effects that a data set keeps, by node."""
    return {each.node: each.effect for each in explanation.effects if each.significant}


def test_causes_are_counted_with_their_mean_effect(data):
    sizes = defaultdict(list)
    for explanation in data:
        for node, effect in significant(explanation).items():
            if node != explanation.target:
                sizes[node].append(abs(effect))
    view = data.overview(top=1000)
    assert {each.what: each.predictions for each in view.causes} == {
        node: len(some) for node, some in sizes.items()
    }
    for each in view.causes:
        assert each.size == pytest.approx(np.mean(sizes[each.what]))
    order = [(-each.predictions, -each.predictions * each.size) for each in view.causes]
    assert order == sorted(order)


def test_along_lists_network_nodes_without_significant_effect(data):
    sizes = defaultdict(list)
    for explanation in data:
        ranked = {each.node: each.effect_size for each in explanation.ranking}
        for node in explanation.nodes:
            if node not in significant(explanation):
                sizes[node].append(ranked[node])
    assert sizes, "or this test could not fail"
    view = data.overview(top=1000)
    assert {each.what: each.predictions for each in view.along} == {
        node: len(some) for node, some in sizes.items()
    }
    for each in view.along:
        assert each.size == pytest.approx(np.mean(sizes[each.what]))


def test_effects_on_values_have_no_points(tmp_path):
    made = explainer(scores="values", num_samples=100)
    view = explain_dataset(made, range(10), tmp_path).overview()
    assert view.causes
    assert not view.in_points
    assert "points" not in str(view)


def test_the_rows_hold_the_effects(data):
    """The column that any Parquet reader sees: a list of structs, the target's own among them."""
    names = ("effect", "low", "high", "strength", "log_p", "significant")
    none = {"kind": None, "part": None, "type": None}
    rows = [row for row in data.rows(["target", "error", "effects"]) if row["error"] is None]
    for row, explanation in zip(rows, data, strict=True):
        assert row["effects"] == [
            {**none, "node": each.node, **{name: getattr(each, name) for name in names}}
            for each in explanation.effects
        ]
        assert row["target"] in [each["node"] for each in row["effects"]]


def test_of_many_effects_the_strongest_are_kept(tmp_path):
    made = explainer(num_samples=200, max_nodes=2)
    whole = made.explain(7)
    kept = explain_dataset(made, [7], tmp_path, keep_candidates=3)[7]
    assert len(kept.effects) < len(whole.effects)
    assert kept.effects.left_out == len(whole.effects) - len(kept.effects)
    assert [each.node for each in kept.effects][:3] == [each.node for each in whole.effects][:3]
    assert {7, *whole.nodes} <= {each.node for each in kept.effects}
    assert f"of {len(whole.effects)} nodes have a significant effect" in str(kept)


def test_top_is_how_many(data):
    assert len(data.overview(top=3).causes) == 3
    with pytest.raises(InputError, match="top"):
        data.overview(top=0)


def test_the_text_names_the_most_frequent_nodes(data):
    text = str(data.overview())
    assert f"{NODES} of {NODES}" in text
    assert "no service for the marked node" in text
    assert "Nodes that change the most predictions" in text
    assert "Other nodes that depend on the most predictions" in text
    first = data.overview().causes[0]
    line = f"{first.what}  {first.predictions}; mean |effect| {100 * first.size:.1f} points"
    assert line in " ".join(text.split(" ")).replace("   ", "  ")


def test_the_picture_has_a_panel_for_each_question(data):
    figure = data.overview().plot()
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[0].startswith("Features that change")
    for words in ("Nodes that change", "Other nodes that depend", "Features that change"):
        assert any(title.startswith(words) for title in titles)


def test_an_overview_without_results_can_be_shown(tmp_path):
    made = explainer(lambda x, edge_index: 0 * x)
    view = explain_dataset(made, [1, 2], tmp_path).overview()
    assert (view.unchanged, view.unaffected) == (2, 2)
    assert view.causes == view.along == view.shared == []
    assert "2 predictions" in str(view)
    assert len(view.plot().axes) == 1
    view.to_html(tmp_path / "page.html")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.open, self.words = Counter(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def view_of(name):
    """An overview in which everything is called so."""
    return Overview(
        folder=name,
        targets=2,
        explained=1,
        failed=1,
        errors={name: 1},
        unchanged=0,
        unaffected=0,
        own=1,
        seconds=1.5,
        in_points=True,
        causes=[Influence(name, 3, 0.5), Influence("b", 1, 0.5)],
        along=[Influence(name, 1, 0.5)],
        kinds=[Influence(name, 3, 0.5)],
        features=[Influence((name, 4), 2, 0.25)],
        shared=[Shared((name, "b"), (name, "c"))],
    )


@pytest.mark.parametrize(
    "name",
    ["two\nlines", "\x1b[31mred", "\u202eback", "$a_{$", "$\\frac{$", "n" * 500, "東京" * 40],
)
def test_any_name_can_be_printed_and_drawn(name, tmp_path):
    view, plain = view_of(name), view_of("a")
    lines = str(view).splitlines()
    assert len(lines) == len(str(plain).splitlines())
    assert all(line.isprintable() for line in lines)
    first, second = [line for line in lines if "; mean |effect|" in line][1:3]
    assert width(first.partition("3; ")[0]) == width(second.partition("1; ")[0]) < 50
    page = tmp_path / "page.html"
    view.to_html(page)
    assert all(line.isprintable() for line in page.read_text().splitlines() if "<td>" in line)
    figure = view.plot()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the font is not ours to choose
        figure.savefig(tmp_path / "view.png")


def test_the_page_is_whole_static_and_escaped(tmp_path):
    evil = "<script>alert('&')</script>"
    view = replace(view_of(evil), shared=[Shared((evil,), tuple(range(100)))])
    view.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    page = Tags()
    page.feed(text)
    assert "default-src 'none'" in text
    assert any("--target TARGET" in words for words in page.words)
    assert page.open == []
    assert page.tags["script"] == 0
    assert page.tags["table"] == 6
    assert any(evil in words for words in page.words)
    assert any("and 94 more" in words for words in page.words)


def test_a_data_set_may_be_read_while_the_job_runs(tmp_path):
    seen = []

    class Watched:
        def map(self, prepare, tasks):
            for answer in map(prepare(), tasks):
                seen.append(len(ExplanationDataset(tmp_path)))
                yield answer

    explain_dataset(explainer(), range(30), tmp_path, engine=Watched(), shard_size=10)
    assert seen == [0, 10, 20]


def test_the_bars_of_a_list_have_a_column_of_their_own(tmp_path):
    """So that they start at the same place, however many digits the numbers before them have."""
    view = replace(view_of("a"), features=[Influence(0, 60, 0.25), Influence(1, 9, 0.125)])
    view.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    (listed,) = re.findall(r"<h2>Features that change.*?</section>", text, re.DOTALL)
    assert '<th scope="col" colspan="2">predictions</th>' in listed
    rows = re.findall(r"<tr>(<td>.*?)</tr>", listed)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    assert [row[:2] + row[3:] for row in cells] == [
        ["0", "60", "25.0 points"],
        ["1", "9", "12.5 points"],
    ]
    assert [row[2] for row in cells] == [
        f'<meter max="60" value="{value}"></meter>' for value in (60, 9)
    ]


def test_the_table_lists_every_target_and_failure(data):
    rows = {row.target: row for row in target_rows(data)}
    failed = data.failures()
    assert len(rows) == len(data) == NODES
    assert {name for name, row in rows.items() if row.error} == set(map(str, failed))
    for explanation in data:
        row = rows[str(explanation.target)]
        significant = [each for each in explanation.effects if each.significant]
        significant.sort(key=lambda each: -abs(each.effect))
        assert row.significant == len(significant)
        assert row.kept == explanation.class_stayed
        assert row.probability == explanation.probability
        assert row.warnings == tuple(w for w in explanation.warnings if "data set kept" not in w)
        if significant:
            own = " (target)" if significant[0].node == explanation.target else ""
            assert row.cause == f"{significant[0].node}{own}"
            assert row.effect == significant[0].effect
        others = [each for each in significant if each.node != explanation.target]
        own = [each for each in significant if each.node == explanation.target]
        assert row.own == (own[0].effect if own else None)
        assert row.other == (str(others[0].node) if others else None)
        assert row.other_effect == (others[0].effect if others else None)


def test_the_target_itself_and_other_parts_have_columns_of_their_own(data, tmp_path):
    rows = [row for row in target_rows(data) if not row.error]
    assert any(row.own is not None and row.other for row in rows)
    page = tmp_path / "all.html"
    data.overview().to_html(page, max_pages=0)
    assert 'data-column="own"' in page.read_text()
    assert 'data-column="other"' in page.read_text()
    without = overview_page(data.overview(), [replace(row, own=None) for row in rows])
    assert 'data-column="effect"' in without
    assert 'data-column="own"' not in without


def test_pages_are_bounded_and_in_files_beside_the_overview(data, tmp_path, monkeypatch):
    monkeypatch.setattr("pgm_explainer.dataset.targets_table._PER_FILE", 10)
    page = tmp_path / "all.html"
    data.overview().to_html(page, max_pages=21)
    files = sorted((tmp_path / "all_pages").iterdir())
    assert [file.name for file in files] == ["0.html", "1.html", "2.html"]
    assert '"pages":21' in page.read_text()
    assert "The first 21 can be opened" in page.read_text()
    with pytest.raises(InputError, match="max_pages"):
        data.overview().to_html(page, max_pages=-1)


def test_a_small_data_set_is_one_file(data, tmp_path):
    data.overview().to_html(tmp_path / "all.html", max_pages=3)
    assert [file.name for file in tmp_path.iterdir()] == ["all.html"]
