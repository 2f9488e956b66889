"""How sure each edge is: the bootstrap of a network, in every output."""

import json
import re

import numpy as np
import pytest

from pgm_explainer import Explanation, FileError, InputError, PGMExplainer, QueryError
from pgm_explainer.learning import Problem, learn_networks, resampled_edges

EDGES = np.array([[1, 2, 3, 4, 5], [0, 0, 0, 1, 2]])


def model(x):
    adjacency = np.zeros((6, 6))
    adjacency[EDGES[1], EDGES[0]] = 1
    hidden = np.tanh(adjacency @ x + x)
    score = (adjacency @ hidden + hidden).sum(axis=-1, keepdims=True)
    return np.concatenate([-score, score], axis=-1)


def explained(**options):
    x = np.random.default_rng(3).normal(size=(6, 2))
    options = {"num_samples": 400, "num_layers": 2, **options}
    return PGMExplainer(model, x, EDGES, **options).explain(0)


@pytest.fixture(scope="module")
def explanation():
    return explained().with_edge_confidence(50)


def test_edges_of_the_network_come_first_with_their_shares(explanation):
    found = explanation.edge_confidence.edges(explanation.network)
    inside = [each for each in found if each.in_network]
    assert {(each.parent, each.child) for each in inside} == set(explanation.network.edges)
    assert found[: len(inside)] == inside
    assert all(0 <= each.share <= 1 for each in found)
    assert max(each.share for each in inside) > 0.9


def test_the_direction_to_a_leaf_is_not_learned(explanation):
    for each in explanation.edge_confidence.edges(explanation.network):
        assert (each.direction is None) == (each.child == 0 or each.share == 0)
    free = explained(no_child=False).with_edge_confidence(20)
    rows = free.edge_confidence.edges(free.network)
    assert any(each.direction is not None for each in rows if 0 in (each.parent, each.child))


def test_it_depends_on_the_seed_only(explanation):
    again = explained().with_edge_confidence(50)
    assert again.edge_confidence == explanation.edge_confidence
    other = explained().with_edge_confidence(50, seed=1)
    assert other.edge_confidence != explanation.edge_confidence


def test_shares_are_those_of_networks_learned_one_by_one(explanation):
    """Each resample, drawn here again, is learned as a problem of its own."""
    explainer, target = explanation.source
    table = explainer.samples([target]).table
    settings = explainer.settings
    nodes = explanation.network.nodes[:-1]
    problem = Problem(0, nodes)
    how = (settings.network, settings.selection, settings.significance)
    matrix = resampled_edges(table, problem, *how, resamples=1, seed=5)
    rows = np.random.default_rng([5, 0]).integers(0, table.num_samples, table.num_samples)

    class Resampled:
        variables, num_samples, cardinalities = (
            table.variables,
            table.num_samples,
            table.cardinalities,
        )

        def column(self, each):
            return table.column(each)

        def codes(self, columns):
            return table.codes(columns)[rows]

    (network,) = learn_networks(Resampled(), [problem], *how)
    at = {node: position for position, node in enumerate(network.nodes)}
    expected = {frozenset((at[u], at[v])) for u, v in network.edges}
    together = matrix + matrix.T
    found = {frozenset(map(int, pair)) for pair in np.argwhere(np.triu(together) > 0)}
    assert found == expected


@pytest.mark.parametrize("options", [{"family": "markov"}, {"family": "dependency"}])
def test_other_families_have_confidences_too(options):
    found = explained(**options).with_edge_confidence(10)
    rows = found.edge_confidence.edges(found.network)
    assert rows
    assert all(each.direction is None for each in rows) == (options["family"] == "markov")


def test_the_text_says_it(explanation):
    text = " ".join(str(explanation).split())
    assert "Edges, with the share of 50 resamples that have them: " in text
    assert re.search(r"\d → 0 \d+%", text)
    assert "resamples" not in str(explained())


def test_the_plot_has_a_label_and_a_width_for_each_edge(explanation):
    pytest.importorskip("matplotlib")
    from matplotlib.patches import FancyArrowPatch

    (axes,) = explanation.plot("network").axes
    arrows = [each for each in axes.patches if isinstance(each, FancyArrowPatch)]
    labels = [each.get_text() for each in axes.texts if re.fullmatch(r"\d+%", each.get_text())]
    shares = [each.share for each in explanation.edge_confidence.edges(explanation.network)]
    assert len(labels) == len(arrows) == len(explanation.network.edges)
    widths = sorted(arrow.get_linewidth() for arrow in arrows)
    assert widths[-1] == pytest.approx(0.6 + 2.2 * max(shares))
    (plain,) = explained().plot("network").axes
    thin = {each.get_linewidth() for each in plain.patches if isinstance(each, FancyArrowPatch)}
    assert [*thin] == pytest.approx([1.2])


def test_the_page_has_it(explanation):
    assert "share of 50 resamples" in explanation.to_html()
    assert "share of 50 resamples" not in explained().to_html()


def test_a_file_keeps_it(explanation, tmp_path):
    explanation.save(tmp_path / "explanation.json")
    loaded = Explanation.load(tmp_path / "explanation.json")
    assert loaded.edge_confidence == explanation.edge_confidence
    assert str(loaded) == str(explanation)
    with pytest.raises(InputError, match="explainer"):
        loaded.with_edge_confidence()
    again = loaded.with_edge_confidence(50, explainer=explanation.source[0])
    assert again.edge_confidence == explanation.edge_confidence


@pytest.mark.parametrize(
    "change",
    [
        {"weights": [[1, 0, 0.5, 0.5]]},
        {"weights": [[0, 99, 0.5, 0.5]]},
        {"weights": [[0, 1, 0.9, 0.9]]},
        {"weights": [[0, 1, 0.5, 0.5]] * 2},
        {"weights": [[0, 1, 0.5]]},
        {"resamples": 0},
        {"leaf": 1},
    ],
)
def test_a_damaged_file_is_refused(explanation, tmp_path, change):
    path = tmp_path / "explanation.json"
    explanation.save(path)
    document = json.loads(path.read_text())
    document["edge_confidence"].update(change)
    path.write_text(json.dumps(document))
    with pytest.raises(FileError, match="edge_confidence"):
        Explanation.load(path)


def test_names_are_kept(explanation):
    named = explanation.named([f"node {at}" for at in range(6)])
    rows = named.edge_confidence.edges(named.network)
    assert all(str(each.parent).startswith("node ") for each in rows)


@pytest.mark.parametrize("bad", [{"resamples": 0}, {"resamples": 2.5}, {"seed": -1}])
def test_unusable_numbers_are_refused(explanation, bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        explanation.with_edge_confidence(**bad)


def test_without_a_network_there_are_no_edges():
    with pytest.raises(QueryError, match="no network"):
        explained(structure=None).with_edge_confidence()
