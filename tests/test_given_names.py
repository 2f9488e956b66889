"""Names of nodes and features that the explainer is given, from the call to the saved file."""

import numpy as np
import pytest

from pgm_explainer import Explanation, InputError, PGMExplainer, explain_graphs

NODES = [f"acct_{number}" for number in range(16)]
FEATURES = ["age", "income", "debt"]


def explainer(toy, **options):
    chosen = {"num_layers": 2, "num_samples": 200, "names": NODES, "feature_names": FEATURES}
    return PGMExplainer(toy.whole, toy.x, toy.edge_index, **{**chosen, **options})


def test_a_target_is_given_by_name_or_by_index(toy):
    one = explainer(toy)
    found = one.explain("acct_14")
    assert found.target == "acct_14"
    assert set(found.nodes) <= set(NODES)
    assert one.explain(14) == one.explain(np.int64(14)) == found
    plain = explainer(toy, names=None, feature_names=None).explain(14)
    assert found.named(range(16)) == plain.named(range(16))
    assert [each.target for each in one.explain_many(["acct_14", "acct_2"])] == [
        "acct_14",
        "acct_2",
    ]
    assert list(one.candidates("acct_14")) == list(one.candidates(14))
    assert one.predict("acct_14") == one.predict(14)


def test_integer_names_are_names(toy):
    one = explainer(toy, names=[100 + number for number in range(16)])
    assert one.explain(114).target == 114
    with pytest.raises(InputError, match="no node is called 14"):
        one.explain(14)


def test_an_unknown_name_suggests_similar_ones(toy):
    with pytest.raises(
        InputError, match="no node is called 'acct_l4'; did you mean 'acct_4' or 'acct_14'"
    ):
        explainer(toy).explain("acct_l4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": NODES[:3]}, "names has 3 names, but there are 16 nodes"),
        ({"names": ["a"] * 16}, "more than one node is called 'a'"),
        ({"names": {99: "x"}}, "names has 99, but the nodes are 0 to 15"),
        ({"names": "abc"}, "names must be a list"),
        ({"feature_names": ["a"]}, "feature_names has 1 names, but x has 3 features"),
        ({"feature_names": ["a", "a", "b"]}, "several features have the name 'a'"),
        ({"feature_names": ["a", 2, "b"]}, "must be a string, not 2"),
        ({"feature_names": "abc"}, "must be a list of strings"),
    ],
)
def test_names_that_cannot_be_used_are_refused(toy, options, message):
    with pytest.raises(InputError, match=message):
        explainer(toy, **options)


def test_some_nodes_may_have_names(toy):
    one = explainer(toy, names={14: "Ada"})
    assert one.explain("Ada").target == "Ada"


def test_pairs_are_given_by_name(toy):
    def pairs_model(x, pairs):
        scores = toy.whole(x)
        return scores[:, pairs[0]] + scores[:, pairs[1]]

    one = PGMExplainer(
        pairs_model, toy.x, toy.edge_index, task="edge", num_layers=2, num_samples=200, names=NODES
    )
    assert one.explain(("acct_14", "acct_2")).target == ("acct_14", "acct_2")
    assert one.explain((14, 2)) == one.explain(("acct_14", "acct_2"))


def test_feature_columns_are_called_by_their_names(toy, tmp_path):
    found = explainer(toy, parts="features").explain("acct_14")
    assert set(found.effects.parts) == set(FEATURES)
    assert any(
        f"Replacing feature {name} of all nodes " in " ".join(str(found).split())
        for name in FEATURES
    )
    assert found.feature_names == tuple(FEATURES)
    assert (found.feature_name(1), found.named({14: "x"}).feature_name(2)) == ("income", "debt")
    found.save(tmp_path / "why.json")
    again = Explanation.load(tmp_path / "why.json")
    assert again.feature_names == tuple(FEATURES)
    assert str(again) == str(found)
    plain = explainer(toy, parts="features", feature_names=None).explain("acct_14")
    assert (plain.feature_names, plain.feature_name(1)) == ((), "feature 1")


def test_named_features_of_a_mix_are_called_features(toy):
    from pgm_explainer.report.wording import wording_for

    mixed = explainer(toy, parts=["nodes", "features"]).explain("acct_14")
    nouns = {mixed.names[part]: wording_for(mixed, part).noun for part in mixed.part_labels}
    assert nouns == dict.fromkeys(FEATURES, "feature")


