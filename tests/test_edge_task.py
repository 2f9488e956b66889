"""Predictions about pairs of nodes with a planted cause for each node of a pair."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pgm_explainer import PGMExplainer, QueryError

# Nodes 0, 1 and 2 have edges from four nodes each; one of the four has a large feature.
LISTENERS = {0: [3, 4, 5, 6], 1: [7, 8, 9, 10], 2: [11, 12, 13, 14]}
CAUSE = {0: 4, 1: 9, 2: 14}
EDGES = np.array([[s, t] for t, sources in LISTENERS.items() for s in sources]).T
X = np.ones((30, 2))
X[:, 1] = np.isin(np.arange(30), list(CAUSE.values()))
OPTIONS = {
    "task": "edge",
    "num_layers": 1,
    "features": [0],
    "perturbation": "zero",
    "significance": 0.001,
}


def part(x, edge_index, pairs):
    """There is a link while both ends receive a large value."""
    adjacency = np.zeros((x.shape[1], x.shape[1]))
    np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
    received = adjacency @ x.prod(axis=-1, keepdims=True)
    scores = 8 * received[:, pairs[0]] * received[:, pairs[1]] - 4
    return np.concatenate([-scores, scores], axis=-1)


def whole(x, pairs):
    return part(x, EDGES, pairs)


def explainer_of(model=whole, **options):
    return PGMExplainer(model, X, EDGES, **{**OPTIONS, **options})


MODELS = pytest.mark.parametrize("model", [whole, part], ids=["whole", "part"])
PAIRS = [(0, 1), (2, 0), (1, 2)]


@MODELS
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("no_child", [True, False])
@pytest.mark.parametrize("change", ["auto", "large_fall", "fall", "flip", "levels"])
def test_the_planted_causes_of_a_link_are_found_and_nothing_else(model, pair, no_child, change):
    explanation = explainer_of(model, no_child=no_child, change=change).explain(pair)
    causes = sorted(CAUSE[end] for end in pair)
    assert explanation.target == pair
    assert explanation.task == "edge"
    assert sorted(explanation.nodes) == causes
    assert sorted(explanation.markov_blanket) == causes
    assert sorted(explanation.network.markov_blanket(pair)) == causes
    assert explanation.network.nodes == [*explanation.nodes, pair]
    assert (explanation.predicted_class, explanation.explained_class) == (1, 1)
    assert explanation.probability > 0.99
    assert explanation.warnings == ()


@MODELS
def test_candidates_are_the_ends_and_whoever_reaches_them(model):
    explanation = explainer_of(model).explain((0, 1))
    ranked = sorted(each.node for each in explanation.ranking)
    assert ranked == sorted([0, 1, *LISTENERS[0], *LISTENERS[1]])
    assert explanation.ends.tolist() == [0, 1]
    assert explanation.neighbourhood.nodes.tolist() == ranked


def test_an_end_may_explain_its_own_link():
    def model(x, pairs):
        score = 8 * x[:, pairs[0], :1] - 4
        return np.concatenate([-score, score], axis=-1)

    assert explainer_of(model).explain((5, 7)).nodes == [5]
    assert explainer_of(model).explain((7, 5)).nodes == [7]


@MODELS
def test_many_pairs_give_the_same_as_each_alone(model):
    explainer = explainer_of(model)
    pairs = [*PAIRS, (0, 1), (1, 0), (0, 20)]
    many = explainer.explain_many(pairs)
    assert [each.target for each in many] == pairs
    for each in many:
        alone = explainer.explain(each.target)
        assert each == alone
        assert each.warnings == alone.warnings
        assert each.values == pytest.approx(alone.values)
    assert explainer.explain_many([]) == []


def test_whole_graph_and_subgraph_functions_give_the_same():
    wholes, parts = (explainer_of(model).explain_many(PAIRS) for model in (whole, part))
    assert wholes == parts


@pytest.mark.parametrize(
    "pairs",
    [np.array(PAIRS), torch.tensor(PAIRS), [list(pair) for pair in PAIRS], iter(PAIRS)],
    ids=["array", "tensor", "lists", "iterator"],
)
def test_pairs_may_come_in_any_collection(pairs):
    many = explainer_of().explain_many(pairs)
    assert [each.target for each in many] == PAIRS
    assert all(type(end) is int for each in many for end in each.target)


@pytest.mark.parametrize(
    "pair", [[0, 1], np.array([0, 1]), torch.tensor([0, 1]), (np.int32(0), np.int64(1))], ids=repr
)
def test_a_pair_may_come_in_any_form(pair):
    assert explainer_of().explain(pair) == explainer_of().explain((0, 1))


@pytest.mark.parametrize("split", [{"samples_per_call": 7}, {"max_memory": 1}], ids=str)
def test_batch_size_and_memory_do_not_change_the_result(split):
    assert explainer_of(**split).explain_many(PAIRS) == explainer_of().explain_many(PAIRS)


def test_a_subgraph_function_does_not_get_distant_nodes():
    seen = set()

    def watched(x, edge_index, nodes, pairs):
        if len(x) > 5:  # in samples; the checks look around a little more
            seen.update(nodes.tolist())
        return part(x, edge_index, pairs)

    assert explainer_of(watched).explain((0, 1)) == explainer_of().explain((0, 1))
    assert seen == {0, 1, *LISTENERS[0], *LISTENERS[1]}


def test_queries_accept_pairs_and_follow_the_planted_rule():
    explanation = explainer_of(num_samples=2000, change="flip").explain((0, 1))
    one, other = CAUSE[0], CAUSE[1]
    assert explanation.query() == pytest.approx(0.9**2, abs=0.03)
    assert explanation.query({one: "perturbed"}) == pytest.approx(0)
    assert explanation.query({one: "original", other: "original"}) == pytest.approx(1)
    assert explanation.query({(0, 1): "changed"}) == pytest.approx(0)
    network = explanation.network
    kept, changed = network.query((0, 1))
    assert kept == pytest.approx(explanation.query())
    assert changed == pytest.approx(1 - kept)
    assert network.query((0, 1), {one: "perturbed"})[1] == pytest.approx(1)
    assert network.query([one, (0, 1)]).shape == (2, 2)
    np.testing.assert_allclose(network.query([(0, 1)]), network.query((0, 1)))
    assert network.query([one, other]).shape == (2, 2)
    assert network.parents((0, 1)) == explanation.nodes
    assert network.children((0, 1)) == []
    assert network.cpt((0, 1)).values.shape == (2, 2, 2)
    with pytest.raises(QueryError, match=r"\(1, 0\)|1 is not in the network"):
        network.markov_blanket((1, 0))
    with pytest.raises(QueryError, match="'perturbed' is not valid evidence"):
        explanation.query({(0, 1): "perturbed"})


def test_a_pair_has_a_description():
    said = str(explainer_of().explain((0, 1)))
    assert "The model predicts class 1 for the pair 0 – 1, with a probability of more" in said
    assert "P((0, 1) | " in said
    assert "if perturbed" in said
    assert "if changed" not in said


def test_a_constant_pair_is_reported_to_hold():
    explanation = explainer_of().explain((0, 20))
    assert explanation.network is None
    assert explanation.predicted_class == 0
    assert "kept in all 1000" in str(explanation)
    with pytest.raises(QueryError, match=r"\(0, 20\)"):
        explanation.query()


def test_a_link_may_have_one_score():
    def logit(x, pairs):
        return part(x, EDGES, pairs)[..., 1:]

    single = explainer_of(logit, scores="logits", change="fall").explain((0, 1))
    double = explainer_of(change="flip").explain((0, 1))
    assert sorted(single.nodes) == sorted(double.nodes)
    assert single.values == pytest.approx([1 / (1 + np.exp(4)), 1 / (1 + np.exp(-4))])


def test_one_score_of_a_link_is_read_the_same_way_in_any_group():
    # Alone, the logit of (0, 1) looks like a probability; together with (2, 3) it does not.
    x = np.array([[0.9], [0.9], [3.0], [3.0]])

    def dot(x, pairs):
        return x[:, pairs[0]] * x[:, pairs[1]]

    explainer = PGMExplainer(dot, x, [[0, 2], [1, 3]], task="edge", perturbation="zero")
    alone = explainer.explain((0, 1)).probability
    assert explainer.explain_many([(0, 1), (2, 3)])[0].probability == pytest.approx(alone)


@MODELS
def test_a_model_that_edits_its_pairs_in_place_does_no_harm(model):
    def vandal_whole(x, pairs):
        scores = whole(x, pairs)
        pairs[:] = 0
        return scores

    def vandal_part(x, edge_index, pairs):
        scores = part(x, edge_index, pairs)
        pairs[:] = edge_index[:] = 0
        return scores

    vandal = vandal_whole if model is whole else vandal_part
    assert explainer_of(vandal).explain_many(PAIRS) == explainer_of().explain_many(PAIRS)


def pairs_of(targets):
    explainer = explainer_of(num_samples=50, perturbation="random", features=None)
    return [each.target for each in explainer.explain_many(targets)]


@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_an_array_has_a_pair_in_each_column(make):
    """As PyTorch Geometric's edge_label_index, also if there are two pairs."""
    assert pairs_of(make([[0, 1], [2, 0]])) == [(0, 2), (1, 0)]
    assert pairs_of(make([[0, 1, 0], [2, 0, 1]])) == [(0, 2), (1, 0), (0, 1)]
    assert pairs_of(make([[0, 1], [2, 0], [0, 2]])) == [(0, 1), (2, 0), (0, 2)]


def test_a_list_has_pairs():
    assert pairs_of([[0, 1], [2, 0]]) == [(0, 1), (2, 0)]
    assert pairs_of([np.array([0, 1]), (2, 0)]) == [(0, 1), (2, 0)]


def test_a_job_reads_pairs_as_explain_many_does():
    from pgm_explainer.dataset.planning import read_targets

    columns = np.array([[0, 1], [2, 0]])
    assert read_targets(explainer_of(), columns).tolist() == [[0, 2], [1, 0]]
    assert read_targets(explainer_of(), columns.tolist()).tolist() == [[0, 1], [2, 0]]
