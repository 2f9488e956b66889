"""Beyond classifying nodes of one kind: links, values, many labels, and several kinds of nodes."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GCNConv, GraphConv, HeteroConv, PairNorm, SAGEConv, to_hetero

from pgm_explainer import PGMExplainer
from pgm_explainer.errors import InputError, ModelError, QueryError
from pgm_explainer.sampling import Absolute, Deviation, Fall

FEATURES = 3


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


# --- links ----------------------------------------------------------------------------------


class LinkModel(nn.Module):
    """The similarity of two nodes after two layers."""

    def __init__(self, layer=GCNConv):
        super().__init__()
        self.first, self.second = layer(FEATURES, 6), layer(6, 4)

    def forward(self, x, edge_index, edge_label_index):
        z = self.second(self.first(x, edge_index).relu(), edge_index)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(dim=-1)


def test_a_link_is_explained_as_on_the_whole_graph(a_graph):
    model, x, edges = LinkModel(), a_graph.x, a_graph.edge_index
    targets = [(a_graph.target, 0), (1, 2), (0, a_graph.target)]
    settings = {"task": "edge", "num_layers": 2, "num_samples": 100, "change": Fall(0.01)}
    settings |= {"perturbation": "mean", "perturb_probability": 0.25}

    @torch.no_grad()
    def slow(x, pairs):
        pairs = torch.tensor(pairs)
        return torch.stack([model(each, edges, pairs)[:, None] for each in torch.tensor(x)])

    found = PGMExplainer(model, x, edges, **settings).explain_many(targets)
    truth = PGMExplainer(slow, x, edges, **settings).explain_many(targets)
    assert [each.target for each in found] == targets
    assert found == truth
    assert found[0].network is not None


def test_a_link_is_explained_by_the_common_neighbour():
    class Common(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = GraphConv(1, 1)
            with torch.no_grad():  # what the neighbours send, added up
                self.layer.lin_rel.weight.fill_(1)
                self.layer.lin_rel.bias.fill_(0)
                self.layer.lin_root.weight.fill_(0)

        def forward(self, x, edge_index, edge_label_index):
            z = self.layer(x, edge_index)
            return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(dim=-1) - 1

    edges = torch.tensor([[2, 2, 3, 4, 5], [0, 1, 0, 1, 0]])
    x = torch.tensor([[0.1], [0.1], [2.0], [0.1], [0.1], [0.1]])
    settings = {"task": "edge", "perturbation": "zero", "change": Fall(0.05)}
    explanation = PGMExplainer(Common(), x, edges, **settings).explain((0, 1))
    assert explanation.target == (0, 1)
    assert explanation.nodes[0] == 2
    assert explanation.query({2: "perturbed"}) < 0.05 < 0.95 < explanation.query({2: "original"})


def test_links_of_a_data_object_with_labels(a_graph):
    """As RandomLinkSplit returns it; the pairs to explain are given by the test."""
    labels = torch.randint(len(a_graph.x), (2, 7))
    data = Data(
        x=a_graph.x,
        edge_index=a_graph.edge_index,
        edge_label_index=labels,
        edge_label=torch.ones(7),
    )
    model, pair = LinkModel(), (a_graph.target, 0)
    explanation = PGMExplainer(model, data, task="edge", num_samples=50).explain(pair)
    truth = model(a_graph.x, a_graph.edge_index, torch.tensor(pair)[:, None]).sigmoid()
    assert explanation.values[1] == pytest.approx(truth.item(), abs=1e-5)


# --- values and labels ----------------------------------------------------------------------


class Sum(nn.Module):
    """The sum of what the neighbours send, column by column."""

    def __init__(self, columns, flat=False):
        super().__init__()
        self.layer, self.flat = GraphConv(columns, columns), flat
        with torch.no_grad():
            self.layer.lin_rel.weight.copy_(torch.eye(columns))
            self.layer.lin_rel.bias.fill_(0)
            self.layer.lin_root.weight.fill_(0)

    def forward(self, x, edge_index):
        x = self.layer(x, edge_index)
        return x[..., 0] if self.flat else x


STAR = torch.tensor([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]])


@pytest.mark.parametrize("flat", [False, True], ids=["[n, 1]", "[n]"])
@pytest.mark.parametrize("change", ["auto", Deviation(2.0)], ids=["auto", "beyond a tolerance"])
def test_a_regression_is_explained_by_the_node_that_changes_the_value(flat, change):
    x = torch.tensor([[0.0], [0.1], [0.2], [30.0], [0.2], [0.1], [0.0]])
    explainer = PGMExplainer(
        Sum(1, flat),
        x,
        STAR,
        scores="values",
        change=change,
        perturbation="zero",
        perturb_probability=0.25,
    )
    explanation = explainer.explain(0)
    assert explanation.nodes[0] == 3
    assert explanation.values == pytest.approx((30.6,))
    assert explanation.probability is None
    assert "30.6" in str(explanation)


@pytest.mark.parametrize("label", [0, 1])
def test_each_of_many_labels_is_explained_by_its_own_cause(label):
    x = torch.zeros(7, 2)
    causes = (2, 5)
    x[causes[0], 0] = x[causes[1], 1] = 4
    explainer = PGMExplainer(Sum(2), x, STAR, output=label, perturbation="zero")
    assert explainer.explain(0).nodes == [causes[label]]


# --- several kinds of nodes -----------------------------------------------------------------

PLANTED = ("author", 3)


@pytest.fixture
def library():
    """Papers by authors, each paper citing the next; of paper 0's authors only one matters."""
    generator = torch.Generator().manual_seed(0)
    data = HeteroData()
    data["paper"].x = 0.1 * torch.randn(6, 2, generator=generator)
    data["author"].x = 0.1 * torch.randn(8, 4, generator=generator)
    data["venue"].x = torch.ones(2, 1)
    data["author"].x[PLANTED[1]] = 5
    papers = torch.tensor([0, 0, 0, 1, 2, 3, 4, 5, 5])
    authors = torch.tensor([1, 3, 6, 0, 2, 4, 5, 7, 6])
    ring = torch.arange(6)
    data["author", "writes", "paper"].edge_index = torch.stack((authors, papers))
    data["paper", "by", "author"].edge_index = torch.stack((papers, authors))
    data["paper", "cites", "paper"].edge_index = torch.stack((ring, ring.roll(1)))
    data["venue", "prints", "paper"].edge_index = torch.stack((ring % 2, ring))
    data["paper", "in", "venue"].edge_index = torch.stack((ring, ring % 2))
    return data


