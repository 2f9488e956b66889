"""All rivals through their interface, on cases where the result is known."""

from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
import pytest
import torch

from pgm_explainer import PGMExplainer
from pgm_explainer.errors import InputError
from pgm_explainer.predictors.torch_module import TorchModulePredictor
from pgm_explainer_lab.rivals import (
    Case,
    Chance,
    Degree,
    Gradient,
    IntegratedGradients,
    LearntMask,
    LossGradient,
    Occlusion,
    Output,
    Pgm,
    Proximity,
    Shapley,
    SignedRival,
    TrainedMask,
    top_nodes,
)

PGM = Pgm(num_samples=200, perturb_probability=0.25, perturbation="mean")
SIGNED = [
    Shapley(num_queries=100),
    IntegratedGradients(steps=20),
    IntegratedGradients(steps=20, log_probability=True),
    Occlusion(),
    Occlusion("permute", num_queries=100),
]
ASKING = [*SIGNED, LearntMask(), Gradient(), PGM]
RIVALS = [*ASKING, LossGradient(), Chance(), Degree(), Proximity()]
ALL = [*RIVALS, TrainedMask(epochs=3)]  # it is trained on all targets together


def by_name(rivals):
    return pytest.mark.parametrize("rival", rivals, ids=lambda rival: rival.name)


def importance(rival, case, target):
    (found,) = rival.importances(case, [target])
    return found


@by_name(ASKING)
def test_rivals_that_call_the_model_find_the_planted_node(rival, planted):
    assert top_nodes(importance(rival, planted.node, planted.target), 1) == [planted.answer]
    assert top_nodes(importance(rival, planted.graph, None), 1) == [planted.answer]


@by_name(ALL)
def test_only_candidates_are_part_of_an_explanation(rival, planted):
    found = importance(rival, planted.node, planted.target)
    assert found.shape == (8,)
    assert set(top_nodes(found, 8)) <= {1, 2, 3, 4, 5, 6}
    assert found[planted.target] == found[planted.far] == -np.inf


@by_name(ALL)
def test_hops_may_be_smaller_than_the_receptive_field(rival, planted):
    near = Case(planted.node.model, planted.node.x, planted.node.edge_index, hops=1)
    assert set(top_nodes(importance(rival, near, planted.target), 8)) <= {1, 2, 3}


@by_name([Shapley(num_queries=300), Gradient(), IntegratedGradients(), Occlusion()])
def test_candidates_outside_the_receptive_field_have_no_importance(rival, planted):
    wide = Case(planted.node.model, planted.node.x, planted.node.edge_index, hops=3)
    found = importance(rival, wide, planted.target)
    assert top_nodes(found, 1) == [planted.answer]
    assert found[planted.far] == pytest.approx(0, abs=1e-9)


@by_name(RIVALS)
def test_results_are_deterministic_and_independent_of_other_targets(rival, planted):
    together = list(rival.importances(planted.node, [planted.target, planted.far]))
    assert np.array_equal(together[1], importance(rival, planted.node, planted.far))
    assert np.array_equal(together[0], importance(rival, planted.node, planted.target))


def legacy_state():
    return np.random.get_state()[1].copy()  # noqa: NPY002


@by_name(ALL)
def test_random_state_and_model_are_restored(rival, planted):
    numpy_before, torch_before = legacy_state(), torch.get_rng_state()
    planted.node.model.train()
    x = planted.node.x.copy()
    importance(rival, planted.node, planted.target)
    assert planted.node.model.training
    assert np.array_equal(planted.node.x, x)
    assert np.array_equal(legacy_state(), numpy_before)
    assert torch.equal(torch.get_rng_state(), torch_before)


