"""Groups, features, mixes and custom kinds of parts; their files and notes."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from pgm_explainer import (
    Edges,
    Explanation,
    Features,
    Groups,
    InputError,
    PerturbationError,
    PGMExplainer,
    Time,
)
from pgm_explainer.sampling import Parts, as_parts
from pgm_explainer.sampling.parts import Batch, Mixed

from .conftest import Net

RING = np.array([[*range(6)], [*range(1, 6), 0]])
RING = np.concatenate((RING, RING[::-1]), axis=1)
X = np.random.default_rng(2).normal(size=(6, 3)).astype(np.float32)
WEIGHTS = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 0.0]])


def additive(x, edge_index):
    """The value of a node: a sum over its neighbours and itself, and over features 0 and 1."""
    own, neighbours = (x @ weight for weight in WEIGHTS)
    np.add.at(own.T, edge_index[1], neighbours[:, edge_index[0]].T)
    return own[..., None]


def explainer(model=additive, x=X, edge_index=RING, **options):
    chosen = {
        "num_layers": 1,
        "scores": "values",
        "perturbation": "zero",
        "num_samples": 2000,
        "structure": None,
        "progress": False,
        **options,
    }
    return PGMExplainer(model, x, edge_index, **chosen)


def effects_of(explanation):
    return dict(zip(explanation.effects.parts, explanation.effects.effect.tolist(), strict=True))


def close(one, other, slack=0.02):
    return all(abs(one[name] - other[name]) <= slack for name in other) and set(one) == set(other)


def test_the_effect_of_a_group_is_that_of_its_members_perturbed_together():
    groups = {"left": [0, 1, 2], "right": [4, 5], "far": [3]}
    found = effects_of(explainer(parts=groups).explain(0))
    by_node = {node: -float(X[node] @ WEIGHTS[1]) for node in (1, 5)}
    by_node[0] = -float(X[0] @ WEIGHTS[0])
    expected = {"left": by_node[0] + by_node[1], "right": by_node[5]}
    assert close(found, expected)  # node 3 has no part in the prediction


def test_groups_by_label_are_those_by_members():
    by_members = explainer(parts={"a": [0, 5], "b": [1, 2]}).explain(0)
    by_label = explainer(parts=Groups(["a", "b", "b", None, None, "a"])).explain(0)
    assert by_label.effects == by_members.effects


def test_the_effect_of_a_column_is_that_of_all_nodes():
    found = effects_of(explainer(parts="features").explain(2))
    own = X[2] * WEIGHTS[0] + (X[1] + X[3]) * WEIGHTS[1]
    assert close(found, {f"feature {at}": -float(own[at]) for at in range(3)})
    some = effects_of(explainer(parts="features", features=[1, 2]).explain(2))
    assert close(some, {f"feature {at}": -float(own[at]) for at in (1, 2)})


def test_columns_of_chosen_nodes_are_parts_of_their_own():
    found = effects_of(explainer(parts=Features(nodes=[1, 2, 4])).explain(2))
    expected = {(1, f"feature {at}"): -float(X[1, at] * WEIGHTS[1, at]) for at in range(3)}
    expected |= {(2, f"feature {at}"): -float(X[2, at] * WEIGHTS[0, at]) for at in range(3)}
    assert close(found, expected)


def test_groups_of_columns_are_perturbed_together():
    parts = Groups({"both": [0, 1], "nothing": [2]}, of="features")
    found = effects_of(explainer(parts=parts).explain(2))
    own = X[2] * WEIGHTS[0] + (X[1] + X[3]) * WEIGHTS[1]
    assert close(found, {"both": -float(own.sum()), "nothing": 0.0})


def test_a_mix_perturbs_each_part_independently():
    mixed = explainer(parts=["nodes", "edges"], perturb_probability=0.2, num_samples=8000)
    found = effects_of(mixed.explain(0))
    shares = [-float(X[node] @ WEIGHTS[1]) for node in (1, 5)]
    # An edge has no effect while its sender is perturbed, and the other way round.
    expected = {1: 0.8 * shares[0], 5: 0.8 * shares[1]}
    expected |= {(0, 1): 0.8 * shares[0], (0, 5): 0.8 * shares[1]}
    assert all(abs(found[name] - value) < 0.06 for name, value in expected.items())


def test_a_mix_of_several_kinds():
    parts = [Groups({"a": [0, 1]}), "features", Groups({"b": [(0, 1)]}, of="edges")]
    found = explainer(parts=parts).explain(0)
    assert set(found.effects.parts) == {"a", "feature 0", "feature 1", "feature 2", "b"}
    assert found.effects.parts.index("feature 2") >= 3


def test_a_node_in_a_mix_keeps_its_own_prediction():
    found = PGMExplainer(
        Net("GCN"), X, RING, parts=["nodes", "edges"], num_samples=500, progress=False
    ).samples([0])
    states = {each.id: (each.perturbable, each.levels) for each in found.table.variables}
    assert states[1] == (True, 2)
    edges = [value for name, value in states.items() if name >= len(X)]
    assert edges
    assert set(edges) == {(True, 1)}


@dataclass
class HalfOfNodes(Parts):
    """Two parts: the nodes with an even and with an odd number, which are set to zero."""

    first: int
    count: int = 2
    changes_features: bool = True

    def labels(self, parts):
        return [("even", "odd")[part - self.first] for part in parts.tolist()]

    def reaching(self, nodes):
        return self.first + np.unique(nodes % 2)

    def within(self, subgraph):
        return self.reaching(subgraph.nodes)

    def perturb(self, batch, subgraph, samples, parts, perturbed):
        at = np.searchsorted(parts, self.first + subgraph.nodes % 2)
        return Batch(np.where(perturbed[:, at, None], 0, batch.x), batch.edges)


@dataclass
class Halves:
    name: str = "halves"
    answer: object = field(default=None)

    def bind(self, graph, population, config, first):
        return self.answer or HalfOfNodes(first)


def test_a_custom_kind_of_parts(tmp_path):
    found = explainer(parts=Halves()).explain(0)
    own, others = -float(X[0] @ WEIGHTS[0]), -float((X[1] + X[5]) @ WEIGHTS[1])
    assert close(effects_of(found), {"even": own, "odd": others})
    groups = explainer(parts={"even": [0, 2, 4], "odd": [1, 3, 5]}).explain(0)
    assert found.effects == groups.effects
    found.save(tmp_path / "found.json")
    again = Explanation.load(tmp_path / "found.json")
    assert again.effects == found.effects
    assert again.settings.sampling.parts.name == "halves"
    with pytest.raises(InputError, match="'halves' is a custom function"):
        explainer(**{**again.settings.options(), "scores": "values"})
    mixed = explainer(parts=[Halves(), "edges"]).explain(0)
    assert {"even", "odd"} < set(mixed.effects.parts)


def test_errors_of_a_custom_kind_are_named():
    with pytest.raises(InputError, match="'halves' returned a str; bind must return"):
        explainer(parts=Halves(answer="parts"))

    class Failing(Halves):
        def bind(self, graph, population, config, first):
            raise KeyError("no such part")

    with pytest.raises(InputError, match="'halves' failed: KeyError"):
        explainer(parts=Failing())


KINDS = {
    "edges": "edges",
    "rewired edges": Edges("rewire", undirected=False),
    "features": "features",
    "features of nodes": Features(nodes=(0, 1)),
    "time": Time(3),
    "time of nodes": Time(3, per_node=True),
    "groups": Groups({"a": [0, 1], "b": [5]}),
    "a mix": ["nodes", "edges", Time(3)],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_saved_and_loaded(kind, tmp_path):
    options = {"structure": "auto", "num_samples": 300}
    if kind == "rewired edges":
        options["perturbation"] = "auto"
    if kind == "edges":
        options["perturbation"] = "auto"
    made = explainer(parts=KINDS[kind], **options)
    found = made.explain(0)
    found.save(tmp_path / "found.json")
    again = Explanation.load(tmp_path / "found.json")
    assert again == found
    assert again.effects.parts == found.effects.parts
    assert again.ranking.parts == found.ranking.parts
    if kind != "groups":  # of which only the names are saved
        restored = PGMExplainer(additive, X, RING, progress=False, **_options(again, options))
        assert restored.explain(0).effects == found.effects


def _options(explanation, options):
    restored = explanation.settings.options()
    # Edges have no perturbation of features, which the settings record all the same.
    return {**restored, **{k: v for k, v in options.items() if k == "perturbation"}}


def test_parts_that_no_perturbation_changes_are_refused():
    constant = np.ones_like(X)
    with pytest.raises(PerturbationError, match="changes no feature of any node"):
        explainer(x=constant, parts="features", perturbation="mean").explain(0)
    # Only the nodes of groups count.
    alike = X.copy()
    alike[[1, 2]] = 0
    with pytest.raises(PerturbationError, match="changes no feature"):
        explainer(x=alike, parts={"a": [1, 2]}, perturbation="zero").explain(1)
    explainer(x=alike, parts={"a": [1, 3]}, perturbation="zero").explain(1)


def test_how_often_a_part_changes_is_that_of_any_of_its_cells():
    x = np.zeros((6, 2), dtype=np.float32)
    x[0, 0] = 1
    bound = explainer(lambda x: x[..., :1], x=x, parts="features").parts
    assert bound.changed_share(np.arange(bound.first, bound.stop)).tolist() == [1, 0]
    bound = explainer(lambda x: x[..., :1], x=x, parts=Features(nodes=(0, 1))).parts
    assert bound.changed_share(np.arange(bound.first, bound.stop)).tolist() == [1, 0, 0, 0]
    assert bound.changed_share(np.empty(0, dtype=np.int64)).tolist() == []


def test_repeated_edges_and_self_loops_are_said_where_they_matter():
    more = np.array([[3, 3], [4, 3]])
    edges = np.concatenate((RING, more), axis=1)
    made = explainer(edge_index=edges, parts="edges", perturbation="auto")

    def notes(target):
        return [text for text in made.explain(target).warnings if "edge_index" in text]

    (text,) = notes(5)
    assert text.startswith(
        "1 edge is in edge_index more than once; all copies of an edge are removed"
    )
    repeated, loop = notes(3)
    assert repeated.startswith("1 edge is in edge_index more than once")
    assert loop.startswith("1 self-loop is in edge_index and removed like other edges")
    assert notes(0) == []
    by_node = explainer(edge_index=edges).explain(3)
    assert not any("edge_index" in text for text in by_node.warnings)


def test_names_of_kinds():
    assert as_parts(["nodes", "edges"]).name == "nodes and edges"
    assert as_parts({"a": [0]}).name == "groups of nodes"
    assert isinstance(as_parts(("edges", {"a": [0]})), Mixed)
    assert as_parts(as_parts("edges")) == Edges()


def test_a_group_may_be_called_like_the_target():
    def total(x, edge_index):
        return additive(x, edge_index).sum(axis=1)

    found = explainer(total, parts={"graph": [0], "rest": [1, 2]}, task="graph", structure="auto")
    explanation = found.explain()
    assert set(explanation.effects.parts) == {("part", "graph"), "rest"}
    assert explanation.target == "graph"