def test_effects_of_features_print_their_names(toy):
    one = explainer(toy)
    effects = one.explain_features(one.explain("acct_14"))
    lines = str(effects).splitlines()[2:]
    assert lines
    assert all(line.split()[0] in FEATURES and line.split()[1] in NODES for line in lines)


def test_a_data_set_keeps_the_names(toy, tmp_path):
    pytest.importorskip("pyarrow")
    from pgm_explainer.dataset import explain_dataset

    one = explainer(toy, parts="nodes")
    data = explain_dataset(one, ["acct_14", "acct_2"], tmp_path, with_features=True)
    assert sorted(each.target for each in data) == ["acct_14", "acct_2"]
    assert data["acct_14"] == one.explain("acct_14", with_features=True)
    assert {each.what for each in data.overview().features} <= set(FEATURES)
    assert data["acct_14"].feature_names == tuple(FEATURES)
    assert all(isinstance(row["target"], int) for row in data.rows())


def atoms(x, edge_index):
    """Graphs are of class 1 if they have many atoms of type 0."""
    return np.stack([0 * x[..., 0].sum(axis=1), 3 * x[..., 0].sum(axis=1) - 2], axis=-1)


GRAPHS = [(np.eye(3)[[0, 1, 2, 0][:count]], np.array([[0], [1]])) for count in (2, 3, 4)]
OF_EACH = [["C1", "N2"], None, ["C1", "N2", "O3", "C4"]]
MANY = {"scores": "logits", "num_samples": 100, "progress": False, "feature_names": list("CNO")}


def test_each_of_many_graphs_has_names_of_its_own(tmp_path):
    found = explain_graphs(atoms, GRAPHS, names=OF_EACH, with_features=True, **MANY)
    plain = explain_graphs(atoms, GRAPHS, with_features=True, **MANY)
    assert set(found[0].effects.parts) == {"C1", "N2"}
    assert set(found[1].effects.parts) == {0, 1, 2}
    assert set(found[2].effects.parts) == {"C1", "N2", "O3", "C4"}
    assert found[2].features[0].node in ("C1", "C4")
    for named, without, names in zip(found, plain, OF_EACH, strict=True):
        assert named == without.named(names or range(3))
    assert set(found[2].counterfactual(probability=0.4).parts) <= {"C1", "N2", "O3", "C4"}
    found[2].save(tmp_path / "why.json")
    assert Explanation.load(tmp_path / "why.json").nodes == found[2].nodes
    edges = explain_graphs(atoms, GRAPHS, names=OF_EACH, parts=["nodes", "edges"], **MANY)
    assert ("C1", "N2") in edges[2].effects.parts


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["C1", "N2", "O3"], "must be a list with the names of the nodes of each of the 3 graphs"),
        (OF_EACH[:2], "each of the 3 graphs .*; it has 2 items"),
        ({0: ["C1", "N2"]}, "must be a list with the names"),
        ([["C1", "C1"], None, None], "graph 0: more than one node is called 'C1'"),
        ([None, ["C1"], None], "graph 1: names has 1 names, but there are 3 nodes"),
    ],
)
def test_names_of_many_graphs_that_cannot_be_used_are_refused(names, message):
    with pytest.raises(InputError, match=message):
        explain_graphs(atoms, GRAPHS, names=names, **MANY)


def test_data_objects_of_a_list_keep_their_names_and_titles(tmp_path):
    data = pytest.importorskip("torch_geometric.data")
    torch = pytest.importorskip("torch")
    pytest.importorskip("pyarrow")
    from pgm_explainer.dataset import explain_dataset
    from pgm_explainer.dataset.targets_table import target_rows

    objects = [
        data.Data(
            x=torch.tensor(x),
            edge_index=torch.tensor(edges),
            node_names=[f"{'CNO'[row.argmax()]}{at + 1}" for at, row in enumerate(x)],
            smiles="CN" + "O" * at,
        )
        for at, (x, edges) in enumerate(GRAPHS)
    ]

    def model(x, edge_index):
        return atoms(np.asarray(x), edge_index)

    one = PGMExplainer(model, objects, task="graph", **MANY)
    found = one.explain_many(range(3))
    assert [each.title for each in found] == ["CN", "CNO", "CNOO"]
    assert one.explain("CNO") == found[1]
    assert (
        found[1]
        .reason(templates={"graph_named": "molecule {name}"})
        .startswith("The model predicts class 1 for molecule CNO, ")
    )
    for wrong, message in (("CC", "no graph is called 'CC'; give"), (9, "there are graphs 0 to 2")):
        with pytest.raises(InputError, match=message):
            one.explain(wrong)
    with pytest.raises(InputError, match=r"a list of 3 mappings .* pass Groups\("):
        PGMExplainer(model, objects, task="graph", parts=[{"a": [0]}] * 3)
    assert set(found[1].effects.parts) == {"C1", "N2", "O3"}
    said = (found[1].reason(), str(found[1]), found[1].to_html(), found[1]._repr_html_())
    assert all("graph 1 (CNO)" in text or "Graph 1 (CNO)" in text for text in said)
    assert "# Graph 1 (CNO) is" in found[1].report(tmp_path / "why.md").read_text().replace(
        "\\", ""
    )
    assert "position=1, title='CNO'" in repr(found[1])
    # A data set keeps both, although its columns have numbers.
    kept = explain_dataset(one, None, tmp_path / "set", progress=False)
    assert kept[1].title == "CNO"
    assert [row.target for row in target_rows(kept)] == ["CN", "CNO", "CNOO"]
    assert set(kept[1].effects.parts) == {"C1", "N2", "O3"}
    assert all(isinstance(node, int) for row in kept.rows() for node in row["nodes"])
    assert {each.what for each in kept.overview().causes} <= set("CNO")


