"""The effects of single features of the target and of the explaining nodes."""

from __future__ import annotations

import time
from contextlib import nullcontext

import numpy as np
import pytest

from pgm_explainer import Explanation, FeatureEffects, InputError, PGMExplainer, explain_graphs
from pgm_explainer.feature_effects import _groups
from pgm_explainer.node_names import NodeNames

NODES, FEATURES = 24, 5
WEIGHTS = np.array([1.5, -1.0, 0.5, 0.0, 2.0])  # the model does not read feature 3
RNG = np.random.default_rng(3)
X = RNG.normal(size=(NODES, FEATURES))
X[:, 4] = 1.0  # a constant
EDGES = np.array([RNG.integers(0, NODES, 40), RNG.integers(0, NODES, 40)])
COUNTS = np.zeros((NODES, NODES))
np.add.at(COUNTS, (EDGES[1], EDGES[0]), 1)
COUNTS += 2 * np.eye(NODES)


def linear(x, edge_index):
    """The value of a node: twice its own weighted features plus those of its neighbours."""
    return linear_sum(x @ WEIGHTS, edge_index)


def linear_sum(value, edge_index):
    out = 2 * value
    np.add.at(out.T, edge_index[1], value[:, edge_index[0]].T)
    return out[..., None]


def explainer(model=linear, x=X, edges=EDGES, **options):
    given = {"num_layers": 1, "scores": "values", "progress": False, **options}
    return PGMExplainer(model, x, edges, **given)


def true_effects(found, target, perturbation):
    """The effect of each feature by the formula of the model."""
    new = {
        "zero": np.zeros_like(X),
        "mean": np.broadcast_to(X.mean(axis=0), X.shape),
        "permute": (X.sum(axis=0) - X) / (NODES - 1),  # the mean of the other nodes
    }[perturbation]
    change = COUNTS[target][:, None] * WEIGHTS * (new - X)
    return change[found.nodes, found.features]


@pytest.mark.parametrize("perturbation", ["zero", "mean"])
def test_effects_are_those_of_the_formula(perturbation):
    made = explainer(perturbation=perturbation)
    found = made.explain(3, with_features=True).features
    truth = true_effects(found, 3, perturbation)
    np.testing.assert_allclose(found.effect, truth, atol=1e-4)
    clear = abs(truth) > 0.01
    assert found.significant[clear].all()
    assert not found.significant[truth == 0].any()
    assert (np.sign(found.effect) == np.sign(truth))[clear].all()
    assert (np.diff(found.strength) <= 0).all(), "strongest first"


def test_random_values_leave_the_truth_within_the_intervals():
    """Over many seeds, 95 % intervals contain the truth in 95 % of the cases, within a margin."""
    inside = []
    for seed in range(40):
        made = explainer(perturbation="permute", seed=seed, structure=None)
        found = made.explain_features(made.explain(3))
        truth = true_effects(found, 3, "permute")
        inside.append((found.low <= truth) & (truth <= found.high))
    assert 0.92 <= np.concatenate(inside).mean() <= 0.98


def test_features_without_an_effect_are_rarely_significant():
    """The model has noise that no single feature explains: the product of many of them."""

    def noisy(x, edge_index):
        return np.sign(np.prod(x, axis=-1, keepdims=True)) + 0 * x[..., :1]

    rng, wrong, tested = np.random.default_rng(0), 0, 0
    x = rng.choice([-1.0, 1.0], size=(60, 40)) * rng.uniform(0.5, 1.5, (60, 40))
    loop = np.array([[1], [0]])
    for seed in range(20):
        made = explainer(
            noisy, x, loop, num_samples=300, seed=seed, structure=None, correction="none"
        )
        found = made.explain_features(made.explain(0))
        own = found.own
        wrong, tested = (
            wrong + int((found.log_p[own] < np.log(0.05)).sum()),
            tested + int(own.sum()),
        )
    assert tested == 20 * 40
    assert wrong / tested <= 0.08


def test_the_target_comes_with_the_nodes_of_the_network_and_its_rows_are_marked():
    explanation = explainer().explain(3, with_features=True)
    found = explanation.features
    assert set(found.nodes.tolist()) == {3, *explanation.nodes}
    assert found.own.tolist() == [each.node == 3 for each in found]
    assert explainer().explain(3).features is None


