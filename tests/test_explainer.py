from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pgm_explainer import (
    InputError,
    ModelError,
    PerturbationError,
    PGMExplainer,
    PGMExplainerError,
    PGMExplainerWarning,
    QueryError,
)
from pgm_explainer.explanation.formats.settings_file import settings_to_dict
from pgm_explainer.sampling import (
    PERTURBATIONS,
    Deviation,
    Fall,
    LargeFall,
    LargeMove,
    Levels,
    TopDeviation,
    TopFraction,
)
from pgm_explainer.selection import ChiSquareTest
from pgm_explainer.significance import SignificanceConfig
from pgm_explainer.structure import DAG, hill_climb

OPTIONS = {
    "num_layers": 2,
    "num_samples": 200,
    "perturbation": "permute",
    "perturb_probability": 0.25,
}
RICH, ISOLATED = 14, 15  # a target of the toy with many candidates, and one with none


def explainer_of(toy, form="whole", **options):
    return PGMExplainer(getattr(toy, form), toy.x, toy.edge_index, **{**OPTIONS, **options})


def same(left, right):
    """Whether two explanations are equal in everything, what they warn of included."""
    return left == right and left.warnings == right.warnings


# One explanation, however it is come by


@pytest.fixture(scope="module")
def alone(toy):
    """The explanation of each node, computed one by one."""
    explainer = explainer_of(toy)
    return [explainer.explain(node) for node in range(16)]


def test_the_toy_has_something_to_explain(alone):
    assert sum(bool(each.nodes) for each in alone) >= 10
    assert sum(len(each.network.edges) > 1 for each in alone if each.network) >= 5


@pytest.mark.parametrize("form", ["whole", "part"])
@settings(max_examples=20)
@given(group=st.lists(st.integers(0, 15), min_size=1, max_size=8))
def test_any_group_of_targets_gives_the_same_as_each_alone(toy, alone, form, group):
    many = explainer_of(toy, form).explain_many(group)
    assert [each.target for each in many] == group
    assert all(same(each, alone[each.target]) for each in many)


@pytest.mark.parametrize("parts", ["edges", "features", ["nodes", "edges"]])
def test_the_classes_of_nodes_around_do_not_depend_on_other_targets(toy, parts):
    explainer = explainer_of(toy, "part", parts=parts, perturbation="auto")
    for each in explainer.explain_many(range(6)):
        alone = explainer.explain(each.target)
        assert each.node_classes.tolist() == alone.node_classes.tolist()


@pytest.mark.parametrize("test", ["chi_square", "g"])
@pytest.mark.parametrize("no_child", [True, False])
@pytest.mark.parametrize(
    "change", ["large_fall", "large_move", "fall", "flip", "absolute", "top_fraction", "levels"]
)
def test_all_targets_give_the_same_as_each_alone(toy, test, no_child, change):
    explainer = explainer_of(toy, test=test, no_child=no_child, change=change)
    for each in explainer.explain_many(range(11)):
        assert same(each, explainer.explain(each.target))


@pytest.mark.parametrize("form", ["whole", "part"])
@pytest.mark.parametrize(
    "perturbation",
    [
        "mean",
        "zero",
        "max",
        "random",
        "uniform",
        "permute",
        "substitute",
        lambda x, rng: x - x.mean(axis=0) + rng.normal(size=x.shape),
    ],
)
def test_every_perturbation_gives_a_target_the_same_samples_in_any_group(toy, form, perturbation):
    explainer = explainer_of(toy, form, perturbation=perturbation)
    many = explainer.explain_many([2, 9])
    assert same(many[0], explainer.explain(2))
    assert same(many[1], explainer.explain(9))


@pytest.mark.parametrize("form", ["whole", "part"])
@pytest.mark.parametrize(
    "split",
    [
        {"samples_per_call": 1},
        {"samples_per_call": 7},
        {"samples_per_call": 64},
        {"samples_per_call": 200},
        {"max_memory": 1},
        {"max_memory": "100KB"},
        {"max_memory": "1 GB"},
    ],
    ids=str,
)
def test_batch_size_and_memory_do_not_change_the_result(toy, alone, form, split):
    for each in explainer_of(toy, form, **split).explain_many([3, 8]):
        assert same(each, alone[each.target])


@pytest.mark.parametrize("samples_per_call", [1, 7, 64])
def test_how_the_work_is_split_does_not_change_a_graphs_explanation(toy, samples_per_call):
    options = {"task": "graph", "perturbation": "permute", "num_samples": 200}
    whole = PGMExplainer(toy.graph_level, toy.x, toy.edge_index, **options)
    split = PGMExplainer(
        toy.graph_level, toy.x, toy.edge_index, samples_per_call=samples_per_call, **options
    )
    assert same(whole.explain(), split.explain())
    assert whole.explain().nodes


