"""Minimal sets: counterfactual and sufficient sets of parts, compared with all subsets."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations

import numpy as np
import pytest

from pgm_explainer import (
    Deviation,
    Explanation,
    Groups,
    InputError,
    PGMExplainer,
    QueryError,
    explain_graphs,
)
from pgm_explainer.minimal_sets import SearchOptions
from pgm_explainer.minimal_sets.find import _checked, _refusal
from pgm_explainer.minimal_sets.search import Search
from pgm_explainer.sampling import Population


def softmax(scores):
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return scores / scores.sum(axis=-1, keepdims=True)


def smallest_by_brute_force(parts, is_right):
    """The size of the smallest subset for which ``is_right`` is true; None if there is none."""
    for size in range(len(parts) + 1):
        if any(is_right(set(chosen)) for chosen in combinations(parts, size)):
            return size
    return None


def random_graph(seed, num_nodes=8):
    """A random graph with features, and a model of two layers with rather random predictions."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(num_nodes, 3))
    pairs = np.array([pair for pair in combinations(range(num_nodes), 2) if rng.random() < 0.3])
    edges = np.concatenate((pairs, pairs[:, ::-1])).T
    first, second = rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 6, 2))

    def model(x, edge_index):
        adjacency = np.zeros((x.shape[1], x.shape[1]))
        np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
        hidden = np.tanh(x @ first[0] + adjacency @ x @ first[1])
        return hidden @ second[0] + adjacency @ hidden @ second[1]

    return model, x, edges


def predicted_without(model, x, edges, target, parts, kind):
    """The class that is predicted if some parts are perturbed: zeroed nodes, or removed edges."""
    new, left = x.copy(), edges
    if kind == "edges":
        gone = {pair for u, v in parts for pair in ((u, v), (v, u))}
        left = np.array([pair for pair in edges.T.tolist() if tuple(pair) not in gone])
        left = left.reshape(-1, 2).T.astype(int)
    else:
        new[list(parts)] = 0
    scores = model(new[None], left)[0]
    return int((scores.mean(axis=0) if target is None else scores[target]).argmax())


@pytest.mark.parametrize("kind", ["nodes", "edges"])
@pytest.mark.parametrize("seed", range(8))
def test_sets_are_as_small_as_those_of_a_brute_force_search(kind, seed):
    model, x, edges = random_graph(seed)
    options = {"perturbation": "zero"} if kind == "nodes" else {}
    explainer = PGMExplainer(
        model, x, edges, num_layers=2, parts=kind, num_samples=300, structure=None, **options
    )
    target = 3
    explanation = explainer.explain(target)
    every = explanation.effects.parts

    def after(parts):
        return predicted_without(model, x, edges, target, parts, kind)

    before = after([])
    least = smallest_by_brute_force(every, lambda chosen: after(chosen) != before)
    if least is None:
        with pytest.raises(QueryError, match="no set of the"):
            explanation.counterfactual()
    else:
        found = explanation.counterfactual()
        assert after(found.parts) != before
        assert (len(found), found.probability, found.low) == (least, 1.0, 1.0)
    kept = explanation.sufficient()
    assert after([each for each in every if each not in kept.parts]) == before
    assert len(kept) == smallest_by_brute_force(
        every, lambda chosen: after([each for each in every if each not in chosen]) == before
    )


def test_random_perturbations_give_a_probability_with_its_interval():
    """Features are 0 or 1 evenly; the sum of three nodes is 3, and a fall to 1 flips the class."""
    x = np.array([[1.0]] * 3 + [[0.0]] * 3)
    edges = np.array([[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]])

    def model(x, edge_index):
        total = x[:, :3].sum(axis=(1, 2))
        return np.stack([1.5 - total, total - 1.5], axis=-1)

    explainer = PGMExplainer(model, x, edges, task="graph", perturbation="permute", seed=3)
    explanation = explainer.explain()
    found = explanation.counterfactual(num_samples=2000, probability=0.3, max_size=2)
    assert sorted(found.parts) in ([0, 1], [0, 2], [1, 2])
    # A perturbed node has another node's features: 0 for 3 of the 5 others, or of all 6.
    assert found.low <= found.probability <= found.high
    assert found.low < 0.36
    assert found.high > 0.25
    assert found.high - found.low < 0.05
    again = PGMExplainer(model, x, edges, task="graph", perturbation="permute", seed=3).explain()
    assert again.counterfactual(num_samples=2000, probability=0.3, max_size=2) == found
    with pytest.raises(QueryError, match="with probability"):
        explanation.counterfactual(probability=0.99)