@by_name([Shapley(num_queries=100), Gradient()])
def test_only_the_named_features_count(rival, planted):
    case = planted.node
    x = case.x.copy()
    x[1] = (0.0, 3.0)  # changing the second feature has no effect, since the first is 0
    (second,) = rival.importances(Case(case.model, x, case.edge_index, features=[1]), [0])
    assert second[1] <= 0
    (first,) = rival.importances(Case(case.model, x, case.edge_index, features=[0]), [0])
    assert first[1] > 0


def test_shap_uses_its_stated_number_of_calls(planted, monkeypatch):
    asked = []
    answer = TorchModulePredictor.__call__

    def counting(self, x, part, pairs=None):
        asked.append(len(x))
        return answer(self, x, part, pairs)

    monkeypatch.setattr(TorchModulePredictor, "__call__", counting)
    rival = Shapley(num_queries=40)
    importance(rival, planted.node, planted.target)  # six players have 64 coalitions
    assert sum(asked) == rival.queries.forwards


def test_shap_of_few_players_is_the_exact_shapley_value(planted):
    case, edges = planted.node, torch.from_numpy(planted.node.edge_index)
    players = case.candidates(planted.target).tolist()
    absent = case.x.mean(axis=0)

    def worth(coalition):
        x = case.x.copy()
        x[[player for player in players if player not in coalition]] = absent
        return float(torch.softmax(case.model(torch.from_numpy(x), edges)[planted.target], 0)[1])

    values = dict.fromkeys(players, 0.0)
    for size in range(len(players)):
        weight = 1 / (len(players) * comb(len(players) - 1, size))
        for coalition in combinations(players, size):
            for player in set(players) - set(coalition):
                values[player] += weight * (worth({*coalition, player}) - worth(coalition))
    found = importance(Shapley(), case, planted.target)[players]
    np.testing.assert_allclose(found, np.abs(list(values.values())), atol=1e-6)


def test_the_gradient_matches_autograd(planted):
    case = planted.node
    edges = torch.from_numpy(case.edge_index)
    jacobian = torch.autograd.functional.jacobian(
        lambda x: case.model(x, edges)[planted.target, 1], torch.from_numpy(case.x)
    )
    candidates = case.candidates(planted.target)
    np.testing.assert_allclose(
        importance(Gradient(), case, planted.target)[candidates],
        jacobian.abs().sum(dim=1).numpy()[candidates],
        rtol=1e-6,
    )


@by_name(SIGNED)
def test_support_for_the_prediction_is_positive(rival, planted):
    case = planted.node
    x = case.x.copy()
    x[6] = (1.0, -1.0)  # lowers the sum of messages, and so the probability of the predicted class
    (found,) = rival.attributions(Case(case.model, x, case.edge_index), [planted.target])
    assert found[planted.answer] > 0 > found[6]
    assert isinstance(rival, SignedRival)


def test_integrated_gradients_sum_to_the_difference_from_the_baseline(planted):
    case = planted.node
    (found,) = IntegratedGradients(steps=200).attributions(case, [planted.target])
    edges = torch.from_numpy(case.edge_index)
    now, nothing = (
        case.model(torch.from_numpy(x), edges)[planted.target, 1]
        for x in (case.x, np.zeros_like(case.x))
    )
    assert found.sum() == pytest.approx(float(now - nothing), rel=1e-3)
    logs = IntegratedGradients(steps=200, log_probability=True).attributions(case, [planted.target])
    now, nothing = (
        case.model(torch.from_numpy(x), edges)[planted.target].log_softmax(0)[1]
        for x in (case.x, np.zeros_like(case.x))
    )
    assert next(logs).sum() == pytest.approx(float(now - nothing), rel=1e-3)


def test_the_papers_grad_is_the_signed_sum_of_the_loss_gradient(planted):
    case = planted.node
    edges = torch.from_numpy(case.edge_index)

    def loss(x):
        return -torch.log_softmax(case.model(x, edges)[planted.target], 0)[1]

    jacobian = torch.autograd.functional.jacobian(loss, torch.from_numpy(case.x))
    candidates = case.candidates(planted.target)
    found = importance(LossGradient(), case, planted.target)[candidates]
    np.testing.assert_allclose(found, jacobian.sum(dim=1).numpy()[candidates], rtol=1e-5)
    # The node that supports the prediction most comes last, since the sign is kept.
    assert candidates[found.argmin()] == planted.answer


