"""A model whose prediction depends on one planted node, which every explainer should find."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import SimpleConv, global_add_pool

from pgm_explainer_lab import synthetic
from pgm_explainer_lab.rivals import Case


class Planted(nn.Module):
    """Class 1 if the messages are large: products of a node's two features, sent over two hops."""

    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList(SimpleConv("sum", combine_root="sum") for _ in range(2))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        arrived = x.prod(dim=-1, keepdim=True)
        for conv in self.convs:
            arrived = conv(arrived, edge_index)
        return torch.cat((1 - arrived, arrived - 1), dim=-1)


class PlantedGraph(Planted):
    """The same for a whole graph."""

    def forward(self, x, edge_index, batch):
        return global_add_pool(super().forward(x, edge_index)[:, 1:] - 1, batch) @ torch.tensor(
            [[-0.2, 0.2]]
        )


@dataclass(frozen=True)
class PlantedCases:
    node: Case
    graph: Case
    target: int
    answer: int
    far: int


@pytest.fixture(scope="session")
def planted() -> PlantedCases:
    """Target 0 has edges from 1, 2, 3, and they from 4, 5, 6; node 7 is one hop too far."""
    one_way = np.array([[0, 0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7]])
    edges = np.concatenate((one_way, one_way[::-1]), axis=1)
    x = np.full((8, 2), 0.1, dtype=np.float32)
    x[5] = 2.0
    return PlantedCases(
        node=Case(Planted(), x, edges),
        graph=Case(PlantedGraph(), x, edges, task="graph"),
        target=0,
        answer=5,
        far=7,
    )


@pytest.fixture
def one_small_set():
    """Syn 1 with a base of 30 nodes and 6 houses, and no other synthetic set."""
    recipe = synthetic._Recipe(
        lambda seed: nx.barabasi_albert_graph(30, 2, seed=seed), synthetic._HOUSE, 6
    )
    every = dict(synthetic.SYNTHETIC)
    synthetic.SYNTHETIC.clear()
    synthetic.SYNTHETIC["syn1"] = recipe
    yield
    synthetic.SYNTHETIC.clear()  # and in the same order again
    synthetic.SYNTHETIC.update(every)
