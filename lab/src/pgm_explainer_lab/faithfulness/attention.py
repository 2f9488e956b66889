"""Attention networks set by hand: each node attends to one neighbour; the cause is far away."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from ..arrays import FloatArray, IntArray
from ..rivals.case import Case
from .marked import distances_from, random_digraph
from .subjects import Subject

__all__ = ["STRENGTHS", "PriorityAttention", "attention_subject"]

STRENGTHS = {"sharp": 40.0, "soft": 8.0}
"""How strongly attention prefers the neighbour with the highest priority."""
_NODES, _DEGREE, _LAYERS = 80, 4, 3
_GAIN = 3.0


class PriorityAttention(nn.Module):
    """Three attention layers that pass on a value from the neighbour with the highest priority.

    The first feature is the value, the second the priority, which does not change. The class of a
    node is whether the value that reaches it is positive.
    """

    def __init__(self, strength: float) -> None:
        super().__init__()
        self.layers: Any = nn.ModuleList(_layer(strength) for _ in range(_LAYERS))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        value, priority = x[:, :1], x[:, 1:2]
        for layer in self.layers:
            value = layer(torch.cat((value, priority), dim=1), edge_index)[:, :1]
        return _GAIN * torch.cat((-value, value), dim=1)


@torch.no_grad()
def _layer(strength: float) -> Any:
    """Return a layer that keeps both features and attends by the second."""
    layer: Any = GATConv(2, 2, add_self_loops=False, bias=False)
    layer.lin.weight.copy_(torch.eye(2))
    layer.att_src.copy_(torch.tensor([[[0.0, strength]]]))
    layer.att_dst.zero_()
    return layer


def attention_subject(strength: str, seed: int, most: int) -> Subject:
    """Return a random graph of 80 nodes, and up to ``most`` targets whose cause is 3 hops away.

    Targets are nodes that get most of their value from one node at the largest distance the network
    can use. Only values are perturbed, not priorities.
    """
    rng = np.random.default_rng(seed)
    edge_index = random_digraph(_NODES, _DEGREE / (_NODES - 1), rng)
    value = rng.choice([-1.0, 1.0], size=_NODES)
    x = np.stack((value, rng.random(_NODES)), axis=1).astype(np.float32)
    weight = _weights(edge_index, STRENGTHS[strength] * x[:, 1])
    cause = weight.argmax(axis=1)
    nodes = np.arange(_NODES)
    away = distances_from(nodes, edge_index, _NODES)[cause, nodes]
    most_of_it = weight[nodes, cause] > 0.5
    chosen = sorted(rng.permutation(nodes[most_of_it & (away == _LAYERS)])[:most].tolist())
    case = Case(PriorityAttention(STRENGTHS[strength]), x, edge_index, features=[0])
    causes = {target: int(cause[target]) for target in chosen}
    return Subject(f"attention-{strength}-{seed}", case, chosen, [strength] * len(chosen), causes)


def _weights(edge_index: IntArray, preference: FloatArray) -> FloatArray:
    """Return ``[target, source]``: the share of its value that each node gets from each node."""
    one_layer = np.zeros((_NODES, _NODES))
    one_layer[edge_index[1], edge_index[0]] = np.exp(preference[edge_index[0]])
    total = one_layer.sum(axis=1, keepdims=True)
    one_layer /= np.where(total > 0, total, 1)
    return np.asarray(np.linalg.matrix_power(one_layer, _LAYERS))
