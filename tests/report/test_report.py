"""Words and pictures say what the explanation says, for every kind of explanation."""

import matplotlib as mpl
import numpy as np
import pytest

from pgm_explainer import PGMExplainer

mpl.use("agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def explainer(toy):
    return PGMExplainer(toy.whole, toy.x, toy.edge_index, num_layers=2)


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_the_words_name_prediction_nodes_and_probabilities(explainer):
    explanation = explainer.explain(14)
    words = str(explanation)
    assert f"class {explanation.predicted_class}" in words
    assert f"{explanation.probability:.3f}" in words
    for node in explanation.nodes:
        row = next(line for line in words.splitlines() if line.split()[:1] == [str(node)])
        assert f"{explanation.query({node: 'original'}):.1%}" in row
    assert explanation.network.factorisation in words


def test_the_words_say_so_when_nothing_changes(toy):
    constant = PGMExplainer(lambda x: np.ones((*x.shape[:2], 2)), toy.x, toy.edge_index)
    words = str(constant.explain(14))
    assert "held in all 800" in words
    assert "Network" not in words


def test_the_words_do_without_a_network(toy):
    found = PGMExplainer(toy.whole, toy.x, toy.edge_index, num_layers=2, structure=None).explain(14)
    assert found.network is None
    assert f"it depends most on {found.nodes[0]}" in str(found)


def test_the_words_of_a_node_that_stands_alone(explainer):
    assert "not found to depend on any other node" in str(explainer.explain(15))


def test_the_picture_shows_the_target_and_every_explaining_node(explainer):
    explanation = explainer.explain(14)
    shown = texts(explanation.plot())
    for node in [14, *explanation.nodes]:
        assert shown.count(str(node)) == 2  # once in the graph, once in the network


def test_nodes_may_have_names(explainer):
    explanation = explainer.explain(14)
    first = explanation.nodes[0]
    shown = texts(explanation.plot(names={14: "Ada", first: "<b>Bob</b>"}))
    assert shown.count("Ada") == 2
    assert shown.count("<b>Bob</b>") == 2


def test_hundreds_of_neighbours_are_cut_down_to_what_can_be_read():
    size = 400
    edges = np.stack((np.arange(1, size), np.zeros(size - 1, dtype=int)))
    x = np.random.default_rng(0).random((size, 1))

    def model(x):
        score = np.zeros((*x.shape[:2], 1))
        score[:, 0, 0] = 6 * (x[:, 1, 0] + x[:, 2, 0] - x[:, 3, 0])
        return np.concatenate([-score, score], axis=-1)

    explanation = PGMExplainer(model, x, edges, num_layers=1, perturbation="permute").explain(0)
    figure = explanation.plot(max_shown=30)
    left = figure.axes[0]
    assert len(left.collections) == 30
    assert "370 further nodes not drawn" in left.get_title()


@pytest.mark.parametrize("task", ["graph", "edge"])
def test_other_tasks_are_shown_too(toy, task):
    if task == "graph":
        found = PGMExplainer(toy.graph_level, toy.x, toy.edge_index, task="graph").explain()
        assert str(found).startswith("The graph is predicted")
    else:

        def link(x, pairs):
            score = (toy.whole(x)[:, pairs[0]] * toy.whole(x)[:, pairs[1]]).sum(-1, keepdims=True)
            return np.concatenate([-score, score], axis=-1)

        found = PGMExplainer(link, toy.x, toy.edge_index, task="edge").explain((14, 2))
        assert str(found).startswith("The pair (14, 2) is predicted")
    assert str(found.nodes[0]) in texts(found.plot())


def test_a_picture_of_nothing_learnt_says_why(toy):
    constant = PGMExplainer(lambda x: np.ones((*x.shape[:2], 2)), toy.x, toy.edge_index)
    assert "the prediction never changed" in " ".join(texts(constant.explain(14).plot()))


def test_the_words_say_what_the_targets_own_features_do(explainer):
    explanation = explainer.explain(14)
    row = next(line for line in str(explanation).splitlines() if "(the target)" in line)
    assert f"{explanation.query({14: 'original'}):.1%}" in row
    assert f"{explanation.query({14: 'perturbed'}):.1%}" in row
