"""Data sets of graphs with several kinds of nodes: nothing is mistaken for one of another kind."""

from collections import Counter

import pytest

from pgm_explainer import PGMExplainer
from pgm_explainer.cli import main
from pgm_explainer.dataset import explain_dataset

PAPERS, AUTHORS = 12, 8
WIDTHS = {"paper": 4, "author": 3}


@pytest.fixture(scope="module")
def model_and_graph():
    """A model of papers that have authors of the same numbers and cite each other; the graph."""
    torch = pytest.importorskip("torch")
    from torch_geometric.data import HeteroData
    from torch_geometric.nn import SAGEConv

    torch.manual_seed(0)
    graph = HeteroData()
    graph["paper"].x = torch.randn(PAPERS, WIDTHS["paper"])
    graph["author"].x = torch.randn(AUTHORS, WIDTHS["author"])
    numbers = torch.arange(24)
    graph["author", "writes", "paper"].edge_index = torch.stack((numbers % AUTHORS, numbers // 2))
    graph["paper", "cites", "paper"].edge_index = torch.stack((numbers % PAPERS, numbers // 2))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.writes, self.cites = SAGEConv((3, 4), 2), SAGEConv((4, 4), 2)

        def forward(self, x_dict, edge_index_dict):
            paper, author = x_dict["paper"], x_dict["author"]
            written = self.writes((author, paper), edge_index_dict["author", "writes", "paper"])
            return 5 * (written + self.cites(paper, edge_index_dict["paper", "cites", "paper"]))

    return Model(), graph


@pytest.fixture(scope="module")
def papers(model_and_graph):
    return PGMExplainer(*model_and_graph, target_type="paper", num_layers=1, num_samples=300)


@pytest.fixture(scope="module")
def data(papers, tmp_path_factory):
    return explain_dataset(papers, None, tmp_path_factory.mktemp("papers"), with_features=True)


def test_causes_are_counted_by_kind(data):
    explanations = list(data)
    assert any(
        ("paper", number) in each.nodes and ("author", number) in each.nodes
        for each in explanations
        for number in range(AUTHORS)
    ), "or this test could not fail"
    found = [{each.node for each in one.effects if each.significant} for one in explanations]
    others = [nodes - {each.target} for nodes, each in zip(found, explanations, strict=True)]
    view = data.overview(top=1000)
    counted = Counter(node for nodes in others for node in nodes)
    assert {each.what: each.predictions for each in view.causes} == counted
    assert view.own == sum(a != b for a, b in zip(found, others, strict=True)) > 0
    kinds = Counter(kind for nodes in others for kind in {kind for kind, _ in nodes})
    assert {each.what: each.predictions for each in view.kinds} == kinds
    for row, each in zip(data.rows(), explanations, strict=True):
        blanket = zip(row["markov_blanket_kinds"], row["markov_blanket"], strict=True)
        assert list(blanket) == each.markov_blanket


def test_features_are_those_of_their_kind(papers, data):
    found = [(row, each) for row in data.rows() for each in row["features"] if each["significant"]]
    assert {each["kind"] for _, each in found} == {"paper", "author"}
    for row, each in found:
        among = [("paper", row["target"]), *zip(row["kinds"], row["nodes"], strict=True)]
        assert (each["kind"], each["node"]) in among
    columns = {(each["kind"], each["feature"]) for _, each in found}
    assert {each.what for each in data.overview(top=1000).features} == columns


def test_padding_is_no_feature(papers):
    explanation = next(
        each
        for each in papers.explain_many(range(PAPERS))
        if {kind for kind, _ in each.nodes} == {"paper", "author"}
    )
    effects = papers.explain_features(explanation)
    nodes = {explanation.target, *explanation.nodes}
    cells = {((kind, at), feature) for kind, at in nodes for feature in range(WIDTHS[kind])}
    assert {(each.node, each.feature) for each in effects} == cells
    assert effects.untested == 0
    own = {each.node for each, its in zip(effects, effects.own, strict=True) if its}
    assert own == {explanation.target}


def test_a_target_of_another_type_is_refused_on_the_command_line(data, capsys):
    assert main(["show", str(data.path), "--target", "paper,4"]) == 0
    assert capsys.readouterr().out == f"{data['paper', 4]}\n"
    for other in ("author,4", "foo,4"):
        assert main(["show", str(data.path), "--target", other]) == 2
        assert "is not a target of this data set" in capsys.readouterr().err