def test_repeated_calls_give_the_same_result(toy, alone):
    explainer = explainer_of(toy)
    explainer.explain_many([1, 2, 3])
    assert same(explainer.explain(RICH), alone[RICH])


def test_targets_come_in_the_given_order_with_duplicates(toy):
    assert [each.target for each in explainer_of(toy).explain_many([5, 2, 5])] == [5, 2, 5]
    assert explainer_of(toy).explain_many([]) == []


@pytest.mark.parametrize(
    "targets", [(3, 8), range(3, 9, 5), np.array([3, 8]), torch.tensor([3, 8]), iter([3, 8])]
)
def test_targets_may_come_in_any_collection(toy, alone, targets):
    many = explainer_of(toy).explain_many(targets)
    assert [each.target for each in many] == [3, 8]
    assert same(many[0], alone[3])


@pytest.mark.parametrize("target", [np.int32(RICH), torch.tensor(RICH)])
def test_a_target_may_be_any_integer(toy, alone, target):
    explanation = explainer_of(toy).explain(target)
    assert type(explanation.target) is int
    assert same(explanation, alone[RICH])


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.tolist(),
        np.asfortranarray,
        lambda x: torch.tensor(x, requires_grad=True),
    ],
    ids=["list", "Fortran order", "tensor with gradient"],
)
def test_features_in_any_container_give_the_same_answer(toy, alone, convert):
    explainer = PGMExplainer(toy.whole, convert(toy.x), torch.tensor(toy.edge_index), **OPTIONS)
    assert same(explainer.explain(RICH), alone[RICH])


def test_one_logit_per_node_is_read_the_same_way_in_any_group():
    # Logits near node 0 happen to lie in [0, 1], as probabilities would; those elsewhere do not.
    x = np.array([[0.4], [0.8], [-3.0], [2.0]])
    edge_index = np.array([[1, 2], [0, 3]])

    def logit(x):
        return x + np.array([[0, 1, 0, 0], [0] * 4, [0] * 4, [0, 0, 1, 0]]) @ x / 2

    explainer = PGMExplainer(logit, x, edge_index, num_layers=1, num_samples=100)
    assert explainer.explain_many([0, 3])[0] == explainer.explain(0)


def test_one_logit_per_node_is_read_the_same_way_in_any_part_of_the_graph():
    x = np.array([[0.4], [0.8], [-3.0], [2.0]])

    def logit(x, edge_index):
        adjacency = np.eye(x.shape[1])
        np.add.at(adjacency, (edge_index[1], edge_index[0]), 0.5)
        return adjacency @ x

    explainer = PGMExplainer(logit, x, [[1, 2], [0, 3]], num_layers=1, perturbation="zero")
    alone = explainer.explain(0)
    assert alone.probability == pytest.approx(explainer.explain_many([0, 3])[0].probability)


SCRIPT = """
import hashlib
import numpy as np
from pgm_explainer import PGMExplainer

rng = np.random.default_rng(3)
x = rng.normal(size=(20, 3))
edge_index = rng.integers(0, 20, size=(2, 50))
weights = rng.normal(size=(2, 3, 3))

def model(x, edge_index):
    adjacency = np.zeros((x.shape[1], x.shape[1]))
    np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
    for w in weights:
        x = np.tanh(x + adjacency @ x @ w)
    return 3 * x

digest = hashlib.sha256()
for no_child in (True, False):
    explainer = PGMExplainer(model, x, edge_index, num_layers=2, num_samples=300, no_child=no_child)
    for each in explainer.explain_many([4, 7, 11]):
        for column in each.ranking.columns.values():
            digest.update(column.tobytes())
        digest.update(repr((each.nodes, each.settings, each.warnings, each.held)).encode())
        digest.update(repr((each.network.edges, each.network.score)).encode())
        for node in each.network.nodes:
            digest.update(each.network.cpt(node).values.tobytes())
print(digest.hexdigest())
"""


def run(script, **environment):
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_fresh_process_with_another_hash_seed_gives_the_same_bits():
    here = io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(SCRIPT, {})
    assert len(here.getvalue()) > 60
    assert run(SCRIPT, PYTHONHASHSEED="1") == here.getvalue()
    assert run(SCRIPT, PYTHONHASHSEED="2") == here.getvalue()


def test_importing_the_package_imports_nothing_heavy():
    script = "import sys, pgm_explainer; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = set(run(script).split())
    assert "numpy" in loaded
    assert not loaded & {"torch", "torch_geometric", "matplotlib", "pandas", "networkx", "pgmpy"}
    assert not loaded & {"pyarrow", "ray"}


def test_slow_modules_are_imported_on_first_use():
    """Those of SciPy take as long to import as the rest of the package."""
    script = "import sys, pgm_explainer; print(*sys.modules)"
    slow = {"scipy.special", "scipy.sparse", "scipy.spatial", "multiprocessing", "http.client"}
    slow |= {"pgm_explainer.report.html"}
    assert not set(run(script).split()) & slow


