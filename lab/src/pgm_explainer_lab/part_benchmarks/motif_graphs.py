"""Graphs whose class follows from a motif: BA-2Motifs, and the mutagenic molecules of Mutagenicity.

The network and the graphs to explain are those of PGExplainer (Luo et al., 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool, global_max_pool

from ..faithfulness.networks import kept
from ..gnn import SumLayer
from ..mutagenicity import load_mutagenicity
from ..reproduce.jobs import Place
from .molecules import LabelledMolecule as LabelledGraph
from .molecules import fit, probabilities

__all__ = ["MOTIF_SETS", "GraphGCN", "MotifGraphs", "ba_2motifs", "motif_graphs"]

MOTIF_SETS = ("BA-2Motifs", "Mutagenicity")
_BASE, _FEATURES = 20, 10
_HOUSE = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 0), (4, 1))
_CYCLE = tuple((at, (at + 1) % 5) for at in range(5))
_COUNT = 1000
_TRAIN_SHARE = 0.8
_EPOCHS = {"BA-2Motifs": 200, "Mutagenicity": 140}


class GraphGCN(nn.Module):
    """Three layers ``x <- relu(normalise(A x W + b))``, pooled by maximum and sum; a linear layer.

    The network of PGExplainer.
    """

    def __init__(self, features: int, classes: int, hidden: int = 20) -> None:
        super().__init__()
        self.layers: Any = nn.ModuleList(SumLayer(n, hidden) for n in (features, hidden, hidden))
        self.head = nn.Linear(2 * hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = nn.functional.normalize(layer(x, edge_index), dim=-1).relu()
        pooled = (global_max_pool(x, batch), global_add_pool(x, batch))
        return self.head(torch.cat(pooled, dim=-1))


@dataclass(frozen=True)
class MotifGraphs:
    """A trained network, its accuracy on held-out graphs, and the graphs to explain.

    Attributes:
        graphs: held-out graphs that have a motif, in random order; of Mutagenicity only those
            labelled mutagenic. As in PGExplainer's protocol, the network may be wrong about them.
    """

    model: GraphGCN
    accuracy: float
    graphs: Sequence[LabelledGraph]


def motif_graphs(place: Place, name: str, seed: int) -> MotifGraphs:
    """Return one of the sets, with a network that is trained on four fifths of it."""
    rng = np.random.default_rng([seed, len(name)])
    known = ba_2motifs(rng) if name == "BA-2Motifs" else _mutagenicity(place)
    graphs = [known[at] for at in rng.permutation(len(known))]
    trained = round(_TRAIN_SHARE * len(graphs))
    torch.manual_seed(seed)
    model = kept(
        place,
        f"motif-graphs-{name}-{seed}",
        GraphGCN(graphs[0].x.shape[1], 2),
        lambda model: fit(model, graphs[:trained], _EPOCHS[name], rate=0.001),
    )
    held_out = graphs[trained:]
    labels = np.array([each.label for each in held_out])
    right = (probabilities(model, held_out) > 0.5) == labels
    return MotifGraphs(model, float(right.mean()), [each for each in held_out if each.atoms])


def ba_2motifs(rng: np.random.Generator, count: int = _COUNT) -> list[LabelledGraph]:
    """Return Barabási-Albert trees, with a house (class 0) or a cycle of five nodes attached."""
    x = np.full((_BASE + 5, _FEATURES), 0.1, dtype=np.float32)
    graphs = []
    for number in range(count):
        label = number % 2
        graph = nx.barabasi_albert_graph(_BASE, 1, seed=int(rng.integers(2**31)))
        graph.add_edges_from((_BASE + u, _BASE + v) for u, v in (_HOUSE, _CYCLE)[label])
        graph.add_edge(int(rng.integers(_BASE)), _BASE + int(rng.integers(5)))
        ends = np.array(sorted(graph.edges), dtype=np.int64).T
        both = np.concatenate((ends, ends[::-1]), axis=1)
        graphs.append(LabelledGraph(x, both, label, frozenset(range(_BASE, _BASE + 5))))
    return graphs


def _mutagenicity(place: Place) -> list[LabelledGraph]:
    """Return all molecules; class 1 is mutagenic, and has the bonds of NO2 and NH2 as its motif."""
    return [
        LabelledGraph(
            each.x, each.edge_index, 1 - each.label, each.motif if each.label == 0 else frozenset()
        )
        for each in load_mutagenicity(place.data)
    ]
