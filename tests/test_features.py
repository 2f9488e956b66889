"""Which features of the explaining nodes matter."""

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.node_names import NodeNames
from pgm_explainer.sampling import SampleTable, Variable
from pgm_explainer.selection import FeatureEffects, GTest, feature_effects
from pgm_explainer.significance import SignificanceConfig

NODES, FEATURES, READ = 8, 4, 2  # the model below reads feature 2 of node 1, and nothing else


def model(x):
    score = np.zeros((*x.shape[:2], 1))
    score[:, 0, 0] = 8 * (x[:, 1, READ] - 0.5)
    return np.concatenate([-score, score], axis=-1)


@pytest.fixture
def graph():
    x = np.random.default_rng(0).random((NODES, FEATURES))
    x[1] = 1.0
    return x, np.array([[1, 2, 3], [0, 0, 0]])


def test_only_the_feature_that_is_read_stands_out(graph):
    explainer = PGMExplainer(model, *graph, num_layers=1, perturbation="zero")
    explanation = explainer.explain(0)
    effects = explainer.explain_features(explanation)
    assert effects.nodes.tolist() == [0, 1]
    assert effects.effect_size.shape == (2, FEATURES)
    assert effects.significant[1].tolist() == [False, False, True, False]
    assert effects.effect_size[1, READ] > 0.95
    assert effects.effect_size[0].max() < 0.2


def test_only_the_chosen_features_are_looked_at(graph):
    explainer = PGMExplainer(model, *graph, num_layers=1, perturbation="zero", features=[1, READ])
    effects = explainer.explain_features(explainer.explain(0))
    assert effects.features.tolist() == [1, READ]
    assert effects.significant[1].tolist() == [False, True]


def test_batches_do_not_matter(graph):
    found = []
    for size in (1, 33, None):
        explainer = PGMExplainer(model, *graph, num_layers=1, samples_per_call=size)
        found.append(explainer.explain_features(explainer.explain(0)).log_p)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_a_graphs_prediction_too(graph):
    explainer = PGMExplainer(
        lambda x: model(x)[:, 0], *graph, task="graph", perturbation="zero", max_nodes=1
    )
    explanation = explainer.explain()
    assert explanation.nodes == [1]
    assert explainer.explain_features(explanation).significant.tolist() == [
        [False, False, True, False]
    ]


def test_printed_it_is_a_table_of_what_matters(graph):
    explainer = PGMExplainer(model, *graph, num_layers=1, perturbation="zero")
    effects = explainer.explain_features(explainer.explain(0))
    head, columns, row = str(effects).splitlines()
    assert head.startswith("1 of 8 features of the nodes matter (2 nodes × 4 features)")
    assert columns.split() == ["node", "feature", "log", "p", "effect"]
    assert row.split() == [
        "1",
        "2",
        f"{effects.log_p[1, 2]:.1f}",
        f"{effects.effect_size[1, 2]:.2f}",
    ]
    assert repr(effects) == "FeatureEffects(2 nodes, 4 features, 1 significant)"


def test_nodes_are_called_by_their_names_and_have_the_features_of_their_kind():
    log_p = np.array([[-9.0, -8.0, -7.0], [-6.0, -5.0, 0.0]])
    effects = FeatureEffects(
        np.array([3, 14]),
        np.arange(3),
        -log_p / 10,
        log_p,
        log_p < -4,
        widths=np.array([3, 2]),
        names=NodeNames({3: ("paper", 3), 14: ("author", 2)}),
    )
    head, _, *rows = str(effects).splitlines()
    assert head.startswith("5 of 5 features of the nodes matter (2 nodes with 2 to 3 features)")
    assert [row.split()[:3] for row in rows[2:4]] == [["paper", "3", "2"], ["author", "2", "0"]]
    assert effects.there.tolist() == [[True, True, True], [True, True, False]]


def test_only_features_that_are_there_are_tested():
    """All four decide the prediction; the second node has but one feature, or none."""
    changed = np.random.default_rng(0).integers(0, 2, (100, 1), dtype=np.uint8)
    table = SampleTable([Variable(at, perturbable=True, levels=1) for at in range(5)], 100)
    table.write(0, np.tile(changed, 5))
    how = (GTest(), SignificanceConfig())
    whole = feature_effects(table, np.arange(2), np.arange(2), *how)
    assert whole.significant.all()
    part = feature_effects(table, np.arange(2), np.arange(2), *how, widths=np.array([2, 1]))
    assert part.there.tolist() == part.significant.tolist() == [[True, True], [True, False]]
    assert (part.log_p == np.where(part.there, whole.log_p, 0)).all()
    assert (part.effect_size == np.where(part.there, whole.effect_size, 0)).all()
    none = feature_effects(table, np.arange(2), np.arange(2), *how, widths=np.zeros(2, int))
    assert str(none) == "0 of 0 features of the nodes matter (2 nodes × 0 features)."


def test_only_the_most_significant_features_are_printed():
    shape = (3, 50)
    log_p = -np.random.default_rng(0).permutation(150).reshape(shape).astype(float)
    effects = FeatureEffects(np.arange(3), np.arange(50), -log_p / 150, log_p, log_p < -99)
    _, _, *rows, more = str(effects).splitlines()
    assert [float(row.split()[2]) for row in rows] == [-149.0 + at for at in range(20)]
    assert more == "… and 30 more"
    none = FeatureEffects(np.arange(3), np.arange(50), -log_p / 150, log_p, log_p > 0)
    assert str(none) == "0 of 150 features of the nodes matter (3 nodes × 50 features)."


def test_an_explanation_of_another_graph_is_refused(on_a_path):
    larger = on_a_path(copies=2).explain(0)
    for wrong in ("x", larger):
        with pytest.raises(InputError, match="explanation"):
            on_a_path().explain_features(wrong)
