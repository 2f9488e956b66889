"""The plots show the explanation and are readable."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.text import Text
from skimage.segmentation import find_boundaries

from pgm_explainer import InputError
from pgm_explainer.explanation import renamed
from pgm_explainer.report.colours import (
    BAR_COLOURS,
    CHANGED,
    CLASSES,
    FALLS,
    KEPT,
    RISES,
    UNCLEAR,
    class_colours,
    ink_on,
)
from pgm_explainer.report.effects import shown_effects
from pgm_explainer.report.plots import plot_superpixels
from pgm_explainer.report.plots.superpixels import draw_superpixels

LONG = [f"Department of Computational $x_1$ Biology {number}" for number in range(600)]


def texts(axes):
    return [text.get_text() for text in axes.texts]


def legend_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def marks(axes):
    return [each for each in axes.collections if isinstance(each, PathCollection)]


def drawn(figure):
    figure.canvas.draw()
    return figure


def overlap(boxes):
    """The largest share of a box that another one covers."""
    worst = 0.0
    for one, other in combinations(boxes, 2):
        common = one.intersection(one, other)
        if common is not None:
            smaller = min(one.width * one.height, other.width * other.height)
            worst = max(worst, common.width * common.height / smaller)
    return worst


@pytest.mark.parametrize("kind", ["children", "levels", "graph", "edge", "values", "alone"])
def test_every_kind_of_explanation_can_be_drawn_in_every_way(kinds, kind):
    for plot in ("both", "effects", "ranking"):
        kinds[kind].plot(plot).draw_without_rendering()


def test_another_kind_of_plot_is_refused(kinds):
    with pytest.raises(InputError, match="unknown kind of plot 'pie'; choose one of: both"):
        kinds["node"].plot("pie")
    with pytest.raises(InputError, match="kind must be a name"):
        kinds["node"].plot(3)


def test_the_picture_shows_the_target_and_every_explaining_node(kinds):
    explanation = kinds["node"]
    left, right = explanation.plot().axes
    for node in [14, *explanation.nodes]:
        assert texts(left).count(str(node)) == texts(right).count(str(node)) == 1


def test_nodes_are_coloured_by_the_class_predicted_of_them(toy, explain):
    names = ["$\\alpha$", "_hidden", "<b>"]
    explanation = explain(class_names=names)
    axes = explanation.plot("neighbourhood").axes[0]
    classes = toy.whole(toy.x[None])[0].argmax(axis=-1)
    around = explanation.neighbourhood.nodes
    expected = sorted(to_rgb(CLASSES[classes[node]]) for node in around)
    assert sorted(tuple(mark.get_facecolor()[0][:3]) for mark in marks(axes)) == expected
    shown = [names[number] for number in sorted(set(classes[around].tolist()))]
    verbs = [f"perturbing it {verb} the probability of class <b>" for verb in ("lowers", "raises")]
    verbs.append("direction not clear")
    assert legend_of(axes) == ["target", "node of the network", *verbs, *shown]


def test_marks_are_as_large_as_effects_are_strong_and_outlined_by_direction(kinds):
    explanation = kinds["node"]
    axes = explanation.plot("neighbourhood").axes[0]
    drawn = dict(zip(explanation.neighbourhood.nodes.tolist(), marks(axes), strict=True))
    found = {each.node: each for each in explanation.effects if each.significant}
    sizes = {node: drawn[node].get_sizes()[0] for node in explanation.nodes}
    strengths = {node: found[node].strength for node in explanation.nodes}
    assert sorted(sizes, key=sizes.get) == sorted(strengths, key=strengths.get)
    outlines = {node: to_hex(drawn[node].get_edgecolor()[0]).upper() for node in explanation.nodes}
    for node, outline in outlines.items():
        low, high = found[node].low, found[node].high
        assert outline == (FALLS if high < 0 else RISES if low > 0 else UNCLEAR)
    assert {FALLS, RISES, UNCLEAR} == set(outlines.values())


def test_nodes_without_a_class_are_filled_by_direction(kinds):
    explanation = kinds["graph"]
    axes = explanation.plot("neighbourhood").axes[0]
    filled = [to_hex(mark.get_facecolor()[0]).upper() for mark in marks(axes)]
    falls = [each for each in explanation.effects if each.high < 0]
    lowering = [each for each in falls if each.significant and each.node in explanation.nodes]
    assert filled.count(FALLS) == len(lowering) > 0
    assert "perturbing it lowers the probability of class 2" in legend_of(axes)


def bars(axes):
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


@pytest.mark.parametrize("kind", ["node", "values", "graph", "edge"])
def test_effects_are_bars_with_intervals(kinds, kind):
    explanation = kinds[kind]
    axes = explanation.plot("effects").axes[0]
    factor = 1 if kind == "values" else 100
    np.testing.assert_allclose(
        [bar.get_width() for bar in bars(axes)], factor * explanation.effects.effect
    )
    ends = [whisker.get_segments()[0][:, 0] for whisker in axes.collections]
    expected = np.stack((explanation.effects.low, explanation.effects.high), axis=1)
    np.testing.assert_allclose(ends, factor * expected)
    colours = [to_hex(bar.get_facecolor()).upper() for bar in bars(axes)]
    shown = shown_effects(explanation, significant=False)
    for colour, each in zip(colours, shown, strict=True):
        assert colour == BAR_COLOURS[each.direction]
    marked = [text.get_text() for text in axes.get_yticklabels() if "(target)" in text.get_text()]
    assert len(marked) == len(explanation.ends)


def test_falls_and_rises_differ_in_grey_print_too(kinds):
    axes = kinds["node"].plot("effects").axes[0]
    hatches = {to_hex(bar.get_facecolor()).upper(): bar.get_hatch() for bar in bars(axes)}
    assert (hatches[FALLS], hatches[RISES] or "", hatches[UNCLEAR]) == ("////", "", "....")


def test_of_many_effects_the_strongest_are_drawn_and_the_targets_own(crowd):
    explanation = crowd(80)
    axes = explanation.plot("effects", max_shown=6).axes[0]
    assert len(bars(axes)) == 7
    assert axes.get_yticklabels()[-1].get_text() == "0 (target)"
    assert "73 more are not drawn" in axes.get_title()
    assert len(bars(explanation.plot("effects").axes[0])) in (20, 21)


def test_more_classes_than_colours_leave_the_rest_grey():
    colours = class_colours(range(12), first=9)
    assert len(colours) == len(set(colours.values())) == 8
    assert 9 in colours
    assert class_colours([5, 2], first=5) == {2: CLASSES[2], 5: CLASSES[5]}
    assert class_colours([], None) == {}


def test_no_class_looks_like_kept_or_changed_and_these_differ_in_grey_print_too(kinds):
    assert not {KEPT, CHANGED}.intersection(CLASSES[:6])
    figure = kinds["node"].plot("network")
    bars = [each for each in figure.axes[0].patches if isinstance(each, Rectangle)]
    hatched = {to_hex(each.get_facecolor()).upper(): bool(each.get_hatch()) for each in bars}
    assert hatched == {KEPT: False, CHANGED: True}


def test_no_class_has_the_colour_of_an_effect():
    assert not {FALLS, RISES}.intersection(CLASSES)


def test_colours_differ_in_grey_print_too():
    def lightness(colour):
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
        ]
        luminance = float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
        return 116 * np.cbrt(luminance) - 16

    first = [lightness(colour) for colour in CLASSES[:4]]
    assert min(abs(a - b) for a, b in combinations(first, 2)) > 8
    for colour in CLASSES:
        assert abs(lightness(colour) - lightness(ink_on(colour))) > 45


@pytest.mark.parametrize("size", [6, 60, 501])
def test_any_number_of_neighbours_can_be_read(crowd, size):
    explanation = crowd(size, 4)
    axes = explanation.plot("neighbourhood").axes[0]
    assert len(marks(axes)) == min(size, 60)
    hidden = f"; not drawn: {size - 60}" if size > 60 else ""
    title = f"(in the network: {len(explanation.nodes)} of {size - 1} nodes{hidden})"
    assert axes.get_title().endswith(title)
    figure = drawn(axes.figure)
    assert overlap([text.get_window_extent() for text in axes.texts]) < 0.3
    plt.close(figure)
    assert len(marks(explanation.plot("neighbourhood", max_shown=8).axes[0])) <= 8


def test_long_names_stay_apart_and_inside_their_boxes(crowd):
    explanation = crowd(60, 5).named(LONG)
    left, right = drawn(explanation.plot()).axes
    names = [text for text in left.texts if "Biology" in text.get_text()]
    assert len(names) == 1 + len(explanation.nodes)
    assert overlap([text.get_window_extent() for text in names]) < 0.05
    boxes = [patch.get_window_extent() for patch in right.patches if type(patch) is FancyBboxPatch]
    assert overlap(boxes) == 0
    for text in right.texts:
        inside = text.get_window_extent()
        assert any(
            box.x0 - 2 <= inside.x0
            and inside.x1 <= box.x1 + 2
            and box.y0 <= inside.y0
            and inside.y1 <= box.y1
            for box in boxes
        ), text.get_text()


@pytest.mark.parametrize("no_child", [True, False])
def test_many_variables_keep_clear_of_each_other(crowd, no_child):
    explanation = crowd(30, 9, max_nodes=9, num_samples=3000, no_child=no_child)
    assert len(explanation.nodes) > 8
    axes = drawn(explanation.plot("network")).axes[0]
    boxes = [patch.get_window_extent() for patch in axes.patches if type(patch) is FancyBboxPatch]
    assert len(boxes) == 1 + len(explanation.nodes)
    assert overlap(boxes) == 0
    assert axes.figure.get_size_inches()[0] < 14


def test_every_variable_shows_its_probability(kinds):
    node, graph = kinds["node"], kinds["graph"]
    shown = texts(node.plot("network").axes[0])
    assert f"kept {node.query():.0%}" in shown
    variable = node.network.variable(node.nodes[0])
    kept = node.network.query(variable.id)[variable.matching("kept")].sum()
    assert f"kept {kept:.0%}" in shown
    assert any(text.startswith("original 7") for text in texts(graph.plot("network").axes[0]))


@pytest.mark.parametrize("correction", ["none", "benjamini_hochberg"])
@pytest.mark.parametrize("size", [6, 80])
def test_the_line_separates_the_significant_ones(crowd, correction, size):
    explanation = crowd(size, correction=correction)
    ranking = explanation.ranking
    axes = explanation.plot("ranking", max_shown=100).axes[0]
    bars = np.array([patch.get_width() for patch in axes.patches])
    np.testing.assert_allclose(bars, -ranking.log_p / np.log(10))
    line = axes.lines[0].get_xdata()[0]
    np.testing.assert_array_equal(bars > line, ranking.significant)


def test_there_is_no_line_to_exceed_where_nothing_changed(kinds):
    explanation = kinds["constant"]
    assert explanation.held == 1
    assert not explanation.ranking.significant.any()
    assert not explanation.plot("ranking").axes[0].lines


def test_a_ranking_says_how_much_of_it_is_not_drawn(crowd, kinds):
    axes = crowd(80).plot("ranking").axes[0]
    assert len(axes.patches) == 20
    assert "59 more are not drawn" in axes.get_title()
    assert "no nodes to rank" in texts(kinds["alone"].plot("ranking").axes[0])[0]
    assert "14 – 2" in kinds["edge"].plot("ranking").axes[0].get_title()


@pytest.mark.parametrize("kind", ["ranking", "effects"])
@pytest.mark.parametrize("names", [range(600), LONG])
@pytest.mark.parametrize("size", [3, 6, 80])
def test_the_legend_covers_nothing_and_all_is_on_the_page(crowd, size, names, kind):
    explanation = crowd(size, 7 if size > 6 else 2, max_nodes=2).named(names[:size])
    axes = drawn(explanation.plot(kind)).axes[0]
    shown, title = axes.get_legend().get_window_extent(), axes.title.get_window_extent()
    label = axes.xaxis.label.get_window_extent()
    assert shown.y1 <= label.y0 < axes.get_window_extent().y0
    page = axes.figure.bbox
    assert min(shown.y0, shown.x0, title.x0) >= 0
    assert max(shown.x1, title.x1) <= page.x1
    assert title.y1 <= page.y1


def test_a_ranking_says_what_depends_on_what(crowd):
    title = crowd(6).plot("ranking").axes[0].get_title()
    assert title == "How strongly the prediction of 0 depends on each node"


def test_a_plot_without_a_network_states_why(kinds):
    assert "the prediction never changed" in texts(kinds["constant"].plot("network").axes[0])[0]
    assert "structure is None" in texts(kinds["no network"].plot("network").axes[0])[0]


@pytest.fixture
def picture():
    segments = np.kron(np.arange(16).reshape(4, 4), np.ones((5, 5), dtype=int))
    segments[2, 2:9] = 0  # a bent one
    return np.random.default_rng(0).random(segments.shape), segments


def test_superpixels_are_outlined_and_numbered(picture, kinds):
    image, segments = picture
    figure = plot_superpixels(image, segments, {"found": kinds["node"], "other": [3, 0]})
    plain, every, found, other = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["image", "superpixels", "found", "other"]
    assert not plain.collections
    assert texts(found) == [str(rank + 1) for rank in range(len(kinds["node"].nodes))]
    for axes, nodes in ((found, kinds["node"].nodes), (other, [3, 0])):
        for text, node in zip(axes.texts, nodes, strict=True):
            column, row = text.get_position()
            assert segments[int(row), int(column)] == node
    touched = np.zeros(segments.shape, dtype=bool)
    for (x0, y0), (x1, y1) in every.collections[0].get_segments():
        rows = {int(np.floor(min(y0, y1) + 0.5)), int(np.floor(max(y0, y1)))}
        columns = {int(np.floor(min(x0, x1) + 0.5)), int(np.floor(max(x0, x1)))}
        if x0 == x1:
            columns = {int(x0 - 0.5), int(x0 + 0.5)}
        else:
            rows = {int(y0 - 0.5), int(y0 + 0.5)}
        for row in rows:
            for column in columns:
                touched[row, column] = True
    np.testing.assert_array_equal(touched, find_boundaries(segments, connectivity=1))


def test_superpixels_that_do_not_fit_are_refused(picture):
    image, segments = picture
    axes = plt.figure().add_subplot()
    with pytest.raises(InputError, match=r"the image is \(19, 20\), segments \(20, 20\)"):
        draw_superpixels(axes, image[:-1], segments)
    with pytest.raises(InputError, match="no pixel belongs to node 99"):
        draw_superpixels(axes, image, segments, [99])


@pytest.mark.parametrize(
    ("kind", "options", "named"),
    [
        ("network", {"max_shown": 3}, "'network' takes no max_shown"),
        (
            "ranking",
            {"colour": "red"},
            "'ranking' takes no colour; its options are figsize, font_size, ax, max_",
        ),
        ("both", {"max_shown": 0}, "at least 1, not 0"),
        ("neighbourhood", {"max_shown": "all"}, "a whole number, not 'all'"),
    ],
)
def test_options_that_a_plot_does_not_have_are_refused(crowd, kind, options, named):
    with pytest.raises(InputError, match=named):
        crowd(6, 2).plot(kind, **options)


@pytest.mark.parametrize("kind", ["effects", "neighbourhood", "network", "ranking"])
def test_a_plot_can_be_drawn_into_given_axes(kinds, kind):
    figure, grid = plt.subplots(1, 2, figsize=(8, 4))
    assert kinds["node"].plot(kind, ax=grid[1]) is figure
    assert grid[1].get_title()
    assert not grid[0].has_data()
    assert plt.get_fignums() == [figure.number]


def test_a_plot_with_two_axes_takes_no_axes(kinds):
    _, axes = plt.subplots()
    with pytest.raises(InputError, match=r"'both' takes no ax; .* two axes"):
        kinds["node"].plot("both", ax=axes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"figsize": 3}, "width and height in inches, not 3"),
        ({"figsize": (3, -1)}, "figsize must be a number between 0.1 and 1000, not -1"),
        ({"figsize": (3, float("nan"))}, "figsize must be a number"),
        ({"font_size": "large"}, "font_size must be a number between 0.1 and 1000, not 'large'"),
        ({"ax": 7}, "ax must be the axes of matplotlib"),
    ],
)
def test_sizes_and_axes_are_checked(kinds, options, message):
    with pytest.raises(InputError, match=message):
        kinds["node"].plot("network", **options)
    assert not plt.get_fignums()


def test_a_size_may_be_any_kind_of_number(kinds):
    figure = kinds["node"].plot("network", figsize=(Fraction(7, 2), np.float32(3)))
    assert figure.get_size_inches().tolist() == [3.5, 3]
    plt.close(figure)


def test_axes_have_their_own_size(kinds):
    _, axes = plt.subplots()
    with pytest.raises(InputError, match="figsize is the size of a new figure"):
        kinds["node"].plot("network", ax=axes, figsize=(3, 3))


@pytest.mark.parametrize("kind", ["effects", "neighbourhood", "network", "ranking"])
@pytest.mark.parametrize("long", [False, True])
def test_a_column_of_a_paper_is_readable(crowd, kind, long):
    """In 3.3 by 2.5 inches, no text is cut off, and names do not overlap."""
    explanation = crowd(60, 5).named(LONG) if long else crowd(60, 5)
    figure = drawn(explanation.plot(kind, figsize=(3.3, 2.5)))
    axes = figure.axes[0]
    assert tuple(figure.get_size_inches()) == (3.3, 2.5)
    whole = figure.bbox
    rows = axes.get_yticklabels() if kind in ("effects", "ranking") else []
    named = [*axes.texts, *rows]
    shown = [text for text in named if text.get_text() and text.get_visible()]
    for text in [*shown, axes.title, *(axes.get_legend().get_texts() if axes.get_legend() else [])]:
        box = text.get_window_extent()
        assert box.x0 >= -3, text.get_text()
        assert box.x1 <= whole.x1 + 3, text.get_text()
        assert text.get_size() >= 5, text.get_text()
    if kind in ("effects", "ranking"):
        assert "more are not drawn" in axes.get_title()
        shown = axes.get_yticklabels()
    assert overlap([Text.get_window_extent(text) for text in shown]) < 0.12


@pytest.mark.parametrize("kind", ["effects", "ranking"])
def test_rows_of_a_small_plot_do_not_overlap(crowd, kind):
    """By default, without a font size."""
    figure = drawn(crowd(40).plot(kind, figsize=(3.3, 2.5)))
    (axes,) = figure.axes
    names = [each for each in axes.get_yticklabels() if each.get_text()]
    assert len(names) >= 4
    assert all(each.get_size() >= 6 for each in (*names, axes.title))
    assert overlap([each.get_window_extent() for each in names]) == 0
    with plt.rc_context({"font.size": 12}):  # which the user has chosen
        assert crowd(40).plot(kind, figsize=(3.3, 2.5)).axes[0].title.get_size() == 12


def test_text_has_the_size_that_is_wanted(kinds):
    for size in (8, 14):
        axes = kinds["node"].plot("effects", font_size=size).axes[0]
        assert axes.title.get_size() == pytest.approx(size)
        assert axes.get_yticklabels()[0].get_size() == pytest.approx(0.9 * size)
    assert plt.rcParams["font.size"] == 10


def heads(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]


def test_edges_of_a_directed_graph_have_heads_where_they_point(kinds):
    explanation = kinds["node"]
    part = explanation.neighbourhood
    directed = {(u, v) for u, v in part.nodes[part.edge_index].T.tolist() if u != v}
    assert any((v, u) not in directed for u, v in directed)
    assert len(heads(explanation.plot("neighbourhood").axes[0])) == len(directed)


def test_an_undirected_graph_has_no_heads(parts):
    assert not heads(parts["nodes"].plot("neighbourhood").axes[0])


def typed(explanation, types=("paper", "author", "venue")):
    names = {node: (types[node % 3], node) for node in explanation.around.tolist()}
    return renamed(explanation, names, True)


def test_node_types_have_shapes_and_a_legend(kinds):
    explanation = typed(kinds["node"])
    axes = explanation.plot("neighbourhood").axes[0]
    legend = legend_of(axes)
    assert legend[0] == "target (venue)"  # node 14
    assert {"paper", "author", "venue"} <= set(legend)
    corners = {len(mark.get_paths()[0].vertices) for mark in marks(axes)}
    assert len(corners) >= 3
    assert "author" not in legend_of(kinds["node"].plot("neighbourhood").axes[0])


def test_names_never_overlap_and_the_title_counts_those_left_out(crowd):
    explanation = crowd(60, 12, max_nodes=12, num_samples=3000).named(LONG)
    for figsize in ((6.5, 6.5), (4, 4), (3.3, 2.5)):
        figure = drawn(explanation.plot("neighbourhood", figsize=figsize, font_size=10))
        axes = figure.axes[0]
        boxes = [Text.get_window_extent(text) for text in axes.texts]  # without a line to the mark
        assert overlap(boxes) == 0
        left_out = 1 + len(explanation.nodes) - len(boxes)
        said = "names left out for lack of space: "
        title = axes.get_title().replace("\n", " ")
        assert (f"{said}{left_out})" in title) if left_out else (said not in title)
    assert left_out > 0


@pytest.mark.parametrize("kind", ["both", "network"])
def test_boxes_of_a_network_of_full_size_keep_their_shape(kinds, kind):
    axes = drawn(kinds["node"].plot(kind)).axes[-1]
    boxes = [patch.get_window_extent() for patch in axes.patches if type(patch) is FancyBboxPatch]
    for box in boxes:
        assert box.width / box.height == pytest.approx(2.05, rel=0.05)
