"""Explainers of every kind of task and of part, and an explanation by each: what is attacked."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GCNConv

from pgm_explainer import Explanation, PGMExplainer

from .served import net
from .worlds import exact_model

QUICK: dict[str, Any] = {"num_samples": 30, "num_layers": 1, "perturb_probability": 0.4}


def of_pairs(x: Any, edge_index: Any, pairs: Any) -> Any:
    """Score pairs of nodes."""
    scores = net(x, edge_index)
    return scores[:, pairs[0]] / 2 + scores[:, pairs[1]] / 2


class Module(torch.nn.Module):
    """One layer, which takes weights of edges."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = GCNConv(3, 2)

    def forward(self, x: Any, edge_index: Any, edge_weight: Any = None) -> Any:
        return 5 * self.layer(x, edge_index, edge_weight)


class OfKinds(torch.nn.Module):
    """Scores of the nodes of type b."""

    def forward(self, x: Any, edges: Any) -> Any:
        return 3 * x["b"]


class OfGraph(torch.nn.Module):
    """Scores of graphs in a batch."""

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        total = x.new_zeros(int(batch.max()) + 1, x.shape[-1]).index_add_(0, batch, x)
        return total[..., :2]


@cache
def arrays() -> dict[str, Any]:
    """Return the features and edges of a ring of six nodes, and a table of three variables."""
    rng = np.random.default_rng(0)
    nodes = np.arange(6)
    edges = np.stack((nodes, np.roll(nodes, -1)))
    return {
        "x": rng.integers(-3, 4, size=(6, 3)).astype(float),
        "edges": np.concatenate((edges, edges[::-1]), axis=1),
        "data": rng.integers(0, 2, size=(40, 3)),
    }


def hetero() -> HeteroData:
    """Return a graph of two types of nodes."""
    data = HeteroData()
    data["a"].x, data["b"].x = torch.ones(4, 2), torch.eye(3, 2)
    data["a", "to", "b"].edge_index = torch.tensor([[0, 1], [1, 2]])
    return data


def graphs_of_nodes() -> list[Data]:
    """Return two graphs."""
    of = arrays()
    x, edges = torch.tensor(of["x"], dtype=torch.float32), torch.tensor(of["edges"])
    return [Data(x=x, edge_index=edges), Data(x=-x, edge_index=edges[:, :4])]


@cache
def explainers() -> dict[str, PGMExplainer]:
    """Return an explainer of each kind of task."""
    of = arrays()
    x, edges, of_world = of["x"], of["edges"], exact_scores()
    return {
        "nodes": PGMExplainer(of_world, x, edges, only_significant=False, **QUICK),
        "edges as parts": PGMExplainer(of_world, x, edges, parts="edges", **QUICK),
        "mixed": PGMExplainer(of_world, x, edges, parts=["nodes", "features"], **QUICK),
        "module": PGMExplainer(Module(), x.astype("f4"), edges, **QUICK),
        "pairs": PGMExplainer(
            of_pairs,
            x,
            edges,
            task="edge",
            **QUICK,
        ),
        "graph": PGMExplainer(
            lambda x, edge_index: net(x, edge_index).mean(axis=1),
            x,
            edges,
            task="graph",
            **QUICK,
        ),
        "graphs": PGMExplainer(
            OfGraph(), graphs_of_nodes(), task="graph", num_samples=30, scores="logits"
        ),
        "kinds": PGMExplainer(OfKinds(), hetero(), target_type="b", **QUICK),
        "values": PGMExplainer(of_world, x, edges, scores="values", output=0, **QUICK),
    }


def exact_scores() -> Callable[..., Any]:
    """Return the same exact model every time."""
    return exact_model(random.Random(5), 3, 1, 2)


TARGETS = {"pairs": (0, 1), "graph": None, "graphs": 1}


@cache
def explanations() -> dict[str, Explanation]:
    """Return an explanation of each kind."""
    return {name: each.explain(TARGETS.get(name, 1)) for name, each in explainers().items()}
