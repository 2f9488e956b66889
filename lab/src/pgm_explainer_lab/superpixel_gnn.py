"""The paper's graph convolutional network for superpixels, 101,365 parameters."""

from __future__ import annotations

from importlib.resources import files

import torch
from safetensors.torch import load
from torch import Tensor, nn

__all__ = ["SuperpixelGCN", "load_superpixel_gcn"]

_WEIGHTS = "superpixel_gcn.safetensors"


class MeanLayer(nn.Module):
    """``h + ReLU(BN(W mean(neighbours) / sqrt(N)))``, where the graph has N nodes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, h: Tensor, means: Tensor, scale: Tensor) -> Tensor:
        arrived = torch.sparse.mm(means, h)
        return h + torch.relu(self.norm(self.linear(arrived) * scale))


class SuperpixelGCN(nn.Module):
    """An embedding, four layers, the sum over all nodes, and three linear layers."""

    centre: Tensor
    spread: Tensor

    def __init__(self, num_classes: int = 10, width: int = 146, depth: int = 4) -> None:
        super().__init__()
        # Approximate mean and spread of the features; training fails without normalisation.
        self.register_buffer("centre", torch.tensor((0.2, 0.5, 0.5)))
        self.register_buffer("spread", torch.tensor((0.3, 0.28, 0.28)))
        self.embedding = nn.Linear(3, width)
        self.layers = nn.ModuleList(MeanLayer(width) for _ in range(depth))
        half, quarter = width // 2, width // 4
        self.head = nn.Sequential(
            nn.Linear(width, half),
            nn.ReLU(),
            nn.Linear(half, quarter),
            nn.ReLU(),
            nn.Linear(quarter, num_classes),
        )

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return class scores ``[graphs, classes]``; without ``batch`` all nodes form one graph."""
        if batch is None:
            batch = torch.zeros(len(x), dtype=torch.long)
        sizes = torch.bincount(batch)
        means = _mean_matrix(edge_index, len(x), x.dtype)
        scale = sizes.to(x.dtype).rsqrt()[batch].unsqueeze(1)
        h = self.embedding((x - self.centre) / self.spread)
        for layer in self.layers:
            h = layer(h, means, scale)
        return self.head(h.new_zeros(len(sizes), h.shape[1]).index_add(0, batch, h))


def _mean_matrix(edge_index: Tensor, num_nodes: int, dtype: torch.dtype) -> Tensor:
    """The sparse matrix that averages the messages at each node."""
    source, target = edge_index
    arriving = torch.bincount(target, minlength=num_nodes).to(dtype)
    shape = (num_nodes, num_nodes)
    pairs = torch.stack((target, source))
    weights = arriving.reciprocal()[target]
    return torch.sparse_coo_tensor(pairs, weights, shape, check_invariants=False).coalesce()


def load_superpixel_gcn() -> SuperpixelGCN:
    """Return the network with the weights that come with the package.

    They were produced by ``pgm-explainer reproduce mnist --train``.
    """
    model = SuperpixelGCN()
    model.load_state_dict(load((files(__package__) / _WEIGHTS).read_bytes()))
    return model.eval()
