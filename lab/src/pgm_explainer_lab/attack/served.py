"""Models that attacked command lines can name."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch_geometric.nn import GCNConv


def net(x: Any, edge_index: Any) -> Any:
    """Score nodes by the clipped sum of the features of a node and its neighbours; exact."""
    total = x.astype(float)
    receivers: Any = (slice(None), edge_index[1])
    np.add.at(total, receivers, x[:, edge_index[0]])
    score = np.clip(total.sum(axis=-1), -8, 8)
    return np.stack((8 - score, 8 + score), axis=-1) / 16


class Weighted(torch.nn.Module):
    """A module whose weights are loaded from a file."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = GCNConv(2, 3)
        self.out = torch.nn.Linear(3, 2)

    def forward(self, x: Any, edge_index: Any) -> Any:
        """Score nodes."""
        return self.out(self.layer(x, edge_index).relu())


class OfKinds(torch.nn.Module):
    """Scores of the nodes of type a in a graph with types."""

    def forward(self, x: Any, edges: Any) -> Any:
        """Score nodes."""
        return 3 * x["a"]