def test_occlusion_is_the_drop_of_probability_at_the_stated_cost(planted, monkeypatch):
    case, asked = planted.node, []
    answer = Output.__call__

    def counting(self, x):
        asked.append(len(x))
        return answer(self, x)

    monkeypatch.setattr(Output, "__call__", counting)
    (found,) = Occlusion().attributions(case, [planted.target])
    assert sum(asked) == Occlusion().forwards(case, planted.target) == 8
    x = case.x.copy()
    x[planted.answer] = 0
    edges = torch.from_numpy(case.edge_index)
    before, after = (
        torch.softmax(case.model(torch.from_numpy(each), edges)[planted.target], 0)[1]
        for each in (case.x, x)
    )
    assert found[planted.answer] == pytest.approx(float(before - after), abs=1e-6)
    asked.clear()
    often = Occlusion("permute", num_queries=100)
    importance(often, case, planted.target)
    assert sum(asked) == often.forwards(case, planted.target) == 99


def test_pg_explainer_is_trained_on_its_targets_and_deterministic(planted):
    rival = TrainedMask(epochs=3)
    first, again = (
        list(rival.importances(planted.node, [planted.target, planted.answer])) for _ in range(2)
    )
    assert all(map(np.array_equal, first, again))
    inside = first[0][planted.node.candidates(planted.target)]
    assert ((inside >= 0) & (inside <= 1)).all()
    assert inside.max() > 0
    (whole,) = rival.importances(planted.graph, [None])
    assert np.isfinite(whole).all()


def test_degrees_match_networkx(planted):
    case = planted.node
    graph = nx.MultiDiGraph(case.edge_index.T.tolist())
    found = importance(Degree(), case, planted.target)
    assert all(
        found[node] == graph.degree(node) for node in case.candidates(planted.target).tolist()
    )


def test_proximity_is_the_probability_of_a_visit(planted):
    case = planted.node
    heard = np.zeros((len(case.x), len(case.x)))
    np.add.at(heard, (case.edge_index[1], case.edge_index[0]), 1)
    chances = heard / np.maximum(heard.sum(axis=1, keepdims=True), 1)
    hops = case.predictor.num_layers
    met = sum(np.linalg.matrix_power(chances, step)[planted.target] for step in range(hops + 1))
    candidates = case.candidates(planted.target)
    found = importance(Proximity(), case, planted.target)[candidates]
    np.testing.assert_allclose(found, met[candidates], atol=1e-12)


def test_random_ranking_depends_on_the_seed_and_is_uniform(planted):
    firsts = [
        top_nodes(importance(Chance(seed), planted.node, planted.target), 1)[0]
        for seed in range(300)
    ]
    counts = np.bincount(firsts, minlength=8)
    assert (counts[1:7] > 25).all()
    assert counts[1:7].sum() == 300


def test_pgm_rival_ranks_as_pgm_explainer_does(planted):
    model, x, edges = planted.node.model, planted.node.x, planted.node.edge_index
    options = {"num_samples": 200, "max_nodes": 4, "only_significant": False}
    alone = PGMExplainer(model, x, edges, features=[0], **options).explain(planted.target)
    case = Case(model, x, edges, features=[0])
    found = top_nodes(importance(Pgm(**options), case, planted.target), 8)
    assert found == alone.ranking.selected_nodes.tolist()
    assert Pgm(**options).queries.forwards == 200


def test_a_model_of_unknown_depth_needs_hops():
    case = Case(torch.nn.Linear(2, 2), np.ones((3, 2), np.float32), np.zeros((2, 0), np.int64))
    with pytest.raises(InputError, match="hops"):
        case.candidates(0)