def test_the_number_of_queries_is_that_of_the_graphs_the_model_got():
    calls = []

    def model(x, edge_index):
        calls.append(len(x))
        total = x[..., 0].sum(axis=1)
        return np.stack([2 - total, total - 2], axis=-1)

    edges = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
    explainer = PGMExplainer(model, np.eye(4) + 1, edges, task="graph", perturbation="zero")
    explanation = explainer.explain()
    explanation.counterfactual()
    del calls[:]
    found = explanation.counterfactual()
    looked_at = 4  # the unperturbed graph, once and three times in a batch
    assert sum(calls) - looked_at == found.queries > 0
    assert found.num_parts == 4


def two_triangles():
    """Two triangles joined by an edge; the model finds class 1 where three features are 1."""
    pairs = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)]
    edges = np.array(pairs + [pair[::-1] for pair in pairs]).T
    x = np.array([[1.0, 5.0]] * 3 + [[0.0, 5.0]] * 3)
    return x, edges


def count_model(x, edge_index):
    total = x[..., 0].sum(axis=1)
    return np.stack([2.5 - total, total - 2.5], axis=-1)


@pytest.mark.parametrize(
    ("parts", "changing", "keeping"),
    [
        ({"left": [0, 1, 2], "right": [3, 4, 5]}, ("left",), ("left",)),
        ("features", ("feature 0",), ("feature 0",)),
    ],
)
def test_groups_and_features(parts, changing, keeping):
    x, edges = two_triangles()
    explainer = PGMExplainer(
        count_model, x, edges, task="graph", parts=parts, perturbation="zero", num_samples=200
    )
    explanation = explainer.explain()
    assert explanation.counterfactual().parts == changing
    assert explanation.sufficient().parts == keeping


def test_a_mix_of_nodes_and_edges():
    x, edges = two_triangles()

    def model(x, edge_index):
        left = (edge_index < 3).all(axis=0).sum()
        total = x[:, :3, 0].sum(axis=1) + left / 6
        return np.stack([3.5 - total, total - 3.5], axis=-1)

    explainer = PGMExplainer(
        model, x, edges, task="graph", parts=["nodes", "edges"], perturbation="zero"
    )
    found = explainer.explain().counterfactual()
    assert found.parts[0] in (0, 1, 2)
    assert len(found) == 1
    kept = explainer.explain().sufficient()
    assert {0, 1, 2} < set(kept.parts)
    assert len(kept) == 5


def test_edge_task_and_names():
    x, edges = two_triangles()

    def model(x, edge_index, pairs):
        score = x[:, pairs[0], 0] + x[:, pairs[1], 0] - 1.5
        return np.stack([-score, score], axis=-1)

    explainer = PGMExplainer(model, x, edges, task="edge", num_layers=1, perturbation="zero")
    explanation = explainer.explain((0, 1)).named(list("abcdef"))
    assert explanation.counterfactual().parts in (("a",), ("b",))
    assert set(explanation.sufficient().parts) == {"a", "b"}


