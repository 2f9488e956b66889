"""Every kind of layer: batched answers are the single ones, and cutting changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.nn import GINConv, GraphConv, SAGEConv

from pgm_explainer import PGMExplainer
from pgm_explainer.graph import Graph
from pgm_explainer.predictors import torch_module
from pgm_explainer.predictors.torch_module import TorchModulePredictor
from pgm_explainer.sampling import Fall

FEATURES = 3


def test_batched_answers_of_a_node_model_are_the_single_ones(
    layer, any_graph, node_model, assert_batches_exactly
):
    used = assert_batches_exactly(node_model(layer.make), any_graph)
    assert used in ("shared", "sparse", layer.way)


def test_batched_answers_of_a_graph_classifier_are_the_single_ones(
    pool, any_graph, graph_model, assert_batches_exactly
):
    used = assert_batches_exactly(graph_model(pool=pool), any_graph, "graph")
    assert used in ("shared", "sparse", pool.ways[0])


def test_pooling_works_on_blocks_where_layers_do_not_stack(
    layer, pool, a_graph, graph_model, assert_batches_exactly
):
    expected = layer.way if layer.way in pool.ways else "blocks"
    used = assert_batches_exactly(graph_model(layer.make, pool), a_graph, "graph")
    assert used in ("shared", "sparse", expected)


@pytest.mark.parametrize("kind", [GINConv, SAGEConv, GraphConv])
def test_known_layers_share_edges(kind, a_graph, node_model, assert_batches_exactly):
    def make(*sizes):
        return GINConv(torch.nn.Linear(*sizes)) if kind is GINConv else kind(*sizes)

    assert assert_batches_exactly(node_model(make), a_graph) == "shared"


@pytest.mark.parametrize("way", ["stacked", "blocks", "single"])
def test_any_way_may_be_forced(way, a_graph, node_model, samples, one_by_one):
    model, x = node_model(), samples(a_graph.x)
    predictor = TorchModulePredictor(model, batching=way)
    found = predictor(x.copy(), a_graph.graph.whole)
    torch.testing.assert_close(found, one_by_one(model, x, a_graph.edge_index))
    assert predictor.used == way


def test_samples_with_large_outputs_are_not_batched(
    a_graph, node_model, samples, one_by_one, monkeypatch
):
    """Several of them at once would take much memory."""
    model, x = node_model(), samples(a_graph.x)
    assert TorchModulePredictor(model)(x.copy(), a_graph.graph.whole)[0].numel() < 1000
    monkeypatch.setattr(torch_module, "_LARGE_OUTPUT", 1)
    predictor = TorchModulePredictor(model)
    found = predictor(x.copy(), a_graph.graph.whole)
    torch.testing.assert_close(found, one_by_one(model, x, a_graph.edge_index))
    assert predictor.used == "single"


@st.composite
def graphs(draw):
    """Deep directed graphs: node 0 depends on the others over many hops, on some of them twice.

    There are duplicate edges, self-loops, cycles, and nodes without outgoing edges.
    """
    nodes = draw(st.integers(2, 20))
    chain = [(node, max(0, node - draw(st.integers(1, 2)))) for node in range(1, nodes)]
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=6))
    again = draw(st.lists(st.sampled_from(chain), max_size=3))
    return nodes, np.array([*chain, *pairs, *again]).T


@settings(max_examples=40)
@given(graphs(), st.integers(0, 2**32 - 1))
def test_predictions_on_the_cut_are_those_of_the_whole_graph(layer, node_model, graph, seed):
    nodes, edge_index = graph
    whole = Graph(edge_index, nodes)
    recorded = whole.within_hops(np.array([0]), 2)
    part = whole.cut(recorded, 2)
    x = np.random.default_rng(seed).normal(size=(2, nodes, FEATURES)).astype(np.float32)
    predictor = TorchModulePredictor(node_model(layer.make))
    truth = predictor(x.copy(), whole.whole)[:, recorded]
    found = predictor(x[:, part.nodes], part)[:, part.positions(recorded)]
    torch.testing.assert_close(found, truth, atol=1e-4, rtol=1e-4)


def test_the_plain_neighbourhood_would_change_predictions(layer, a_graph, node_model):
    """A common mistake in cutting subgraphs: the test above detects it for any layer."""
    predictor = TorchModulePredictor(node_model(layer.make))
    x, recorded = a_graph.x.numpy()[None], a_graph.surroundings
    truth = predictor(x.copy(), a_graph.graph.whole)[:, recorded]
    found = predictor(x[:, recorded], a_graph.graph.induced(recorded))
    assert (found - truth).abs().max() > 0.01


def test_explanations_equal_those_of_single_calls_on_the_whole_graph(
    layer, any_graph, node_model, slowly
):
    model, x, edges = node_model(layer.make), any_graph.x, any_graph.edge_index
    options = {"num_layers": 2, "num_samples": 100, "change": Fall(0.002)}
    options |= {"perturbation": "mean", "perturb_probability": 0.25}
    fast = PGMExplainer(model, x, edges, **options).explain(any_graph.target)
    slow = PGMExplainer(slowly(model, edges), x, edges, **options).explain(any_graph.target)
    assert fast == slow
    np.testing.assert_allclose(fast.values, slow.values, atol=1e-5)
    assert fast.network is not None


def test_explanations_of_graphs_equal_those_of_single_calls(pool, a_graph, graph_model):
    model, x, edges = graph_model(pool=pool), a_graph.x, a_graph.edge_index

    @torch.no_grad()
    def slow_model(x):
        return torch.cat([model(each, edges) for each in torch.tensor(x)])

    # Noise, because a pooling that sorts nodes may break ties of equal nodes in any order.
    options = {"task": "graph", "num_samples": 100, "perturb_probability": 0.25}
    options["perturbation"] = "uniform"
    fast = PGMExplainer(model, x, edges, **options).explain()
    slow = PGMExplainer(slow_model, x, edges, **options).explain()
    assert fast == slow
    assert fast.network is not None


@pytest.mark.parametrize("layer", ["SAGE", "GraphConv", "Transformer", "PNA"], indirect=True)
def test_a_trained_model_is_explained_by_the_neighbour_that_decides(layer, node_model):
    """A node is of class 1 if a neighbour carries the mark; of the target's, one does."""
    generator = torch.Generator().manual_seed(3)
    edges = torch.randint(80, (2, 120), generator=generator)
    edges = torch.cat((edges, edges.flip(0)), dim=1)
    x = 0.1 * torch.randn(80, FEATURES, generator=generator)
    marked = torch.rand(80, generator=generator) < 0.15
    x[:, 0] = marked.float()
    received = torch.zeros(80).index_add(0, edges[1], marked[edges[0]].float())
    model = trained(node_model(layer.make, 2), x, edges, (received > 0).long())
    target = int(torch.nonzero((received == 1) & ~marked)[0])
    neighbours = edges[0, edges[1] == target]
    planted = int(neighbours[marked[neighbours]])

    options = {"perturbation": "zero", "perturb_probability": 0.25, "change": Fall(0.05)}
    explanation = PGMExplainer(model, x, edges, **options).explain(target)
    assert explanation.predicted_class == 1
    assert explanation.nodes[0] == planted
    assert explanation.query({planted: "perturbed"}) < 0.1
    assert explanation.query({planted: "original"}) > 0.9


def trained(model: nn.Module, x, edges, labels) -> nn.Module:
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(120):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(x, edges), labels).backward()
        optimiser.step()
    return model
