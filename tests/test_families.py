"""Explanations with networks of every family."""

import numpy as np
import pytest

from pgm_explainer import (
    Decomposable,
    Explanation,
    InputError,
    Neighbourhood,
    PGMExplainer,
)
from pgm_explainer.network.config import FAMILIES
from pgm_explainer.report.html.payload import page_payload
from pgm_explainer.settings import Settings
from pgm_explainer.structure import UndirectedGraph

SIZE = 10
RING = np.array([(u, (u + step) % SIZE) for u in range(SIZE) for step in (1, -1, 3, -3)]).T


def model(x):
    mean = np.zeros((SIZE, SIZE))
    mean[RING[1], RING[0]] = 1
    hidden = np.tanh((mean + np.eye(SIZE)) @ x)
    return np.concatenate([hidden, (mean @ hidden) ** 2], axis=-1)


def explainer_of(**options):
    x = np.random.default_rng(0).normal(size=(SIZE, 1))
    shared = {"num_layers": 2, "num_samples": 400, "perturb_probability": 0.3, "max_nodes": 4}
    return PGMExplainer(model, x, RING, **{**shared, **options})


@pytest.fixture(scope="module")
def explanations():
    return {family: explainer_of(family=family).explain(3) for family in FAMILIES}


@pytest.mark.parametrize("family", FAMILIES)
def test_an_explanation_of_any_family_can_be_used(explanations, family, tmp_path):
    explanation = explanations[family]
    network = explanation.network
    assert network.family == family == explanation.settings.network.family
    assert network.nodes == [*explanation.nodes, 3]
    assert set(explanation.markov_blanket) <= set(explanation.nodes)
    first = explanation.nodes[0]
    assert abs(explanation.query() - explanation.held) < 0.05
    assert explanation.query({first: "changed"}) != pytest.approx(explanation.query(), abs=1e-6)
    assert explanation.support() == pytest.approx(400)
    assert 0 < explanation.support({first: "perturbed"}) < 400
    assert network.factorisation in " ".join(str(explanation).split())
    explanation.save(tmp_path / "it.json")
    loaded = Explanation.load(tmp_path / "it.json")
    assert loaded == explanation
    assert loaded.settings == explanation.settings
    named = explanation.named([f"node {at}" for at in range(SIZE)])
    assert named.query({f"node {first}": "kept"}) == explanation.query({first: "kept"})
    assert network.title in explanation._repr_html_()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_settings_make_the_same_explainer(explanations, family):
    explanation = explanations[family]
    assert explainer_of(**explanation.settings.options()).explain(3) == explanation


@pytest.mark.parametrize("family", FAMILIES)
def test_plots_show_any_family(explanations, family):
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = explanations[family].plot()
    assert any(explanations[family].network.title in axes.get_title() for axes in figure.axes)
    plt.close(figure)


def test_the_page_has_arrowheads_and_a_joint_distribution_as_the_family_needs(explanations):
    shown = {
        family: page_payload([each])["explanations"][0]["network"]
        for family, each in explanations.items()
    }
    heads = {family: {tuple(each[3:]) for each in its["arrows"]} for family, its in shown.items()}
    assert heads["bayesian"] == {(0, 1)}
    assert heads["markov"] == {(0, 0)}
    assert (1, 1) in heads["dependency"]
    assert "factors" not in shown["bayesian"]
    for family in ("markov", "dependency"):
        network = explanations[family].network
        joint = np.ones([each.cardinality for each in network.variables])
        for factor in shown[family]["factors"]:
            scope = factor["scope"]
            along = [size if at in scope else 1 for at, size in enumerate(joint.shape)]
            sizes = [joint.shape[at] for at in scope]
            values = np.reshape(factor["values"], sizes).transpose(np.argsort(scope))
            joint = joint * values.reshape(along)
        np.testing.assert_allclose(joint, network.query(network.nodes), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"family": "causal"}, "unknown family 'causal'; choose one of: bayesian, markov"),
        ({"family": "markov", "no_child": True}, "no_child=True applies to Bayesian networks only"),
        ({"family": "dependency", "no_child": False}, "no_child=False applies to Bayesian"),
        ({"family": "markov", "target_table": "full"}, "target_table='full' applies to Bayesian"),
        ({"family": "markov", "max_parents": 2}, r"Decomposable\(max_clique=3\)"),
        ({"family": "markov", "structure": "exact"}, "auto, decomposable, neighbourhood"),
        ({"family": "dependency", "structure": "exact"}, "auto, table, tree"),
        ({"family": "dependency", "structure": len}, "must be a name"),
        ({"family": "markov", "structure": None}, "family='markov' does not apply"),
        ({"family": "markov", "structure": 5}, "UndirectedGraph"),
        ({"structure": "tree"}, "auto, hill_climb, exact"),
    ],
)
def test_what_does_not_apply_is_an_error(options, match):
    with pytest.raises(InputError, match=match):
        explainer_of(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"family": "markov", "structure": Decomposable(max_clique=2)},
        {"family": "markov", "structure": Neighbourhood(rule="or", pairwise=True)},
        {"family": "dependency", "structure": "tree", "max_parents": 1},
        {"family": "dependency", "structure": "table", "score": "bdeu"},
    ],
    ids=str,
)
def test_options_of_a_family_are_kept_in_files(options, tmp_path):
    explanation = explainer_of(**options).explain(3)
    explanation.save(tmp_path / "it.json")
    loaded = Explanation.load(tmp_path / "it.json")
    assert loaded.settings == explanation.settings
    assert loaded == explanation
    if "max_parents" in options:
        assert all(len(table.parents) <= 1 for table in explanation.network.tables)


def test_a_function_may_search_for_the_graph_of_a_markov_network():
    def star(data, sizes):
        return UndirectedGraph(len(sizes), [(at, len(sizes) - 1) for at in range(len(sizes) - 1)])

    explanation = explainer_of(family="markov", structure=star).explain(3)
    assert explanation.markov_blanket == explanation.nodes
    with pytest.raises(InputError, match="must return an UndirectedGraph"):
        explainer_of(family="markov", structure=lambda data, sizes: "x").explain(3)


def test_no_child_is_recorded_for_bayesian_networks_only():
    assert Settings().selection.no_child is True
    assert explainer_of(family="markov").settings.selection.no_child is None