# The caller's things stay as they were


def test_the_callers_arrays_are_read_only_and_unchanged(toy, alone):
    x, edge_index = toy.x.copy(), toy.edge_index.copy()
    x.flags.writeable = edge_index.flags.writeable = False
    explainer = PGMExplainer(toy.part, x, edge_index, **OPTIONS)
    assert same(explainer.explain(RICH), alone[RICH])
    np.testing.assert_array_equal(x, toy.x)
    np.testing.assert_array_equal(edge_index, toy.edge_index)


def test_a_model_that_edits_its_features_in_place_does_no_harm(toy, alone):
    x = toy.x.copy()

    def vandal(features):
        scores = toy.whole(features)
        features[:] = np.nan
        return scores

    explainer = PGMExplainer(vandal, x, toy.edge_index, **OPTIONS)
    assert same(explainer.explain(RICH), alone[RICH])
    assert same(explainer.explain(3), alone[3])
    np.testing.assert_array_equal(x, toy.x)


def test_a_model_that_edits_its_edges_in_place_does_no_harm(toy, alone):
    def vandal(features, edge_index, nodes, edges):
        scores = toy.part(features, edge_index)
        edge_index[:] = nodes[:] = edges[:] = 0
        return scores

    explainer = PGMExplainer(vandal, toy.x, toy.edge_index, samples_per_call=50, **OPTIONS)
    assert same(explainer.explain(RICH), alone[RICH])
    assert same(explainer.explain(3), alone[3])


def test_a_graph_model_that_edits_its_edges_does_not_change_the_callers(toy):
    edge_index = toy.edge_index.copy()

    def vandal(features, edge_index):
        scores = toy.part(features, edge_index).mean(axis=1)
        edge_index[:] = 0
        return scores

    with contextlib.suppress(PGMExplainerError):
        PGMExplainer(vandal, toy.x, edge_index, task="graph", **OPTIONS).explain()
    np.testing.assert_array_equal(edge_index, toy.edge_index)


def test_a_perturbation_that_edits_its_features_in_place_does_no_harm(toy):
    x = toy.x.copy()

    def wipe(features, rng):
        features[:] = 0
        return features

    edited = PGMExplainer(toy.whole, x, toy.edge_index, **{**OPTIONS, "perturbation": wipe})
    zeroed = explainer_of(toy, perturbation="zero")
    assert edited.explain(RICH) == zeroed.explain(RICH)
    np.testing.assert_array_equal(x, toy.x)


# Models with known explanations


NUM_NODES, TARGET, CAUSES = 9, 4, [1, 6]
STAR = np.array([[node for node in range(NUM_NODES) if node != TARGET], [TARGET] * 8])


def planted(x):
    """The target is of class 1 while both causes keep their ones; the others mind themselves."""
    scores = 8 * x[..., :1] - 4
    scores[:, TARGET] = 8 * x[:, CAUSES[0], :1] * x[:, CAUSES[1], :1] - 4
    return np.concatenate([-scores, scores], axis=-1)


def planted_graph(x):
    return planted(x)[:, TARGET]


def explain_planted(**options):
    given = {"num_layers": 1, "perturbation": "zero", "significance": 0.001, **options}
    return PGMExplainer(planted, np.ones((NUM_NODES, 2)), STAR, **given).explain(TARGET)


@pytest.mark.parametrize("no_child", [True, False])
@pytest.mark.parametrize("structure", ["auto", "hill_climb", "exact"])
@pytest.mark.parametrize("test", ["chi_square", "g"])
def test_the_planted_causes_are_found_and_nothing_else(no_child, structure, test):
    explanation = explain_planted(no_child=no_child, structure=structure, test=test)
    assert sorted(explanation.nodes) == CAUSES
    assert sorted(each.node for each in explanation.ranking[:2]) == CAUSES
    assert len(explanation.ranking) == 8
    assert sorted(explanation.markov_blanket) == CAUSES
    assert explanation.predicted_class == 1
    assert explanation.probability > 0.99


@pytest.mark.parametrize("no_child", [True, False])
def test_queries_follow_the_planted_rule(no_child):
    explanation = explain_planted(no_child=no_child, num_samples=2000)
    one, other = CAUSES
    assert explanation.query() == pytest.approx(explanation.held, abs=0.03)
    assert explanation.query() == pytest.approx(0.9**2, abs=0.03)
    assert explanation.query({one: "perturbed"}) == pytest.approx(0)
    assert explanation.query({one: "original"}) == pytest.approx(0.9, abs=0.03)
    assert explanation.query({one: "kept", other: "original"}) == pytest.approx(1)
    assert explanation.query({one: "original", other: "changed"}) == pytest.approx(0)
    assert explanation.query({TARGET: "changed"}) == pytest.approx(0)