@pytest.mark.parametrize("parts", ["nodes", "edges"])
def test_many_graphs(parts):
    graphs = []
    for at in range(3):
        ring = np.arange(4 + at)
        forth = np.stack((ring, np.roll(ring, 1)))
        x = np.zeros((len(ring), 1))
        x[at] = 1
        graphs.append((x, np.concatenate((forth, forth[::-1]), axis=1)))

    def model(x, edge_index):
        if parts == "nodes":
            score = x[..., 0].sum(axis=1) - 0.5
        else:
            score = np.full(len(x), ((edge_index == 0).any(axis=0)).sum() - 3.5)
        return np.stack([-score, score], axis=-1)

    chosen = {"perturbation": "zero"} if parts == "nodes" else {}
    found = explain_graphs(model, graphs, parts=parts, num_samples=200, progress=False, **chosen)
    for at, explanation in enumerate(found):
        changed = explanation.counterfactual().parts
        kept = explanation.sufficient().parts
        if parts == "nodes":
            assert (changed, kept) == ((at,), (at,))
        else:
            assert len(changed) == 1
            assert 0 in changed[0]
            assert sorted(kept) == [(0, 1), (0, 3 + at)]


def test_a_regression_needs_a_deviation():
    x, edges = two_triangles()

    def model(x, edge_index):
        return x[..., :1].sum(axis=1)

    explainer = PGMExplainer(
        model, x, edges, task="graph", scores="values", perturbation="zero", num_samples=100
    )
    explanation = explainer.explain()
    with pytest.raises(InputError, match="Deviation"):
        explanation.counterfactual()
    assert len(explanation.counterfactual(change=Deviation(1.5))) == 2
    assert len(explanation.sufficient(change=Deviation(1.5))) == 2


def test_no_part_is_needed_where_nothing_changes_the_prediction():
    x, edges = two_triangles()

    def model(x, edge_index):
        score = 5 + x[..., 0].sum(axis=1)
        return np.stack([-score, score], axis=-1)

    explainer = PGMExplainer(model, x, edges, task="graph", perturbation="zero")
    explanation = explainer.explain()
    assert explanation.sufficient().parts == ()
    assert "kept by no part" in str(explanation.sufficient())
    with pytest.raises(QueryError, match="no set of the 6 parts was found"):
        explanation.counterfactual()


def test_a_limit_on_the_size():
    x, edges = two_triangles()
    explainer = PGMExplainer(count_model, x, edges, task="graph", perturbation="zero")
    explanation = explainer.explain()
    assert set(explanation.sufficient().parts) == {0, 1, 2}
    with pytest.raises(QueryError, match="at most 2"):
        explanation.sufficient(max_size=2)


def test_another_definition_of_change():
    x, edges = two_triangles()
    explainer = PGMExplainer(count_model, x, edges, task="graph", perturbation="zero")
    explanation = explainer.explain()
    assert len(explanation.counterfactual()) == 1
    with pytest.raises(QueryError):
        explanation.counterfactual(change=0.999)
    with pytest.raises(InputError, match="large_fall"):
        explanation.counterfactual(change="large_fall")


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))]
)
def test_a_copy_needs_the_explainer(copied):
    x, edges = two_triangles()
    explainer = PGMExplainer(count_model, x, edges, task="graph", perturbation="zero")
    explanation = explainer.explain()
    other = copied(explanation)
    with pytest.raises(InputError, match="pass the explainer"):
        other.counterfactual()
    assert other.counterfactual(explainer) == explanation.counterfactual()
    assert explainer.sufficient(other) == explanation.sufficient()


@pytest.mark.parametrize("parts", ["nodes", "edges"])
def test_a_loaded_explanation_needs_the_explainer(parts, tmp_path):
    model, x, edges = random_graph(1)
    explainer = PGMExplainer(model, x, edges, num_layers=2, parts=parts, num_samples=300)
    explanation = explainer.explain(3)
    explanation.save(tmp_path / "why.json")
    loaded = Explanation.load(tmp_path / "why.json")
    with pytest.raises(InputError, match="pass the explainer"):
        loaded.sufficient()
    assert loaded.sufficient(explainer) == explanation.sufficient()


def test_a_loaded_explanation_of_one_of_many_graphs_knows_its_position(tmp_path):
    graphs = [(np.eye(3)[[0, 1, at]], np.array([[0, 1], [1, 2]])) for at in range(3)]

    def model(x, edge_index):
        score = x[..., 2].sum(axis=1) - 0.5
        return np.stack([-score, score], axis=-1)

    explainer = PGMExplainer(model, graphs, task="graph", perturbation="zero", num_samples=200)
    explanation = explainer.explain(2)
    explanation.save(tmp_path / "why.json")
    loaded = Explanation.load(tmp_path / "why.json")
    assert loaded.counterfactual(explainer) == explanation.counterfactual()
    assert loaded.counterfactual(explainer).parts == (2,)