def test_constant_features_are_not_tested():
    found = explainer(perturbation="permute").explain(3, with_features=True).features
    assert 4 not in found.features
    assert found.untested == len(np.unique(found.nodes))
    everything = explainer(perturbation="zero").explain(3, with_features=True).features
    assert 4 in everything.features
    assert everything.untested == 0


def test_features_that_rarely_change_are_neither_perturbed_nor_tested():
    """In one of fifty nodes the first feature is 1: permuting changes it there, not elsewhere."""
    x = np.zeros((50, 2))
    x[7, 0], x[:, 1] = 1.0, np.arange(50)
    seen = set()

    def model(x, edge_index):
        seen.update(np.unique(x[:, 0, 0]).tolist())
        return x.sum(axis=-1, keepdims=True)

    made = explainer(model, x, np.array([[1], [0]]), perturbation="permute")
    explanation = made.explain(0)
    seen.clear()
    assert made.explain_features(explanation).features.tolist() == [1]
    assert seen == {0.0}
    rare = made.explain_features(made.explain(7))
    assert sorted(rare.features.tolist()) == [0, 1]


def test_only_the_chosen_features_are_looked_at():
    found = explainer(perturbation="zero", features=[1, 2]).explain(3, with_features=True).features
    assert set(found.features.tolist()) == {1, 2}


def test_batches_do_not_matter():
    found = [
        explainer(samples_per_call=size).explain(3, with_features=True).features
        for size in (1, 33, None)
    ]
    assert found[0].agrees(found[1])
    assert found[0].agrees(found[2])


@pytest.mark.parametrize("task", ["node", "edge"])
def test_alone_or_together_the_answer_is_the_same(task):
    def pairs_model(x, edge_index, pairs):
        value = linear(x, edge_index)
        return value[:, pairs[0]] * value[:, pairs[1]]

    targets = range(NODES) if task == "node" else [(3, 5), (1, 2), (9, 14), (3, 7)]
    made = explainer(linear if task == "node" else pairs_model, task=task, structure=None)
    with pytest.warns() if task == "node" else nullcontext():
        together = made.explain_many(targets, with_features=True)
        alone = [made.explain(target, with_features=True) for target in targets]
    assert together == alone
    assert any(len(each.features) for each in alone)


def test_targets_share_samples_if_they_do_not_depend_on_each_others_nodes():
    """On a path of messages i → i + 1 with one layer, a node depends on itself and the one before.

    Nodes 0 and 1 conflict, 0 and 5 do not.
    """
    path = np.array([np.arange(9), np.arange(1, 10)])
    made = explainer(x=np.arange(50.0).reshape(10, 5), edges=path)
    chosen = {target: np.array([target]) for target in (0, 1, 5, 3)}
    assert [*_groups(made._graph_model, chosen)] == [[0, 5, 3], [1]]
    mean = explainer(
        lambda x, edge_index: x[..., :1] + x[..., :1].mean(axis=1, keepdims=True),
        x=np.arange(50.0).reshape(10, 5),
        edges=path,
    )
    assert [*_groups(mean._graph_model, chosen)] == [[0], [1], [5], [3]], "all depend on all"


@pytest.mark.parametrize("given", ["subgraph", "whole graph"])
def test_a_prediction_that_depends_on_more_hops_is_explained_alone(given):
    """Node 0 reads node 9 too, which the layers do not say; the others read themselves."""
    x, path = RNG.normal(size=(10, 2)), np.array([np.arange(9), np.arange(1, 10)])

    def far(x, edge_index, nodes):
        out = x.sum(axis=-1, keepdims=True)
        if 9 in nodes and 0 in nodes:
            at = nodes.tolist()
            out[:, at.index(0)] += 5 * x[:, at.index(9)].sum(axis=-1, keepdims=True)
        return out

    def whole(x):
        return far(x, path, np.arange(10))

    model = far if given == "subgraph" else whole
    made = explainer(model, x, path, perturbation="permute", structure=None)
    explanations = {target: made.explain(target) for target in (0, 5, 9)}
    chosen = {target: np.array([target]) for target in explanations}
    assert [*_groups(made._graph_model, chosen)] == [[0, 5, 9]], "or this test could not fail"
    together = dict(made._pipeline().features_of(explanations))
    for target, explanation in explanations.items():
        assert made.explain_features(explanation).agrees(together[target])