def test_the_target_is_a_leaf_with_no_child_and_not_among_the_nodes():
    explanation = explain_planted(only_significant=False, max_nodes=8)
    assert explanation.network.children(TARGET) == []
    assert sorted(explanation.network.parents(TARGET)) == CAUSES
    assert TARGET not in explanation.nodes
    assert explanation.network.nodes == [*explanation.nodes, TARGET]


@pytest.mark.parametrize("change", ["auto", "large_fall", "flip", "fall", "absolute", "levels"])
def test_the_planted_causes_of_a_graphs_prediction_are_found(change):
    explainer = PGMExplainer(
        planted_graph,
        np.ones((NUM_NODES, 2)),
        STAR,
        task="graph",
        perturbation="zero",
        significance=0.001,
        change=change,
    )
    explanation = explainer.explain()
    one, other = CAUSES
    assert explanation.target == "graph"
    assert explanation.task == "graph"
    assert sorted(explanation.nodes) == CAUSES
    assert explanation.network.children("graph") == []
    assert explanation.query() == pytest.approx(0.9**2, abs=0.05)
    assert explanation.query({one: "perturbed"}) == pytest.approx(0)
    assert explanation.query({one: "original", other: "original"}) == pytest.approx(1)


def test_a_subgraph_model_does_not_get_distant_nodes():
    far = np.array([[0, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7]])
    seen, in_samples = set(), set()

    def model(x, edge_index, nodes):
        seen.update(nodes.tolist())
        if len(x) > 5:
            in_samples.update(nodes.tolist())
        adjacency = np.zeros((x.shape[1], x.shape[1]))
        np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
        score = adjacency @ x - 0.5
        return np.concatenate([-4 * score, 4 * score], axis=-1)

    explainer = PGMExplainer(model, np.ones((1000, 1)), far, num_layers=1)
    assert explainer.explain(6).nodes == [5]
    assert in_samples == {3, 4, 5, 6, 7}
    assert 2 in seen  # one hop more, once, to check that it makes no difference
    assert len(seen) < 15  # and another place, to see what the model is like


# How far an explanation may look


def test_hops_limit_the_candidates_but_not_the_subgraph(toy):
    for form in ("whole", "part"):
        near, far = explainer_of(toy, form, hops=1), explainer_of(toy, form)
        sources = set(toy.edge_index[0, toy.edge_index[1] == RICH].tolist()) - {RICH}
        assert set(near.candidates(RICH).tolist()) == sources
        assert sources < set(far.candidates(RICH).tolist())
        assert near.predict(RICH) == far.predict(RICH)
        close, wide = near.explain(RICH), far.explain(RICH)
        assert close.settings.model.hops == 1
        assert wide.settings.model.hops == wide.settings.model.num_layers == 2
        assert set(close.nodes) <= sources
        assert (close.values, close.predicted_class) == (wide.values, wide.predicted_class)


def test_as_many_hops_as_layers_are_the_default(toy, alone):
    explanation = explainer_of(toy, hops=2).explain(RICH)
    assert explanation.ranking == alone[RICH].ranking


def test_a_graph_has_no_hops(toy):
    with pytest.raises(InputError, match="hops=2 does not apply"):
        PGMExplainer(toy.graph_level, toy.x, toy.edge_index, task="graph", hops=2)


# Odd graphs


def sum_model(x, edge_index):
    """One layer: a node's score adds up its own features and those along each edge to it."""
    adjacency = np.eye(x.shape[1])
    np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
    score = adjacency @ x.sum(axis=-1, keepdims=True) - 0.5
    return np.concatenate([-4 * score, 4 * score], axis=-1)


@pytest.mark.parametrize("no_child", [True, False])
@pytest.mark.parametrize("correction", ["none", "benjamini_hochberg"])
@pytest.mark.parametrize("edge_index", [np.array([[0], [1]]), [[0, 2], [1, 2]]])
def test_an_isolated_node_has_a_network_of_itself(edge_index, no_child, correction):
    explainer = PGMExplainer(
        sum_model, np.ones((3, 1)), edge_index, no_child=no_child, correction=correction
    )
    with pytest.warns(PGMExplainerWarning, match="no other node can influence the target"):
        explanation = explainer.explain(2)
    assert explanation.nodes == []
    assert len(explanation.ranking) == 0
    assert explanation.network.nodes == [2]
    assert explanation.markov_blanket == []
    assert explanation.query({2: "original"}) == pytest.approx(1)
    assert 0 < explanation.query() < 1


@pytest.mark.parametrize("task", ["node", "graph"])
@pytest.mark.parametrize("edge_index", [[], np.zeros((2, 0), dtype=int), [[0, 0], [0, 0]]])
def test_a_graph_of_one_node_works(task, edge_index):
    def model(x):
        scores = 8 * x[..., [0, 0]] * [-1, 1]
        return scores if task == "node" else scores[:, 0]

    explainer = PGMExplainer(model, np.ones((1, 1)), edge_index, task=task)
    explanation = explainer.explain(0 if task == "node" else None)
    assert explanation.nodes == ([] if task == "node" else [0])
    assert explanation.held == pytest.approx(explanation.query())
    assert explanation.settings.sampling.perturbation.name == "random"


