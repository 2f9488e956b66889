"""Batches in which each sample has its own edges give the scores of single samples."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv, GINEConv, SAGEConv, global_add_pool

from pgm_explainer import InputError
from pgm_explainer.graph import Graph, SampledEdges
from pgm_explainer.predictors import as_predictor
from pgm_explainer.predictors.torch_module import TorchModulePredictor

NODES, EDGES, SAMPLES = 8, 20, 6


class Net(torch.nn.Module):
    """Two layers; for a graph task a sum over the nodes; edge attributes for GINE."""

    def __init__(self, layer, pooled=False):
        super().__init__()
        torch.manual_seed(0)
        self.pooled = pooled
        if layer is GINEConv:
            self.first = GINEConv(torch.nn.Linear(3, 5), edge_dim=2)
            self.second = GINEConv(torch.nn.Linear(5, 4), edge_dim=2)
        else:
            self.first, self.second = layer(3, 5), layer(5, 4)

    def forward(self, x, edge_index, edge_attr=None, batch=None):
        further = () if edge_attr is None else (edge_attr,)
        hidden = self.second(self.first(x, edge_index, *further).relu(), edge_index, *further)
        if not self.pooled:
            return hidden
        return global_add_pool(hidden, batch)


def setting(seed=0, simple=False):
    rng = np.random.default_rng(seed)
    edge_index = rng.integers(0, NODES, size=(2, EDGES))
    if simple:
        pairs = [(u, v) for u in range(NODES) for v in range(NODES) if u != v]
        edge_index = np.array(pairs).T[:, rng.permutation(len(pairs))[:EDGES]]
    part = Graph(edge_index, NODES).whole
    x = rng.normal(size=(SAMPLES, NODES, 3)).astype(np.float32)
    return rng, part, x


@pytest.mark.parametrize("simple", [False, True])
@pytest.mark.parametrize("task", ["node", "graph"])
@pytest.mark.parametrize("layer", [GCNConv, SAGEConv, GATConv, GINEConv])
def test_a_batch_with_different_edges_gives_the_scores_of_each_sample_alone(layer, task, simple):
    rng, part, x = setting(simple=simple)
    attributes = torch.rand(EDGES, 2)
    inputs = {"edge_attr": attributes} if layer is GINEConv else {}
    module = Net(layer, pooled=task == "graph")
    predictor = TorchModulePredictor(module, task, inputs)
    kept = rng.random((SAMPLES, EDGES)) < 0.7
    kept[2] = False  # a sample without edges
    donors = rng.integers(0, EDGES, size=(SAMPLES, EDGES))
    ends = rng.integers(0, NODES, size=(SAMPLES, 2, EDGES))
    for edges in (
        SampledEdges(kept),
        SampledEdges(kept, edges=donors),
        SampledEdges(kept, ends, donors),
    ):
        found = predictor.on_edges(x.copy(), part, edges).numpy()
        for at in range(SAMPLES):
            index = part.edge_index if edges.edge_index is None else ends[at]
            columns = np.arange(EDGES) if edges.edges is None else donors[at]
            further = {}
            if inputs:
                further["edge_attr"] = attributes[columns[kept[at]]]
            with torch.no_grad():
                alone = module(
                    torch.from_numpy(x[at]), torch.from_numpy(index[:, kept[at]]), **further
                )
            np.testing.assert_allclose(found[at], alone.numpy().squeeze(), atol=1e-5)


def test_a_function_is_called_with_the_edges_of_each_sample():
    rng, part, x = setting()
    kept = rng.random((SAMPLES, EDGES)) < 0.5

    def degrees(x, edge_index):
        counts = np.bincount(edge_index[1], minlength=x.shape[1])
        return np.broadcast_to(counts[None, :, None], (len(x), x.shape[1], 1)).astype(float)

    scores = as_predictor(degrees).on_edges(x, part, SampledEdges(kept))
    expected = [np.bincount(part.edge_index[1, row], minlength=NODES) for row in kept]
    np.testing.assert_array_equal(scores[..., 0], expected)


def test_a_model_without_edge_index_has_no_edges_to_perturb():
    _, part, x = setting()
    with pytest.raises(InputError, match="edge_index"):
        as_predictor(lambda x: x).on_edges(x, part, SampledEdges(np.ones((SAMPLES, EDGES), bool)))


def test_a_module_that_mixes_samples_is_called_one_sample_at_a_time():
    class Mixing(torch.nn.Module):
        def forward(self, x, edge_index):
            return x + x.mean() + edge_index.shape[1]

    rng, part, x = setting()
    kept = rng.random((SAMPLES, EDGES)) < 0.5
    found = TorchModulePredictor(Mixing()).on_edges(x, part, SampledEdges(kept)).numpy()
    expected = x + x.mean(axis=(1, 2), keepdims=True) + kept.sum(axis=1)[:, None, None]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
