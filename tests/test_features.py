"""Which features of the explaining nodes matter."""

import numpy as np
import pytest

from pgm_explainer import PGMExplainer
from pgm_explainer.selection import FeatureEffects

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


def test_of_many_features_the_surest_are_printed():
    shape = (3, 50)
    log_p = -np.random.default_rng(0).permutation(150).reshape(shape).astype(float)
    effects = FeatureEffects(np.arange(3), np.arange(50), -log_p / 150, log_p, log_p < -99)
    _, _, *rows, more = str(effects).splitlines()
    assert [float(row.split()[2]) for row in rows] == [-149.0 + at for at in range(20)]
    assert more == "… and 30 more"
    none = FeatureEffects(np.arange(3), np.arange(50), -log_p / 150, log_p, log_p > 0)
    assert str(none) == "0 of 150 features of the nodes matter (3 nodes × 50 features)."