def test_duplicate_edges_and_self_loops_are_passed_on_but_name_a_node_once():
    edge_index = np.array([[0, 0, 0, 1, 1, 2], [1, 1, 1, 1, 1, 1]])
    seen = []

    def model(x, edge_index):
        seen.append(edge_index.shape[1])
        return sum_model(x, edge_index)

    explanation = PGMExplainer(model, np.ones((4, 1)), edge_index, num_layers=2).explain(1)
    assert sorted(each.node for each in explanation.ranking) == [0, 2]
    assert set(seen) == {6}


def test_direction_matters():
    explainer = PGMExplainer(sum_model, np.ones((2, 1)), [[0], [1]], num_layers=1)
    assert [each.node for each in explainer.explain(1).ranking] == [0]
    assert [each.node for each in explainer.explain(0).ranking] == []


def test_without_layers_a_node_depends_only_on_itself():
    explainer = PGMExplainer(sum_model, np.ones((2, 1)), [[0], [1]], num_layers=0)
    assert len(explainer.explain(1).ranking) == 0


# Errors if there is nothing to explain


@pytest.mark.parametrize("only_significant", [True, False])
@pytest.mark.parametrize("task", ["node", "graph"])
def test_a_prediction_that_never_changes_has_no_network(task, only_significant):
    def model(x):
        scores = np.broadcast_to([0.0, 1.5], (*x.shape[:2], 2))
        return scores if task == "node" else scores[:, 0]

    explainer = PGMExplainer(
        model, np.eye(4), STAR[:, :0], task=task, only_significant=only_significant
    )
    with pytest.warns(PGMExplainerWarning, match="the prediction was kept in all 1000 samples"):
        explanation = explainer.explain(1 if task == "node" else None)
    assert explanation.network is None
    assert explanation.nodes == []
    assert explanation.markov_blanket == []
    assert explanation.held == 1
    assert any("kept in all" in text for text in explanation.warnings)
    with pytest.raises(QueryError, match="no network"):
        explanation.query()


@pytest.mark.parametrize("value", [1.0, 0.1, 0.0])
def test_the_mean_of_constant_features_is_an_error_that_says_what_to_do(value):
    x = np.full((NUM_NODES, 2), value)
    explainer = PGMExplainer(planted, x, STAR, perturbation="mean")
    with pytest.raises(PerturbationError, match=r"'mean' changes no feature.*'random'"):
        explainer.explain(TARGET)


@pytest.mark.parametrize("value", [1.0, 0.1])
def test_auto_takes_random_for_constant_features_and_says_so(value):
    x = np.full((NUM_NODES, 2), value)
    explanation = PGMExplainer(planted, x, STAR, num_layers=1).explain(TARGET)
    assert explanation.settings.sampling.perturbation.name == "random"


def test_auto_takes_the_features_of_another_node_where_they_differ_and_says_so(toy):
    explanation = explainer_of(toy, perturbation="auto").explain(RICH)
    assert explanation.settings.sampling.perturbation.name == "permute"


def test_auto_takes_the_mean_for_a_graph_and_says_so(toy):
    explainer = PGMExplainer(toy.graph_level, toy.x, toy.edge_index, task="graph")
    assert explainer.explain().settings.sampling.perturbation.name == "mean"


def test_zeroing_zeros_is_an_error_naming_the_perturbation():
    explainer = PGMExplainer(planted, np.zeros((NUM_NODES, 2)), STAR, perturbation="zero")
    with pytest.raises(PerturbationError, match="'zero'"):
        explainer.explain(TARGET)


# Warnings


def test_a_good_explanation_has_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert explain_planted().warnings == ()


def test_a_perturbation_that_rarely_changes_anything_is_warned_of():
    def seldom(x, rng):
        return x * (rng.random((len(x), 1)) > 0.05)

    with pytest.warns(PGMExplainerWarning, match=r"'seldom' changes .* in only \d% of the cases"):
        explain_planted(perturbation=seldom)


def test_an_outcome_that_hardly_varies_is_warned_of():
    with pytest.warns(PGMExplainerWarning, match=r"changed in [1-4] of 400 samples"):
        explain_planted(num_samples=400, perturb_probability=0.001)


def test_tables_with_few_samples_are_warned_of(toy):
    def all_into_the_last(data, cardinalities):
        last = len(cardinalities) - 1
        return DAG(last + 1, [(parent, last) for parent in range(last)])

    explainer = explainer_of(toy, num_samples=100, no_child=False, structure=all_into_the_last)
    with pytest.warns(PGMExplainerWarning, match="seen fewer than 5 times"):
        explainer.explain(RICH)