def test_many_graphs_share_samples_and_number_their_own_nodes():
    torch = pytest.importorskip("torch")
    calls = []

    class Total(torch.nn.Module):
        def forward(self, x, edge_index, batch):
            calls.append(x.shape)
            value = (x @ torch.tensor(WEIGHTS, dtype=x.dtype)) ** 2
            out = torch.zeros(int(batch.max()) + 1, dtype=x.dtype)
            return out.index_add(0, batch, value)[:, None]

    rng = np.random.default_rng(0)
    graphs = [(rng.normal(size=(n, FEATURES)), np.array([[0, 1], [1, 0]])) for n in (3, 4, 5) * 4]
    total = Total()
    options = {"scores": "values", "progress": False, "num_samples": 200}
    found = explain_graphs(total, graphs, with_features=True, **options)
    together = len(calls)
    calls.clear()
    made = PGMExplainer(total, graphs, task="graph", **options)
    alone = [made.explain(at, with_features=True) for at in range(len(graphs))]
    assert found == alone
    assert len(calls) > 2 * together
    for (x, _), each in zip(graphs, found, strict=True):
        assert set(each.features.nodes.tolist()) == set(each.nodes)
        assert each.features.nodes.max() < len(x)
        assert not each.features.own.any()
    again = made.explain_features(found[4])
    assert again.agrees(found[4].features)


def test_time_steps_are_perturbed_together():
    """The value of a node is the weighted sum over its features at all steps."""
    steps = np.array([1.0, 2.0, 4.0])
    x = RNG.normal(size=(6, 3, 2))

    def model(x, edge_index):
        return np.einsum("bntf,t,f->bn", x, steps, np.array([1.0, -1.0]))[..., None]

    made = explainer(model, x, np.array([[1], [0]]), perturbation="zero")
    found = made.explain(0, with_features=True).features
    truth = -np.einsum("tf,t,f->f", x[0], steps, np.array([1.0, -1.0]))
    own = {each.feature: each.effect for each in found if each.node == 0}
    np.testing.assert_allclose([own[0], own[1]], truth, atol=1e-4)


def test_a_graph_without_selected_nodes_has_an_empty_table():
    made = PGMExplainer(
        lambda x, edge_index: np.zeros((len(x), 2)), X, EDGES, task="graph", progress=False
    )
    with pytest.warns():
        found = made.explain(with_features=True).features
    assert len(found) == found.untested == 0
    assert str(found).startswith("None of 0 features of 0 nodes has a significant effect")


def test_what_cannot_be_explained_is_refused(on_a_path):
    made = PGMExplainer(
        lambda x, edge_index: x.sum(axis=1), X, EDGES, task="graph", parts="edges", progress=False
    )
    with pytest.raises(InputError, match="no nodes are selected"):
        made.explain(with_features=True)
    with pytest.raises(InputError, match="with_features must be True or False, not 'yes'"):
        explainer().explain(3, with_features="yes")
    larger = on_a_path(copies=2).explain(0)
    for wrong in ("x", larger):
        with pytest.raises(InputError, match="explanation"):
            on_a_path().explain_features(wrong)


@pytest.fixture(scope="module")
def explained():
    return explainer(perturbation="zero").explain(3, with_features=True)


def test_saved_and_loaded_it_is_the_same(explained, tmp_path):
    explained.save(tmp_path / "why.json")
    loaded = Explanation.load(tmp_path / "why.json")
    assert loaded == explained
    for name, column in explained.features.columns.items():
        nan = column.dtype.kind == "f"
        assert np.array_equal(loaded.features.columns[name], column, equal_nan=nan), name
    assert str(loaded) == str(explained)
    other = explainer(perturbation="zero").explain(3)
    assert other != explained


def test_names_of_nodes_are_used(explained):
    named = explained.named([f"account {at}" for at in range(NODES)])
    assert {each.node for each in named.features} == {
        f"account {at}" for at in (3, *explained.nodes)
    }
    assert "account 3 (target)" in str(named)


def test_as_a_data_frame_it_has_a_row_for_each_feature(explained):
    pytest.importorskip("pandas")
    frame = explained.features.to_pandas()
    wanted = "node feature own effect low high strength log_p significant value mean share"
    assert list(frame.columns) == wanted.split()
    assert len(frame) == len(explained.features)
    assert set(frame[frame.own].node) == {3}


