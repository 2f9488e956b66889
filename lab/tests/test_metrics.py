"""Metrics compared with hand-computed cases and with the libraries that define them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import entropy
from sklearn import metrics as sklearn_metrics

from pgm_explainer import PGMExplainer
from pgm_explainer.effects import Effects
from pgm_explainer.explanation import Explanation
from pgm_explainer.network import BayesianNetwork
from pgm_explainer.sampling import GRAPH, SampleTable, Variable
from pgm_explainer.selection import Ranking
from pgm_explainer.structure import DAG
from pgm_explainer_lab.metrics import (
    ForecastQuality,
    faithfulness,
    forecast_quality,
    jaccard,
    mean_quality,
    robust_fidelity,
    stability,
)


def test_the_jaccard_index_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(20):
        found, truth = rng.random((2, 10)) < 0.4
        expected = sklearn_metrics.jaccard_score(truth, found, zero_division=1.0)
        assert jaccard(np.flatnonzero(found), np.flatnonzero(truth)) == pytest.approx(expected)


def test_stability_is_the_mean_over_targets_and_pairs_of_seeds():
    runs = [[[1, 2], [3]], [[1, 2], [4]], [[1, 5], [3]]]
    # Pairs of seeds by target: 1, 1/3, 1/3 and 0, 1, 0.
    assert stability(runs) == pytest.approx((1 + 1 / 3 + 1 / 3 + 0 + 1 + 0) / 6)


def test_the_planted_node_is_necessary_and_sufficient(planted):
    found = faithfulness(planted.node, [planted.target], [[planted.answer]])
    assert (found.fidelity_plus, found.fidelity_minus, found.characterization) == (1, 0, 1)
    other = faithfulness(planted.graph, [None], [[1]])
    assert (other.fidelity_plus, other.fidelity_minus, other.characterization) == (0, 1, 0)


def test_fidelities_are_means_over_targets(planted):
    found = faithfulness(planted.node, [planted.target, planted.target], [[planted.answer], [1]])
    assert (found.fidelity_plus, found.fidelity_minus) == (0.5, 0.5)
    assert found.characterization == pytest.approx(0.5)


def test_robust_fidelity_removes_random_nodes(planted):
    case = planted.node
    edges = torch.from_numpy(case.edge_index)
    without = case.x.copy()
    without[planted.answer] = 0
    before, after = (
        float(torch.softmax(case.model(torch.from_numpy(x), edges)[planted.target], 0)[1])
        for x in (case.x, without)
    )
    plus, minus = robust_fidelity(case, planted.target, [planted.answer], samples=4000)
    assert plus == pytest.approx(0.1 * (before - after), rel=0.15)
    assert abs(minus) < 0.01
    plus, minus = robust_fidelity(case, planted.target, [1], samples=4000)
    assert abs(plus) < 0.01
    assert minus == pytest.approx(0.1 * (before - after), rel=0.15)
    assert robust_fidelity(planted.graph, None, [planted.answer])[0] > 0


def test_unfaithfulness_matches_its_docstring(planted):
    case = planted.node
    masked = np.zeros_like(case.x)
    masked[planted.answer] = case.x[planted.answer]
    edges = torch.from_numpy(case.edge_index)
    before, after = (
        torch.softmax(case.model(torch.from_numpy(x), edges)[planted.target].double(), 0).numpy()
        for x in (case.x, masked)
    )
    found = faithfulness(case, [planted.target], [[planted.answer]]).unfaithfulness
    assert found == pytest.approx(1 - np.exp(-entropy(after, before)), abs=1e-6)


NOISE = 0.1
VARIABLES = [Variable(1, True, 1), Variable(2, True, 1), Variable(GRAPH, False, 2)]


def drawn(law, seed, num_samples=4000):
    """Samples of two nodes, each perturbed half of the time; ``law`` or noise sets the change."""
    rng = np.random.default_rng(seed)
    perturbed = rng.random((num_samples, 2)) < 0.5
    changed = law(*perturbed.T) ^ (rng.random(num_samples) < NOISE)
    table = SampleTable(VARIABLES, num_samples)
    table.write(0, np.column_stack((perturbed, changed)).astype(np.uint8))
    return table


def explained(table):
    """The explanation of the change by both nodes."""
    network = BayesianNetwork.fit(VARIABLES, DAG(3, [(0, 2), (1, 2)]), table.codes([0, 1, 2]))
    ones = np.ones(2)
    ranking = Ranking(np.array([1, 2]), ones, ones.astype(int), -ones, ones, ones > 0, ones > 0)
    effects = Effects(np.array([1, 2]), -ones, -ones, -ones, ones, -ones, ones > 0)
    held = float((table.codes([2]) == 0).mean())
    told = SimpleNamespace(sampling=SimpleNamespace(num_samples=table.num_samples))
    return Explanation(
        GRAPH, 0, 0.9, (0.9, 0.1), held, 1.0, 0.9, (), ranking, effects, network, told
    )


def test_a_network_forecasts_a_non_additive_change():
    learnt, fresh = drawn(np.logical_xor, 0), drawn(np.logical_xor, 1)
    found = forecast_quality(explained(learnt), learnt, fresh)
    best = entropy([NOISE, 1 - NOISE])
    assert found["network"].log_loss == pytest.approx(best, abs=0.02)
    assert found["network"].brier == pytest.approx(NOISE * (1 - NOISE), abs=0.01)
    assert found["network"].auc == pytest.approx(1 - NOISE, abs=0.02)
    for blind in ("logistic", "logistic (all candidates)", "base rate"):
        assert found[blind].log_loss == pytest.approx(np.log(2), abs=0.01)
        assert found[blind].auc == pytest.approx(0.5, abs=0.03)


def test_all_methods_forecast_an_additive_change():
    def first(one, _):
        return one

    learnt, fresh = drawn(first, 0), drawn(first, 1)
    found = forecast_quality(explained(learnt), learnt, fresh)
    best = entropy([NOISE, 1 - NOISE])
    for name in ("network", "logistic", "logistic (all candidates)"):
        assert found[name].log_loss == pytest.approx(best, abs=0.03)


def test_forecast_qualities_match_scikit_learn():
    learnt, fresh = drawn(np.logical_and, 0, 300), drawn(np.logical_and, 1, 300)
    explanation = explained(learnt)
    found = forecast_quality(explanation, learnt, fresh)["network"]
    words = ("original", "perturbed")
    forecast = [
        1 - explanation.query({1: words[one], 2: words[two]})
        for one, two in fresh.codes([0, 1]).tolist()
    ]
    happened = fresh.codes([2])[:, 0]
    assert found.log_loss == pytest.approx(sklearn_metrics.log_loss(happened, forecast))
    assert found.brier == pytest.approx(sklearn_metrics.brier_score_loss(happened, forecast))
    assert found.auc == pytest.approx(sklearn_metrics.roc_auc_score(happened, forecast))


def test_forecasts_are_bounded_by_the_number_of_samples():
    codes = np.array([[0, 0, 0]] * 10 + [[1, 1, 1]] * 10, dtype=np.uint8)
    learnt = SampleTable(VARIABLES, 20)
    learnt.write(0, codes)
    fresh = SampleTable(VARIABLES, 2)
    fresh.write(0, np.array([[0, 0, 1], [1, 1, 1]], dtype=np.uint8))
    found = forecast_quality(explained(learnt), learnt, fresh)["network"]
    assert found.log_loss == pytest.approx(-(np.log(1 / 22) + np.log(21 / 22)) / 2)
    assert np.isnan(found.auc)


def test_no_forecast_if_nothing_changed():
    never = SampleTable(VARIABLES, 20)
    assert forecast_quality(explained(never), never, never) == {}
    assert mean_quality([{}]) == {}


def test_the_mean_skips_unmeasured_explanations():
    one = {"network": ForecastQuality(0.2, 0.1, 0.8, 0.05)}
    undefined = {"network": ForecastQuality(0.4, 0.3, float("nan"))}
    found = mean_quality([one, {}, undefined])["network"]
    assert found == ForecastQuality(pytest.approx(0.3), pytest.approx(0.2), 0.8, 0.05)


def test_an_explainer_of_another_seed_draws_fresh_samples(planted):
    case = planted.node

    def explainer(seed):
        return PGMExplainer(case.model, case.x, case.edge_index, num_samples=300, seed=seed)

    explanation = explainer(0).explain(planted.target)
    learnt, fresh = (
        explainer(0).samples([planted.target]).table,
        explainer(1).samples([planted.target]).table,
    )
    at = learnt.column(planted.target)
    assert (learnt.codes([at]) % 2 == 0).mean() == explanation.held
    assert not np.array_equal(learnt.codes([at]), fresh.codes([at]))
    found = forecast_quality(explanation, learnt, fresh)
    assert found["network"].log_loss < 0.5 * found["base rate"].log_loss
    assert found["network"].auc > 0.95