def test_explain_many_warns_once_and_counts(toy):
    with pytest.warns(PGMExplainerWarning) as caught:
        many = explainer_of(toy).explain_many(range(16))
    assert many[ISOLATED].warnings
    weak = sum(bool(each.warnings) for each in many)
    assert len(caught) == 1
    said = str(caught[0].message)
    assert said.startswith(f"{weak} of 16 explanations have warnings; the most frequent (")
    assert any(text in said for each in many for text in each.warnings)


def test_a_warning_points_at_the_callers_line(toy):
    with pytest.warns(PGMExplainerWarning) as caught:
        explainer_of(toy).explain(ISOLATED)
    assert caught[0].filename == __file__


# Every option does something


def no_edges(data, cardinalities):
    return DAG(len(cardinalities))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("num_layers", 1),
        ("hops", 1),
        ("num_samples", 100),
        ("perturbation", "zero"),
        ("perturbation", "uniform"),
        ("perturbation", lambda x, rng: x + 1),
        ("perturb_probability", 0.5),
        ("features", [0]),
        ("change", "fall"),
        ("change", LargeFall(0.1)),
        ("change", LargeMove()),
        ("change", "flip"),
        ("change", "absolute"),
        ("change", "top_fraction"),
        ("change", "levels"),
        ("change", Fall(0.3)),
        ("change", Levels((0.1, 0.5))),
        ("change", TopFraction(0.3)),
        ("change", lambda before, after: after[..., 0] > 0.5),
        ("scores", "values"),
        ("output", 1),
        ("explained_class", 0),
        ("explained_class", 1),
        ("explained_class", [0, 1] * 8),
        ("change", Deviation(0.3)),
        ("change", TopDeviation(0.3)),
        ("test", "chi_square"),
        ("test", ChiSquareTest()),
        ("significance", 1e-12),
        ("max_nodes", 1),
        ("only_significant", False),
        ("target_table", "full"),
        ("no_child", False),
        ("structure", no_edges),
        ("structure", None),
        ("score", "aic"),
        ("score", "bdeu"),
        ("score", "log_likelihood"),
        ("smoothing", 1.0),
        ("seed", 1),
    ],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_an_option_that_is_set_changes_the_explanation(toy, option, value):
    def normalised(x):
        scores = toy.whole(x)
        return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True)) - 0.5

    def explanation(**options):
        chosen = {"scores": "logits", "max_nodes": 9, "significance": 0.001}
        given = {**OPTIONS, **chosen, **options}
        return PGMExplainer(normalised, toy.x, toy.edge_index, **given).explain(RICH)

    assert explanation(**{option: value}) != explanation()


def test_the_kind_of_scores_that_is_stated_changes_the_explanation(toy):
    def probabilities(x):
        return np.exp(toy.whole(x)) / np.exp(toy.whole(x)).sum(axis=-1, keepdims=True)

    def explanation(scores):
        return PGMExplainer(probabilities, toy.x, toy.edge_index, scores=scores, **OPTIONS).explain(
            RICH
        )

    assert explanation("logits") != explanation("probabilities")
    assert explanation("auto") == explanation("probabilities")


class Layered:
    """A predictor that declares its number of layers."""

    accepts_subgraph = False

    def __init__(self, toy, num_layers):
        self.whole, self.num_layers = toy.whole, num_layers

    def __call__(self, x, part, pairs=None):
        return self.whole(x)


@pytest.mark.parametrize(
    ("counted", "stated", "used"),
    [(2, None, 2), (2, 1, 1), (None, None, 3), (None, 2, 2), (0, None, 0)],
)
def test_the_number_of_layers_is_given_or_counted_or_three(toy, counted, stated, used):
    options = {**OPTIONS, "num_layers": stated}
    explainer = PGMExplainer(Layered(toy, counted), toy.x, toy.edge_index, **options)
    assert explainer.num_layers == used
    assert explainer.explain(RICH) == explainer_of(toy, num_layers=used).explain(RICH)
    assert explainer.explain(RICH).settings.model.num_layers == used


def test_a_function_is_assumed_to_have_three_layers(toy):
    assert PGMExplainer(toy.whole, toy.x, toy.edge_index).num_layers == 3


def test_significance_may_be_any_real_number(toy):
    exact = explainer_of(toy, significance=Fraction(1, 20)).explain(RICH)
    assert exact == explainer_of(toy, significance=0.05).explain(RICH)


def test_the_task_determines_the_expected_shape(toy):
    PGMExplainer(toy.graph_level, toy.x, toy.edge_index, task="graph").explain()
    with pytest.raises(ModelError, match=r"this task needs \[1, classes\]"):
        PGMExplainer(toy.whole, toy.x, toy.edge_index, task="graph").explain()
    with pytest.raises(ModelError, match=r"needs \[1, 16, classes\].* set task='graph'"):
        PGMExplainer(toy.graph_level, toy.x, toy.edge_index, task="node").explain(1)


