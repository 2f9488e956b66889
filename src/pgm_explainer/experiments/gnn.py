"""The paper's three-layer graph network for node classification, and its training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from .synthetic import NodeDataset

__all__ = ["NodeGNN", "accuracy", "as_function", "train"]


class SumLayer(MessagePassing):
    """``A x W + b``: every node adds up what its neighbours send; no self-loop.

    One graph goes the way of PyTorch Geometric, which its explainers hook into. A stack of samples
    ``[B, N, F]`` goes through one sparse product for all of them.
    """

    def __init__(self, num_inputs: int, num_outputs: int) -> None:
        super().__init__(aggr="sum")
        self.linear = nn.Linear(num_inputs, num_outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(num_outputs))
        nn.init.xavier_uniform_(self.linear.weight, gain=nn.init.calculate_gain("relu"))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.linear(x)
        if x.dim() == 2:
            return self.propagate(edge_index, x=x) + self.bias
        flat = x.movedim(-2, 0)
        product = torch.sparse.mm(_adjacency(edge_index, len(flat), x.dtype), flat.flatten(1))
        return product.reshape(flat.shape).movedim(0, -2) + self.bias


class NodeGNN(nn.Module):
    """Three layers ``x <- normalise(A x W + b)``, all of them read by a linear layer.

    ReLU follows the first two layers. Features may be those of one graph ``[N, F]`` or of a stack
    of samples ``[B, N, F]``.
    """

    def __init__(self, num_features: int, num_classes: int, hidden: int = 20) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            SumLayer(size, hidden) for size in (num_features, hidden, hidden)
        )
        self.head = nn.Linear(len(self.layers) * hidden, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        seen = []
        for number, layer in enumerate(self.layers):
            x = nn.functional.normalize(layer(x, edge_index), dim=-1)
            if number < len(self.layers) - 1:
                x = x.relu()
            seen.append(x)
        return self.head(torch.cat(seen, dim=-1))


def _adjacency(edge_index: Tensor, num_nodes: int, dtype: torch.dtype) -> Tensor:
    """The sparse matrix that sums what arrives at each node."""
    ones = torch.ones(edge_index.shape[1], dtype=dtype)
    size = (num_nodes, num_nodes)
    pairs = edge_index.flip(0)
    return torch.sparse_coo_tensor(pairs, ones, size, check_invariants=False).coalesce()


def train(data: NodeDataset, seed: int = 0, epochs: int = 1000) -> NodeGNN:
    """Train as the paper did: Adam at 0.001, weight decay 0.005, gradients clipped at 2."""
    torch.manual_seed(seed)
    model = NodeGNN(data.x.shape[1], data.num_classes)
    x, edges = torch.from_numpy(data.x), torch.from_numpy(data.edge_index)
    y, chosen = torch.from_numpy(data.y), torch.from_numpy(data.train)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=5e-3)
    for _ in range(epochs):
        optimizer.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(model(x, edges)[chosen], y[chosen]))
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
    return model.eval()


@torch.no_grad()
def accuracy(model: NodeGNN, data: NodeDataset) -> tuple[float, float]:
    """Return the share of right predictions among training and among other nodes."""
    scores = model(torch.from_numpy(data.x), torch.from_numpy(data.edge_index))
    right = (scores.argmax(dim=-1) == torch.from_numpy(data.y)).numpy()
    return float(right[data.train].mean()), float(right[~data.train].mean())


def as_function(model: nn.Module) -> Callable[..., NDArray[Any]]:
    """Return a model of ``(x, edge_index)`` as a plain function of arrays, for the explainer."""

    @torch.no_grad()
    def function(x: NDArray[Any], edge_index: NDArray[np.int64]) -> NDArray[Any]:
        return model(torch.from_numpy(x), torch.from_numpy(edge_index)).numpy()

    return function
