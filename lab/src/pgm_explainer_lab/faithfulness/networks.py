"""The graph neural networks to explain, with functions to train and store them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GINConv, GraphConv, global_add_pool

from ..reproduce.jobs import Place

__all__ = ["AllLayers", "CitationGAT", "MoleculeGIN", "kept", "training_steps"]

Network = TypeVar("Network", bound=nn.Module)


class AllLayers(nn.Module):
    """``GraphConv`` layers with ReLU; a linear layer takes the features and all layers' outputs.

    The network of Faber et al. (KDD 2021).
    """

    def __init__(self, features: int, classes: int, layers: int, hidden: int = 32) -> None:
        super().__init__()
        sizes = [features, *[hidden] * (layers - 1)]
        self.layers: Any = nn.ModuleList(GraphConv(size, hidden) for size in sizes)
        self.head = nn.Linear(features + layers * hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        seen = [x]
        for layer in self.layers:
            seen.append(layer(seen[-1], edge_index).relu())
        return self.head(torch.cat(seen, dim=-1))


class CitationGAT(nn.Module):
    """Two attention layers with eight heads and dropout, as usual for Cora."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GATConv(features, 8, heads=8, dropout=0.6)
        self.second = GATConv(64, classes, dropout=0.6)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = nn.functional.dropout(x, 0.6, self.training)
        x = nn.functional.dropout(self.first(x, edge_index).relu(), 0.6, self.training)
        return self.second(x, edge_index)


class MoleculeGIN(nn.Module):
    """Three GIN layers, a sum over all atoms, and a linear layer."""

    def __init__(self, features: int, classes: int, hidden: int = 32) -> None:
        super().__init__()
        self.layers: Any = nn.ModuleList(
            GINConv(nn.Sequential(nn.Linear(size, hidden), nn.BatchNorm1d(hidden), nn.ReLU()))
            for size in (features, hidden, hidden)
        )
        self.head = nn.Linear(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, edge_index)
        return self.head(global_add_pool(x, batch))


def kept(place: Place, name: str, model: Network, train: Callable[[Network], None]) -> Network:
    """Return a network with the weights stored under a name; train it first if there are none."""
    path = place.models / f"{name}.safetensors"
    if path.is_file():
        model.load_state_dict(load_file(path))
        return model.eval()
    train(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    save_file(model.state_dict(), part)
    part.replace(path)
    return model.eval()


def training_steps(model: nn.Module, count: int, rate: float, decay: float = 0) -> Iterator[int]:
    """Yield before each step of Adam; the caller computes the gradients."""
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=decay)
    for step in range(count):
        optimizer.zero_grad()
        yield step
        optimizer.step()