def test_a_correction_leaves_fewer_significant(toy):
    def found(correction):
        options = {"correction": correction, "significance": 0.6}
        many = explainer_of(toy, **options).explain_many(range(11))
        return [set(each.ranking.nodes[each.ranking.significant].tolist()) for each in many]

    plain, corrected = found("none"), found("benjamini_hochberg")
    assert all(few <= many for few, many in zip(corrected, plain, strict=True))
    log_p = np.log([0.01, 0.04, 0.5])
    plain, corrected = (
        SignificanceConfig(correction=name).passed(log_p) for name in ("none", "benjamini_hochberg")
    )
    assert plain.sum() > corrected.sum()


def test_max_nodes_bounds_and_only_significant_fills_up(toy):
    every = explainer_of(toy, only_significant=False, max_nodes=4).explain(RICH)
    assert len(every.nodes) == 4
    few = explainer_of(toy, max_nodes=2).explain(RICH)
    assert len(few.nodes) <= 2
    causes = {each.node for each in few.effects if each.significant}
    assert all(each.significant or each.node in causes for each in few.ranking if each.selected)
    everyone = explainer_of(toy, only_significant=False, max_nodes=None, structure=None)
    found = everyone.explain(RICH)
    assert sorted(found.nodes) == sorted(found.ranking.nodes.tolist())


def test_max_parents_bounds_the_search(toy):
    loose = {"no_child": False, "score": "log_likelihood", "only_significant": False}
    free = explainer_of(toy, **loose).explain(RICH).network
    bound = explainer_of(toy, **loose, max_parents=1).explain(RICH).network
    assert max(len(free.parents(node)) for node in free.nodes) > 1
    assert max(len(bound.parents(node)) for node in bound.nodes) == 1


@pytest.mark.parametrize("max_nodes", [3, 6])
def test_exact_search_scores_no_worse_than_hill_climbing(toy, max_nodes):
    options = {"no_child": False, "only_significant": False, "max_nodes": max_nodes}
    climbed = explainer_of(toy, structure="hill_climb", **options).explain_many(range(12))
    exact = explainer_of(toy, structure="exact", **options).explain_many(range(12))
    for best, found in zip(exact, climbed, strict=True):
        if best.network is not None:
            assert best.network.score >= found.network.score - 1e-9


def test_a_user_defined_search_gets_the_selected_columns(toy):
    calls = []

    def own(data, cardinalities):
        calls.append((data.shape, list(cardinalities)))
        return hill_climb(data, cardinalities)

    mine = explainer_of(toy, structure=own).explain(RICH)
    assert mine == explainer_of(toy, structure="hill_climb").explain(RICH)
    assert calls == [((200, len(mine.nodes)), [4] * len(mine.nodes))]


def test_without_a_structure_the_nodes_are_the_same_and_there_is_no_network(toy, alone):
    bare = explainer_of(toy, structure=None).explain(RICH)
    assert bare.ranking == alone[RICH].ranking
    assert bare.nodes == alone[RICH].nodes
    assert bare.nodes
    assert bare.network is None
    assert bare.markov_blanket == []
    assert "What changes the prediction" in str(bare)
    with pytest.raises(QueryError, match="structure=None"):
        bare.query()


@pytest.mark.parametrize(
    ("option", "value", "sizes"),
    [
        ("samples_per_call", 90, [90, 90, 20]),
        ("samples_per_call", 1000, [200]),
        ("max_memory", 2 * ((6 * 16 + 3 * 28) * 64 + 4 * 16 * 3) * 8 * 152, [152, 48]),
    ],
)
def test_samples_per_call_bounds_the_batch(toy, option, value, sizes):
    calls = []

    def watched(x):
        calls.append(len(x))
        return toy.whole(x)

    PGMExplainer(watched, toy.x, toy.edge_index, **OPTIONS, **{option: value}).explain(RICH)
    assert calls[-len(sizes) :] == sizes
    assert sum(calls[: -len(sizes)]) < 10


@pytest.mark.parametrize("scores", ["logits", "probabilities", "log_probabilities", "auto"])
def test_scores_of_any_kind_give_the_same_explanation(toy, alone, scores):
    def model(x):
        logits = toy.whole(x)
        probabilities = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        kinds = {"logits": logits, "log_probabilities": np.log(probabilities)}
        return kinds.get(scores, probabilities)

    explanation = PGMExplainer(model, toy.x, toy.edge_index, **OPTIONS, scores=scores).explain(RICH)
    assert explanation.ranking == alone[RICH].ranking
    assert explanation.network == alone[RICH].network


# What an explanation records