def test_bad_options():
    x, edges = two_triangles()
    explainer = PGMExplainer(count_model, x, edges, task="graph", perturbation="zero")
    explanation = explainer.explain()
    for options, message in [
        ({"probability": 0}, "probability"),
        ({"probability": "often"}, "probability"),
        ({"probability": np.array([0.5, 1.0])}, "probability"),
        ({"max_size": 0}, "max_size"),
        ({"num_samples": 0}, "num_samples"),
        ({"num_samples": 10**30}, "num_samples must be at most 1000000"),
        ({"max_queries": -1}, "max_queries"),
        ({"size": 3}, "size"),
        ({"explainer": 3}, "PGMExplainer"),
    ]:
        with pytest.raises(InputError, match=message):
            explanation.counterfactual(**options)
    with pytest.raises(InputError, match="an explanation is required"):
        explainer.counterfactual("why")


def test_an_explanation_of_another_explainer_is_refused():
    x, edges = two_triangles()
    by_nodes = PGMExplainer(count_model, x, edges, task="graph", perturbation="zero")
    groups = Groups({"left": [0, 1, 2], "right": [3, 4, 5]})
    by_groups = PGMExplainer(count_model, x, edges, task="graph", parts=groups, perturbation="zero")
    smaller = PGMExplainer(count_model, x[:3], edges[:, :3], task="graph", perturbation="zero")
    for other in (by_groups, smaller):
        with pytest.raises(InputError, match="another graph, target or kind of parts"):
            by_nodes.explain().counterfactual(other)


def carbon(x, edge_index):
    """Graphs are of class 1 if more than half of their atoms are of type 0."""
    score = 8 * (x[..., 0].mean(axis=1) - 0.5)
    return np.stack([0 * score, score], axis=-1)


@pytest.mark.parametrize("names", [None, ["C", "N", "O"]])
def test_a_counterfactual_says_what_atoms_are_changed_into(names):
    rng = np.random.default_rng(1)
    kinds = [
        [0, 0, 0, 1, 2],
        [0, 0, 0, 0, 2],
        [2, 1, 0, 0, 0, 0, 0, 1],
        *rng.integers(0, 3, (9, 6)),
    ]
    graphs = [(np.eye(3)[each], np.array([[0, 1], [1, 0]])) for each in kinds]
    options = {"num_samples": 200, "feature_names": names, "scores": "logits", "progress": False}
    title = dict(zip(names or ["type 0", "type 1", "type 2"], range(3), strict=True))
    for (x, edges), explanation in zip(
        graphs[:3], explain_graphs(carbon, graphs, **options)[:3], strict=True
    ):
        found = explanation.counterfactual()
        assert len(found.values) == len(found.parts)
        new = x.copy()
        for part, change in zip(found.parts, found.values, strict=True):
            before, after = change.split(" → ")
            assert x[part].argmax() == title[before]
            new[part] = np.eye(3)[title[after]]
        now, then = (carbon(each[None], edges)[0].argmax() for each in (x, new))
        assert now != then  # the model agrees
        assert f"For example, {found.parts[0]}: {found.values[0]}" in str(found)
        kept = explanation.sufficient()
        assert [title[each] for each in kept.values] == x[list(kept.parts)].argmax(axis=1).tolist()
        assert all(
            f"{part} ({value})" in str(kept)
            for part, value in zip(kept.parts, kept.values, strict=True)
        )