def test_printed_it_lists_what_matters_the_targets_own_first(explained):
    caption, head, *rows = str(explained.features).splitlines()
    features = explained.features
    found, others = int(features.significant.sum()), len(explained.nodes)
    assert caption.startswith(
        f"{found} of {len(features)} features of the target and {others} other"
    )
    assert head.split()[:4] == ["feature", "node", "value", "effect"]
    own = [" (target)" in row for row in rows]
    assert 0 < sum(own) < len(own)
    assert own == sorted(own, reverse=True)
    assert repr(features).startswith(f"FeatureEffects of {len(features)} features")


def test_a_long_list_is_cut(explained):
    many = np.arange(30)
    ones = np.ones(30)
    found = FeatureEffects(many, many, -ones, -ones, -ones, ones, -9 * ones, ones > 0)
    assert str(found).splitlines()[-1] == "… and 18 more"
    none = FeatureEffects(many, many, -ones, -ones, ones, ones, 0 * ones, ones < 0)
    assert str(none).startswith("None of 30 features of 30 nodes has a significant effect")
    kept = found.keeping(2)
    assert (len(kept), kept.left_out) == (30, 0)
    kept = none.keeping(2)
    assert (len(kept), kept.left_out) == (2, 28)


def test_names_of_features_are_used():
    ones = np.ones(2)
    found = FeatureEffects(
        np.array([3, 4]),
        np.array([1, 0]),
        *(-ones, -ones, -ones, ones, -9 * ones, ones > 0),
        ends=np.array([3]),
        names=NodeNames({3: "Ann", 4: "Bob"}),
        feature_names=("age", "income"),
    )
    assert [(each.node, each.feature) for each in found] == [("Ann", "income"), ("Bob", "age")]
    assert found.columns["feature"].tolist() == ["income", "age"]
    assert str(found).splitlines()[2].split()[:3] == ["income", "Ann", "(target)"]


def test_text_notebook_and_page_say_the_same(explained):
    features = explained.features
    found = f"{int(features.significant.sum())} of {len(features)} features of the target and"
    for shown in (str(explained), explained._repr_html_(), explained.to_html()):
        assert found in " ".join(shown.split())
    plain = explainer(perturbation="zero").explain(3)
    assert "Which features" not in str(plain)
    assert "Which features" not in plain._repr_html_()


def test_plots_draw_the_targets_own_features_first(explained):
    pytest.importorskip("matplotlib")
    axes = explained.plot("features").axes[0]
    labels = [text.get_text() for text in axes.get_yticklabels()]
    own = [label for label in labels if label.endswith("(target)")]
    assert labels[: len(own)] == own
    assert own[0].startswith("feature ")
    assert any(" of node " in label for label in labels)
    assert len(explained.plot("features", max_shown=3).axes[0].get_yticklabels()) == 3
    alone = explained.features.plot().axes[0]
    assert [text.get_text() for text in alone.get_yticklabels()] == labels
    with pytest.raises(InputError, match="with_features=True"):
        explainer().explain(3).plot("features")


def test_wide_sparse_features_are_fast_and_small():
    """3,703 words, of which a document has 32: only these, and frequent words, are tested."""
    rng = np.random.default_rng(0)
    nodes, words = 300, 3703
    x = np.zeros((nodes, words), dtype=np.float32)
    for row in x:
        row[rng.choice(words, 32, replace=False)] = 1
    weights = rng.normal(size=words).astype(np.float32)
    made = explainer(
        lambda x, edge_index: linear_sum(x @ weights, edge_index),
        x,
        np.array([np.arange(1, 7), np.zeros(6, dtype=int)]),
        structure=None,
        max_memory="200MB",
    )
    explanation = made.explain(0)
    started = time.process_time()
    found = made.explain_features(explanation)
    assert time.process_time() - started < 10
    chosen = len(np.unique(found.nodes))
    assert chosen == 6
    assert len(found) + found.untested == chosen * words
    has = x[found.nodes, found.features] == 1
    assert has.sum() == 32 * chosen
    assert len(found) < 40 * chosen
    truth = -np.where(found.nodes == 0, 2, 1) * weights[found.features]
    assert np.corrcoef(found.effect[has], truth[has])[0, 1] > 0.95