class OfRelations(nn.Module):
    """Two layers, each with one SAGEConv for each kind of edge."""

    def __init__(self, edge_types, answer=lambda x: x["paper"]):
        super().__init__()
        self.first = HeteroConv({kind: SAGEConv((-1, -1), 6, aggr="sum") for kind in edge_types})
        self.second = HeteroConv({kind: SAGEConv((-1, -1), 2, aggr="sum") for kind in edge_types})
        self.answer = answer

    def forward(self, x_dict, edge_index_dict):
        x_dict = {kind: x.relu() for kind, x in self.first(x_dict, edge_index_dict).items()}
        return self.answer(self.second(x_dict, edge_index_dict))


class OfOneKind(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv((-1, -1), 6), SAGEConv((-1, -1), 2)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


MODELS = {
    "HeteroConv": lambda data: OfRelations(data.edge_types),
    "HeteroConv, answers for every kind": lambda data: OfRelations(data.edge_types, lambda x: x),
    "to_hetero": lambda data: to_hetero(OfOneKind(), data.metadata()),
}


@pytest.fixture(params=MODELS.values(), ids=MODELS)
def hetero_model(request, library):
    model = request.param(library).eval()
    with torch.no_grad():
        model(library.x_dict, library.edge_index_dict)  # lazy layers take their shapes
    return model


def explain_library(model, library, target=0, **settings):
    usual = {"perturbation": "zero", "perturb_probability": 0.25, "change": Absolute(0.05)}
    settings = {**usual, **settings}
    return PGMExplainer(model, library, target_type="paper", **settings).explain(target)


def papers(model, data):
    with torch.no_grad():
        answer = model(data.x_dict, data.edge_index_dict)
    return answer["paper"] if isinstance(answer, dict) else answer


def test_the_planted_node_of_another_kind_explains(hetero_model, library):
    explanation = explain_library(hetero_model, library)
    assert explanation.target == ("paper", 0)
    assert explanation.settings.model.num_layers == 2
    truth = papers(hetero_model, library).softmax(dim=-1)[0]
    np.testing.assert_allclose(explanation.values, truth.tolist(), atol=1e-5)
    assert explanation.nodes[0] == PLANTED
    assert explanation.query({PLANTED: "perturbed"}) < 0.1
    assert explanation.query({PLANTED: "original"}) > 0.7


def test_the_ranking_has_types_and_only_reachable_nodes(hetero_model, library):
    ranked = {each.node for each in explain_library(hetero_model, library).ranking}
    # One step: its authors, the paper that cites it, its venue; two: what reaches those.
    assert {("author", 1), ("author", 3), ("author", 6), ("paper", 1), ("venue", 0)} <= ranked
    assert ("author", 0) in ranked  # writes paper 1, which has an edge to paper 0
    assert ("author", 5) not in ranked
    assert ("paper", 0) not in ranked


@pytest.mark.parametrize("target", [4, ("paper", 4)], ids=["a number", "kind and number"])
def test_a_target_is_named_by_kind_and_number_or_number_alone(target, hetero_model, library):
    explanation = explain_library(hetero_model, library, target, num_samples=50)
    assert explanation.target == ("paper", 4)
    truth = papers(hetero_model, library).softmax(dim=-1)[4]
    np.testing.assert_allclose(explanation.values, truth.tolist(), atol=1e-5)


def test_batched_samples_equal_single_ones(hetero_model, library):
    together = explain_library(hetero_model, library, num_samples=60)
    alone = explain_library(hetero_model, library, num_samples=60, samples_per_call=1)
    assert together == alone
    assert together.network is not None


def test_a_model_that_mixes_rows_is_called_singly_on_the_whole_graph(library):
    class Mixing(OfRelations):
        def forward(self, x_dict, edge_index_dict):
            x_dict = {
                kind: PairNorm()(x) for kind, x in self.first(x_dict, edge_index_dict).items()
            }
            return self.answer(self.second(x_dict, edge_index_dict))

    model = Mixing(library.edge_types)
    truth = papers(model, library).softmax(dim=-1)[0]
    together = explain_library(model, library, num_samples=60)
    alone = explain_library(model, library, num_samples=60, samples_per_call=1)
    np.testing.assert_allclose(together.values, truth.tolist(), atol=1e-5)
    assert together == alone
    assert together.network is not None


def test_every_kind_of_node_is_perturbed_by_its_own_statistics(library):
    class Spy(OfRelations):
        def forward(self, x_dict, edge_index_dict):
            seen.append({kind: x.clone() for kind, x in x_dict.items()})
            return super().forward(x_dict, edge_index_dict)

    seen: list[dict[str, torch.Tensor]] = []
    model = Spy(library.edge_types)
    with torch.no_grad():
        model(library.x_dict, library.edge_index_dict)
    explainer = PGMExplainer(model, library, target_type="paper", perturbation="mean")
    seen.clear()
    explainer.explain(0)
    drawn = max(seen, key=lambda x_dict: len(x_dict["author"]))
    for kind in ("paper", "author"):
        x = library[kind].x
        usual = torch.cat((x, x.mean(dim=0, keepdim=True)))
        distance = torch.cdist(drawn[kind], usual)
        assert drawn[kind].shape[1] == x.shape[1]
        assert distance.min(dim=1).values.max() < 1e-3
        assert (distance.argmin(dim=1) == len(x)).any()


def test_text_and_plots_name_nodes_by_type_and_number(hetero_model, library):
    explanation = explain_library(hetero_model, library)
    assert "for node ('paper', 0), with a probability of" in " ".join(str(explanation).split())
    assert "('author', 3)" in str(explanation)
    figure = explanation.plot()
    neighbourhood, network = ({text.get_text() for text in axes.texts} for axes in figure.axes)
    plt.close(figure)
    assert {"paper 0", "author 3"} <= network
    assert {"paper 0", "author 3"} <= neighbourhood


def test_a_type_without_predictions_has_no_targets_or_states(hetero_model, library):
    with pytest.raises(InputError, match="no prediction to explain"):
        PGMExplainer(hetero_model, library, target_type="paper").explain(("author", 3))
    explanation = explain_library(hetero_model, library)
    author = explanation.network.variable(("author", 3))
    assert author.states == ("original", "perturbed")
    with pytest.raises(QueryError, match="'kept' is not valid evidence"):
        explanation.query({("author", 3): "kept"})


def test_a_kind_that_is_not_there_is_refused(hetero_model, library):
    with pytest.raises(InputError, match="paper, author, venue"):
        PGMExplainer(hetero_model, library, target_type="reader")
    with pytest.raises(InputError, match="target_type"):
        PGMExplainer(hetero_model, library)
    with pytest.raises(InputError, match="unknown node type 'reader'"):
        explain_library(hetero_model, library, ("reader", 0))
    with pytest.raises(InputError, match="0 to 5"):
        explain_library(hetero_model, library, ("paper", 6))


def test_edges_beyond_the_nodes_of_their_kind_are_refused(hetero_model, library):
    """There are 6 papers; a node 7 among all kinds is an author."""
    library["author", "writes", "paper"].edge_index[1, 0] = 7
    with pytest.raises(InputError, match="7"):
        PGMExplainer(hetero_model, library, target_type="paper")


def test_further_inputs_of_several_kinds_are_not_dropped_in_silence(hetero_model, library):
    inputs = {"edge_weight_dict": {kind: torch.ones(1) for kind in library.edge_types}}
    with pytest.raises(InputError, match="inputs"):
        PGMExplainer(hetero_model, library, inputs=inputs, target_type="paper")


def test_an_answer_with_too_few_rows_is_named(library):
    model = OfRelations(library.edge_types, lambda x: x["author"])
    with torch.no_grad():
        model(library.x_dict, library.edge_index_dict)
    with pytest.raises(ModelError, match="type 'paper'"):
        explain_library(model, library)
