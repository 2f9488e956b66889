"""Layers that pass messages from target to source are explained by the nodes that send them."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import DirGNNConv, GCNConv, GraphConv, MessagePassing, SAGEConv

from pgm_explainer import PGMExplainer
from pgm_explainer.errors import InputError

NODES, FEATURES = 60, 3
EDGES = torch.stack((torch.arange(NODES - 1), torch.arange(1, NODES)))  # a path, one way
X = torch.randn(NODES, FEATURES, generator=torch.Generator().manual_seed(0))
BACK, FORTH = "target_to_source", "source_to_target"


class Layers(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.seen = []

    def forward(self, x, edge_index):
        self.seen.append(edge_index)
        for layer in self.layers:
            x = layer(x, edge_index).tanh()
        return 5 * x


def model(kind, *flows):
    torch.manual_seed(0)
    return Layers(*(kind(FEATURES, FEATURES, flow=flow) for flow in flows)).eval()


@pytest.mark.parametrize("kind", [GraphConv, GCNConv, SAGEConv])
def test_the_neighbours_that_send_are_found(kind):
    """The same weights on the reversed graph, with the usual flow, give the same outputs."""
    explainer = PGMExplainer(model(kind, BACK, BACK), X, EDGES, num_samples=300)
    assert explainer.candidates(20).tolist() == [21, 22]
    found = explainer.explain(20)
    usual = PGMExplainer(model(kind, FORTH, FORTH), X, EDGES.flip(0), num_samples=300)
    assert found == usual.explain(20)
    assert set(found.nodes) & {21, 22}
    assert not any("receptive field is larger" in text for text in found.warnings)
    assert explainer.explain_many([20, 40])[0] == found


def test_the_model_is_given_the_edges_of_the_caller():
    backwards = model(GraphConv, BACK)
    PGMExplainer(backwards, X, EDGES, num_samples=20).explain(20)
    assert backwards.seen
    for edges in backwards.seen:  # numbered anew, but still along the path
        assert (edges[1] - edges[0] == 1).all()


def test_it_is_called_on_a_subgraph():
    backwards = model(GraphConv, BACK)
    PGMExplainer(backwards, X, EDGES, num_samples=20).explain(20)
    assert max(edges.shape[1] for edges in backwards.seen) < 20


@pytest.mark.parametrize("both", ["flows", "DirGNNConv"])
def test_layers_of_both_flows_have_neighbours_on_both_sides(both, slowly):
    torch.manual_seed(0)
    made = {
        "flows": lambda: model(GraphConv, FORTH, BACK),
        "DirGNNConv": lambda: Layers(DirGNNConv(SAGEConv(FEATURES, FEATURES))).eval(),
    }[both]()
    explainer = PGMExplainer(made, X, EDGES, num_samples=300)
    assert explainer.num_layers == 2
    assert explainer.candidates(20).tolist() == [18, 19, 21, 22]
    found = explainer.explain(20)
    assert not any("receptive field is larger" in text for text in found.warnings)
    slow = slowly(made, EDGES)
    both_ways = torch.cat((EDGES, EDGES.flip(0)), dim=1)
    truth = PGMExplainer(slow, X, both_ways, num_layers=2, num_samples=300).explain(20)
    assert found == truth


class Bought(MessagePassing):
    """Users depend on the items that they buy, against the edges from users to items."""

    def __init__(self):
        super().__init__(aggr="sum", flow=BACK)

    def forward(self, x, edges):
        user, item = edges["user", "buys", "item"]
        return torch.zeros_like(x["user"]).index_add(0, user, x["item"][item])


def test_graphs_with_several_kinds_of_nodes_too():
    data = HeteroData()
    generator = torch.Generator().manual_seed(0)
    data["user"].x = torch.randn(8, 2, generator=generator)
    data["item"].x = 3 * torch.randn(8, 2, generator=generator)
    data["user", "buys", "item"].edge_index = torch.stack((torch.arange(8), torch.arange(8)))
    explainer = PGMExplainer(Bought(), data, target_type="user", change="large_move")
    assert explainer.explain(3).nodes == [("item", 3)]


def test_an_unknown_flow_is_refused():
    class Sideways:
        accepts_subgraph = False
        flow = "sideways"

        def __call__(self, x, part, pairs=None):
            return x

    with pytest.raises(InputError, match=r"one of source_to_target.*'sideways'"):
        PGMExplainer(Sideways(), X, EDGES)
