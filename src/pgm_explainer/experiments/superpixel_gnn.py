"""The paper's graph convolutional network for superpixels, 101,365 parameters, and its training."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ..arrays import IntArray
from .superpixels import SuperpixelGraph

__all__ = ["SuperpixelGCN", "load_superpixel_gcn", "right_share", "train_superpixel_gcn"]

_WEIGHTS = "superpixel_gcn.safetensors"
_log = logging.getLogger(__name__)


class MeanLayer(nn.Module):
    """``h + ReLU(BN(W mean(neighbours) / sqrt(N)))``, N the number of nodes of the graph."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, h: Tensor, means: Tensor, scale: Tensor) -> Tensor:
        arrived = torch.sparse.mm(means, h)
        return h + torch.relu(self.norm(self.linear(arrived) * scale))


class SuperpixelGCN(nn.Module):
    """An embedding, four layers, the sum of all nodes, and three linear layers that read it."""

    centre: Tensor
    spread: Tensor

    def __init__(self, num_classes: int = 10, width: int = 146, depth: int = 4) -> None:
        super().__init__()
        # About the mean and spread of the features: training goes nowhere without.
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
        """Score the classes of each graph: ``[graphs, classes]``; without ``batch`` of the one."""
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
    """The sparse matrix that averages what arrives at each node."""
    source, target = edge_index
    arriving = torch.bincount(target, minlength=num_nodes).to(dtype)
    shape = (num_nodes, num_nodes)
    pairs = torch.stack((target, source))
    weights = arriving.reciprocal()[target]
    return torch.sparse_coo_tensor(pairs, weights, shape, check_invariants=False).coalesce()


def train_superpixel_gcn(
    graphs: Sequence[SuperpixelGraph],
    held_out: Sequence[SuperpixelGraph],
    seed: int = 0,
    epochs: int = 42,
    batch_size: int = 64,
) -> SuperpixelGCN:
    """Train with Adam and a rate that rises and falls once; keep the best epoch on ``held_out``."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = SuperpixelGCN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    steps = -(-len(graphs) // batch_size) * epochs
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    best, kept = -1.0, model.state_dict()
    for epoch in range(epochs):
        model.train()
        for x, edges, batch, labels in _batches(graphs, batch_size, rng.permutation(len(graphs))):
            optimizer.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(model(x, edges, batch), labels))
            optimizer.step()
            schedule.step()
        share = right_share(model, held_out)
        _log.info("epoch %d: %.2f %% of the held-out graphs are right", epoch + 1, 100 * share)
        if share > best:
            best, kept = share, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(kept)
    return model.eval()


@torch.no_grad()
def right_share(model: nn.Module, graphs: Sequence[SuperpixelGraph]) -> float:
    """Return the share of graphs whose class the model predicts rightly."""
    model.eval()
    right = 0
    for x, edges, batch, labels in _batches(graphs, 256, np.arange(len(graphs))):
        right += int((model(x, edges, batch).argmax(dim=1) == labels).sum())
    return right / len(graphs)


def _batches(
    graphs: Sequence[SuperpixelGraph], size: int, order: IntArray
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield features, edges, graph numbers and labels of several graphs put side by side."""
    for start in range(0, len(order), size):
        chosen = [graphs[at] for at in order[start : start + size]]
        sizes = np.array([len(graph.x) for graph in chosen])
        shifts = np.cumsum(sizes) - sizes
        edges = [graph.edge_index + shift for graph, shift in zip(chosen, shifts, strict=True)]
        yield (
            torch.from_numpy(np.concatenate([graph.x for graph in chosen])),
            torch.from_numpy(np.concatenate(edges, axis=1)),
            torch.from_numpy(np.repeat(np.arange(len(chosen)), sizes)),
            torch.tensor([graph.label for graph in chosen]),
        )
