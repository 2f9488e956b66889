"""Small graph neural networks, and the effects of parts computed from all contexts."""

from itertools import product

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_add_pool

P = 0.3
FEATURES, HIDDEN, CLASSES = 3, 6, 3


def gin(inputs, outputs, **options):
    return GINConv(torch.nn.Linear(inputs, outputs), **options)


LAYERS = {"GCN": GCNConv, "SAGE": SAGEConv, "GAT": GATConv, "GIN": gin}


class Net(torch.nn.Module):
    """Two layers, with a prediction for each node, each pair or each graph."""

    def __init__(self, layer, task="node", **options):
        super().__init__()
        torch.manual_seed(1)
        self.task = task
        self.first = LAYERS[layer](FEATURES, HIDDEN, **options)
        self.second = LAYERS[layer](HIDDEN, CLASSES, **options)

    def forward(self, x, edge_index, edge_label_index=None, batch=None):
        hidden = self.second(self.first(x, edge_index).tanh(), edge_index)
        if self.task == "graph":
            return 0.5 * global_add_pool(hidden, batch)
        if self.task == "edge":
            return hidden[edge_label_index[0]] * hidden[edge_label_index[1]]
        return hidden


def probabilities(net, x, edge_indices, target):
    """The probabilities ``[graphs, C]`` of a target in graphs with the same nodes."""
    nodes = torch.from_numpy(x)
    batch = Batch.from_data_list(
        [Data(x=nodes, edge_index=torch.from_numpy(e)) for e in edge_indices]
    )
    first = torch.arange(len(edge_indices)) * len(x)
    with torch.no_grad():
        if net.task == "edge":
            pairs = torch.stack([first + end for end in target])
            scores = net(batch.x, batch.edge_index, edge_label_index=pairs)
        elif net.task == "graph":
            scores = net(batch.x, batch.edge_index, batch=batch.batch)
        else:
            scores = net(batch.x, batch.edge_index)[first + target]
    return scores.double().softmax(dim=-1).numpy()


def parts_of(edge_index, undirected):
    """The part of each edge, and the ends of each part, found in a plain way."""
    names = [tuple(sorted(e)) if undirected else tuple(e) for e in edge_index.T.tolist()]
    parts = sorted(set(names))
    return np.array([parts.index(name) for name in names]), parts


@pytest.fixture(scope="session")
def true_effects():
    """The exact effect of removing each part, by calling the model in all contexts."""

    def find(net, x, edge_index, target, part_of, names, p=P):
        contexts = np.array(list(product([False, True], repeat=len(names))))
        # The edges of part -1 are never removed.
        graphs = [edge_index[:, ~np.append(removed, False)[part_of]] for removed in contexts]
        scores = probabilities(net, x, graphs, target)
        explained = scores[0].argmax()
        value = scores[:, explained]
        found = {}
        for part, name in enumerate(names):
            others = np.delete(contexts, part, axis=1).sum(axis=1)
            weight = p**others * (1 - p) ** (len(names) - 1 - others)
            sign = np.where(contexts[:, part], 1, -1)
            found[name] = float((sign * weight * value).sum())
        return found

    return find