@pytest.fixture(scope="module")
def hetero():
    """A model of papers with two authors each, and its graph."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from torch_geometric.data import HeteroData
    from torch_geometric.nn import SAGEConv

    torch.manual_seed(0)
    graph = HeteroData()
    graph["paper"].x, graph["author"].x = torch.randn(6, 2), torch.randn(4, 3)
    numbers = torch.arange(12)
    graph["author", "writes", "paper"].edge_index = torch.stack((numbers % 4, numbers // 2))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.writes = SAGEConv((3, 2), 2)

        def forward(self, x_dict, edge_index_dict):
            (edges,) = edge_index_dict.values()
            return 5 * self.writes((x_dict["author"], x_dict["paper"]), edges)

    def make(**options):
        options = {"target_type": "paper", "num_samples": 200, **options}
        return PGMExplainer(Model(), graph, **options)

    return make


AUTHORS = ["Ada", "Bob", "Cid", "Dee"]


def test_nodes_and_features_of_each_type_have_names(hetero, tmp_path):
    one = hetero(
        names={"author": AUTHORS},
        feature_names={"author": ["h", "cites", "age"], "paper": ["year", "pages"]},
        parts=["nodes", "features"],
    )
    found = one.explain(2)
    assert found.target == ("paper", 2)
    assert {part for part in found.effects.parts if isinstance(part, tuple)} == {
        ("paper", 2),
        ("author", "Ada"),
        ("author", "Bob"),
    }
    titles = {"author h", "author cites", "author age", "paper year", "paper pages"}
    assert set(found.effects.parts) >= titles
    assert found.feature_name(1, ("author", "Ada")) == "cites"
    found.save(tmp_path / "why.json")
    again = Explanation.load(tmp_path / "why.json")
    assert again.feature_names == found.feature_names
    assert again.names.typed
    with pytest.raises(InputError, match="has no prediction to explain"):
        one.explain(("author", "Ada"))
    with pytest.raises(InputError, match=r"no node is called 'Ad'.*'Ada'.*type 'author'"):
        one.types.node("author", "Ad")
    with pytest.raises(InputError, match="unknown node type 'venue'"):
        hetero(names={"venue": ["x"]})
    with pytest.raises(InputError, match="mapping from node types"):
        hetero(feature_names=["x"])


@pytest.mark.parametrize(
    "given",
    [
        {("author", 0): "Ada", ("author", 1): "Bob"},
        {"author": AUTHORS},
        {"author": {0: "Ada", 1: "Bob"}},
        {6: "Ada", 7: ("author", "Bob")},
    ],
    ids=["by name", "lists", "mappings", "by index"],
)
def test_named_keeps_the_types_of_nodes(hetero, given):
    found = hetero().explain(0).named(given)
    assert found.target == ("paper", 0)
    assert set(found.effects.parts) == {("paper", 0), ("author", "Ada"), ("author", "Bob")}
    assert found.query({found.nodes[0]: "original"}) > 0


def test_named_keeps_the_types_of_a_list(hetero):
    found = hetero().explain(0).named([f"n{number}" for number in range(10)])
    assert set(found.effects.parts) == {("paper", "n0"), ("author", "n6"), ("author", "n7")}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({("writer", 0): "Ada"}, "is not a node of the explanation"),
        ({"authors": AUTHORS}, "is not a node of the explanation"),
        ({("author", 0): ("paper", "Ada")}, "has another type"),
    ],
)
def test_names_that_name_no_node_are_refused(hetero, given, message):
    with pytest.raises(InputError, match=message):
        hetero().explain(0).named(given)


def test_a_class_is_given_by_name(toy):
    options = {"class_names": ["ok", "odd", "fraud"]}
    found = explainer(toy, explained_class="fraud", **options).explain(14)
    assert found.explained_class == found.settings.model.explained_class == 2
    each = ["ok"] * 14 + ["fraud", "odd"]
    assert explainer(toy, explained_class=each, **options).explain(14).explained_class == 2
    one = explainer(toy, output="odd", explained_class="not odd", scores="logits", **options)
    assert (one.settings.model.output, one.settings.model.explained_class) == (1, 0)
    with pytest.raises(InputError, match="'theft' is not one of the class_names: ok, odd, fraud"):
        explainer(toy, explained_class="theft", **options)
    with pytest.raises(InputError, match="'fraud' is a name, but the classes have none"):
        explainer(toy, explained_class="fraud")


def test_groups_and_chosen_features_are_given_by_name(toy):
    from pgm_explainer import Features, Groups

    def parts(choice, **options):
        return explainer(toy, parts=choice, **options).explain(14)

    by_name = {"some": ["acct_1", "acct_3"], "one": ["acct_14"]}
    assert parts(by_name) == parts({"some": [1, 3], "one": [14]})
    money = Groups({"money": ["income", "debt"]}, of="features")
    assert parts(money) == parts(Groups({"money": [1, 2]}, of="features"))
    u, v = toy.edge_index[:, 0].tolist()
    edge = Groups({"edge": [(NODES[u], NODES[v])]}, of="edges")
    model = {"parts": edge, "num_layers": 2, "num_samples": 50, "names": NODES}
    bound = PGMExplainer(toy.part, toy.x, toy.edge_index, **model)
    assert bound.parts.members == {16: ((u, v),)}
    other = int(explainer(toy).candidates(14)[0])
    cells = parts(Features((NODES[other], "acct_14")))
    assert set(cells.effects.parts) == {
        (NODES[at], name) for at in (other, 14) for name in FEATURES
    }
    assert explainer(toy, features=["debt"]).settings.sampling.features == (2,)
    for choice in ({"some": ["acct_x"]}, Groups({"money": ["x"]}, of="features")):
        with pytest.raises(InputError, match=r"is called '(acct_)?x'"):
            parts(choice)
    with pytest.raises(InputError, match="nodes have no names"):
        parts(by_name, names=None)
    with pytest.raises(InputError, match="given by name, but they have none"):
        explainer(toy, features=["debt"], feature_names=None)


def test_a_name_without_names_says_what_to_pass(toy):
    with pytest.raises(InputError, match="not 'acct_1', because nodes have no names; pass names="):
        explainer(toy, names=None).explain("acct_1")


def test_features_of_chosen_nodes_are_named_by_type(hetero):
    from pgm_explainer import Features

    one = hetero(
        feature_names={"author": ["h", "cites", "age"], "paper": ["year", "pages"]},
        parts=Features((("author", 0), ("paper", 2))),
    )
    parts = set(one.explain(2).effects.parts)
    assert (("author", 0), "cites") in parts
    assert (("paper", 2), "year") in parts


def test_graphs_share_the_names_of_their_features():
    def total(x, edge_index):
        return np.concatenate([x.sum(axis=1), -x.sum(axis=1)], axis=1)[:, :2]

    graphs = [(np.random.default_rng(n).random((n, 2)), np.array([[0], [1]])) for n in (3, 4)]
    one = PGMExplainer(
        total,
        graphs,
        task="graph",
        parts="features",
        feature_names=["mass", "charge"],
        num_samples=50,
    )
    assert set(one.explain(1).effects.parts) == {"mass", "charge"}


def test_the_plug_in_takes_names(toy):
    torch = pytest.importorskip("torch")
    explain = pytest.importorskip("torch_geometric.explain")
    from torch_geometric.nn import GCN

    from pgm_explainer.pyg import PGMExplainerAlgorithm

    torch.manual_seed(0)
    algorithm = PGMExplainerAlgorithm(num_samples=50, names=[100 + at for at in range(16)])
    made = explain.Explainer(
        GCN(3, 8, 1, 2),
        algorithm,
        explanation_type="model",
        node_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    x = torch.tensor(toy.x, dtype=torch.float32)
    found = made(x, torch.tensor(toy.edge_index), index=14)
    assert list(found.pgm) == [114]
    assert found.node_mask[14] == 1