def test_the_settings_are_recorded(toy):
    said = explainer_of(toy, perturbation="auto", features=[0, 1], seed=4).explain(RICH).settings
    assert said.sampling.perturbation == PERTURBATIONS["permute"]
    assert said.sampling.change == LargeFall(0.4, 0.15)
    again = PGMExplainer(toy.whole, toy.x, toy.edge_index, **said.options()).explain(RICH)
    assert again.settings == said
    sampling = said.sampling
    assert (sampling.features, sampling.seed, sampling.num_samples) == ((0, 1), 4, 200)
    json.dumps(settings_to_dict(said))


def test_the_settings_are_the_same_in_every_process():
    def mine(before, after):
        return after[..., 0] > 0.5

    said = json.dumps(settings_to_dict(explain_planted(change=mine).settings))
    assert "mine" in said
    assert " at 0x" not in said


def test_the_neighbourhood_holds_candidates_target_and_their_edges():
    part = explain_planted().neighbourhood
    assert part.nodes.tolist() == list(range(NUM_NODES))
    np.testing.assert_array_equal(part.edge_index, STAR)


def test_a_ranking_lists_every_candidate_most_dependent_first(alone):
    ranking = alone[RICH].ranking
    order = list(zip(~ranking.significant, ranking.log_p, strict=True))
    assert order == sorted(order)
    assert sorted(each.node for each in ranking if each.selected) == sorted(alone[RICH].nodes)
    assert RICH not in ranking.nodes


def test_unlike_explanations_are_unequal(alone):
    assert alone[3] != alone[RICH]
    assert alone[3] != "an explanation"


def test_evidence_that_cannot_be_is_a_query_error():
    explanation = explain_planted()
    one, other = CAUSES
    with pytest.raises(QueryError, match="probability 0"):
        explanation.query({one: "original, changed"})
    with pytest.raises(QueryError, match="3 is not in the network"):
        explanation.query({3: "kept"})
    with pytest.raises(QueryError, match="'gone'"):
        explanation.query({other: "gone"})


@pytest.mark.parametrize("evidence", ["kept", [(1, "kept")], 1])
def test_evidence_that_is_no_mapping_is_named(evidence):
    with pytest.raises(QueryError) as error:
        explain_planted().query(evidence)
    assert repr(evidence) in str(error.value)


def test_a_search_that_answers_with_no_dag_is_an_error(toy):
    explainer = explainer_of(toy, structure=lambda data, cardinalities: [(0, 1)])
    with pytest.raises(InputError, match=r"must return a DAG.*\[\(0, 1\)\]"):
        explainer.explain(RICH)


def test_a_mask_of_nodes_is_accepted_as_targets(toy):
    mask = np.zeros(16, dtype=bool)
    mask[[3, 14]] = True
    assert [each.target for each in explainer_of(toy).explain_many(mask)] == [3, 14]


def test_a_common_cause_does_not_give_an_effect():
    """Nodes 1 and 2 both follow node 0; 2 has an edge from 1, but ignores it."""
    edges = np.array([[0, 0, 1], [1, 2, 2]])

    def model(x):
        score = np.repeat(4 * x[:, :1], 3, axis=1)
        return np.concatenate([score, -score], axis=-1)

    def explain(**options):
        return PGMExplainer(model, np.eye(3)[:, :1] + 1, edges, num_layers=1, **options).explain(2)

    explanation = explain()
    assert sorted(explanation.nodes) == [0, 1]
    assert [each.node for each in explanation.effects if each.significant] == [0]


def test_an_explainer_shows_what_it_explains(toy):
    assert repr(explainer_of(toy)) == (
        "PGMExplainer(whole, 16 nodes, 28 edges, 3 features, task='node', num_layers=2, "
        "num_samples=200, parts='nodes', perturbation='permute')"
    )
    linear = torch.nn.Linear(2, 2)
    x = np.arange(24).reshape(4, 3, 2)
    shown = repr(PGMExplainer(linear, x, np.zeros((2, 0), int), num_samples="auto"))
    assert shown.startswith("PGMExplainer(Linear, 4 nodes, 0 edges, 3 time steps, 2 features")
    assert "num_samples='auto'" in shown


def test_messages_do_not_leak_internals(toy, tmp_path):
    explanation = explainer_of(toy).explain(14)
    with pytest.raises(
        InputError, match="names has 1 names, but the graph has more nodes"
    ) as short:
        explanation.named(["Ada"])
    with pytest.raises(PGMExplainerError, match="there is no folder") as unwritten:
        explanation.save(tmp_path / "none" / "why.json")
    with pytest.raises(InputError, match="a plot of kind 'network' takes no max_shown") as plotted:
        explanation.plot("network", max_shown=3)
    for caught in (short, unwritten, plotted):
        assert "out of range" not in str(caught.value)
        assert ".part" not in str(caught.value)
        assert "unexpected keyword" not in str(caught.value)