def test_of_other_features_those_that_changed_are_listed():
    x = np.array([[30.0, 0.0, 1.0, 5.0, 2.0], [60.0, 1.0, 0.0, 7.5, 2.0]])
    names = ["age", "male", "new", "debt", "same"]
    population = Population(x, feature_names=tuple(names))
    said = population.difference(0, x[1])
    assert said == "age 30 → 60, male 0 → 1, new 1 → 0, debt 5 → 7.5"
    more = Population(np.hstack((x, [[1, 2], [1687.4, 1.5e12]])))
    assert more.difference(0, more.x[1]).endswith(
        "feature 1 0 → 1, feature 2 1 → 0, 3 more features"
    )
    assert "feature 0 1 → 1,687" in Population(more.x[:, 5:]).difference(0, more.x[1, 5:])
    assert "feature 1 2 → 1.5e+12" in Population(more.x[:, 5:]).difference(0, more.x[1, 5:])
    assert population.difference(0, x[0]) == ""
    assert Population(x).difference(0, x[0] + [0, 0, 0, 1, 0]) == "feature 3 5 → 6"
    assert Population(x, steps=5).difference(0, x[1]) == ""
    words = np.array([[0.0] * 11 + [1], [1.0] * 11 + [1]])
    assert Population(words).difference(0, words[1]) == "", "a list of words says little"


def test_parts_that_are_no_nodes_have_no_values():
    model, x, edges = random_graph(1)
    one = PGMExplainer(model, x, edges, num_layers=2, parts="edges", num_samples=300)
    found = one.explain(3).counterfactual()
    assert found.values == ("",) * len(found)
    assert "For example" not in str(found)


@pytest.mark.parametrize(("parts", "nodes"), [("edges", 0), (["nodes", "edges"], 5)])
@pytest.mark.parametrize("by_degree", [False, True])
def test_edges_that_cannot_reach_the_target_are_left_out(parts, nodes, by_degree):
    """A directed tree, 0 ← 1 ← 3 ← 5 and 0 ← 2 ← 4 ← 6, with a model of two layers."""
    edges = np.array([[1, 2, 3, 4, 5, 6], [0, 0, 1, 2, 3, 4]])
    x = np.array([[1.0], [1.1], [0.9], [1.2], [0.8], [1.3], [0.7]])

    def layer(x, edge_index):
        degree = np.ones(x.shape[1])
        if by_degree:
            np.add.at(degree, edge_index[1], 1)
        sent = x.copy()
        np.add.at(sent, (slice(None), edge_index[1]), (x / degree[:, None])[:, edge_index[0]])
        return sent

    def total(x, edge_index):
        return layer(layer(x, edge_index), edge_index)[..., :1]

    limit = 0.95 * total(x[None], edges)[0, 0, 0]

    def model(x, edge_index):
        margin = total(x, edge_index) - limit
        return np.concatenate([margin, -margin], axis=-1)

    found = PGMExplainer(model, x, edges, num_layers=2, parts=parts).explain(0).counterfactual()
    assert len(found) == 1
    # Degrees let the edges 5 → 3 and 6 → 4 change the prediction after all.
    assert found.num_parts == nodes + (6 if by_degree else 4)


class Trials:
    """Sets of up to seven of ten parts barely succeed in the search, and larger ones often."""

    num_samples, screened, queries = 500, 40, 0

    def share(self, members, checked=False):
        return 0.0 if not members else 0.51 - 0.03 * checked if len(members) < 8 else 0.7

    def screen(self, sets):
        self.queries += 40 * len(sets)
        return (np.array([self.share(each) for each in sets]),) * 2

    def check(self, members, attempt):
        return (self.share(members, checked=True),) * 3

    def values(self, members):
        return ()


def test_sets_that_barely_succeed_do_not_hide_larger_ones():
    options = SearchOptions(kind="counterfactual", probability=0.5)
    search = Search(Trials(), options, count=10)
    found = _checked(search, search.trials, 0)
    assert found is not None
    assert len(found[0]) == 8
    assert found[1] == 0.7


def test_what_is_said_of_a_failed_search_does_not_contradict_it():
    options = SearchOptions(kind="counterfactual", probability=0.5, max_size=7)
    search = Search(Trials(), options, count=10)
    assert _checked(search, search.trials, 0) is None
    assert search.best == 0.48
    said = _refusal(options, search, 10, 99)
    assert "with probability 0.48 on new perturbations, though more often in the search" in said
