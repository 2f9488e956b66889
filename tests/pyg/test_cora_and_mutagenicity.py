"""End to end on real data: a GAT on Cora, a GIN on Mutagenicity, both trained here."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GINConv, global_add_pool

from pgm_explainer import Explanation, PGMExplainer
from pgm_explainer.sampling import Fall

DATA = Path(os.environ.get("PGM_EXPLAINER_DATA", "/no/such/folder"))
CORA = DATA / "planetoid" / "cora_assembled.npz"
MUTAGENICITY = DATA / "Mutagenicity"


def needs(path: Path):
    reason = f"PGM_EXPLAINER_DATA does not name a folder with {path.relative_to(DATA)}"
    return pytest.mark.skipif(not path.exists(), reason=reason)


def load_cora() -> tuple[Data, dict[str, torch.Tensor]]:
    with np.load(CORA) as file:
        x = csr_matrix((file["x_data"], file["x_indices"], file["x_indptr"]), file["x_shape"])
        data = Data(
            x=torch.from_numpy(x.toarray()),
            edge_index=torch.from_numpy(file["edge_index"].astype(np.int64)),
            y=torch.from_numpy(file["y"].astype(np.int64)),
        )
        return data, {part: torch.from_numpy(file[f"{part}_idx"]) for part in ("train", "test")}


def read_integers(name: str, rows: int | None = None) -> np.ndarray:
    with gzip.open(MUTAGENICITY / f"Mutagenicity_{name}.txt.gz", "rt") as file:
        return np.loadtxt(file, delimiter=",", dtype=np.int64, max_rows=rows)


def load_molecules(count: int) -> list[Data]:
    """The first graphs: one-hot atom types, bonds both ways, and the label."""
    graph_of = read_integers("graph_indicator") - 1  # ascending: graphs follow one another
    nodes = int(np.searchsorted(graph_of, count))
    graph_of = graph_of[:nodes]
    atoms = np.eye(14, dtype=np.float32)[read_integers("node_labels", nodes)]
    labels = read_integers("graph_labels", count)
    bonds = read_integers("A", 10 * nodes).T - 1
    bonds = bonds[:, bonds.max(axis=0) < nodes]
    first = np.searchsorted(graph_of, np.arange(count + 1))
    return [
        Data(
            x=torch.from_numpy(atoms[first[graph] : first[graph + 1]]),
            edge_index=torch.from_numpy(bonds[:, graph_of[bonds[0]] == graph] - first[graph]),
            y=torch.tensor([labels[graph]]),
        )
        for graph in range(count)
    ]


class GAT(nn.Module):
    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GATConv(features, 8, heads=8, dropout=0.6)
        self.second = GATConv(64, classes, dropout=0.6)

    def forward(self, x, edge_index):
        x = nn.functional.dropout(x, 0.6, self.training)
        x = nn.functional.dropout(self.first(x, edge_index).relu(), 0.6, self.training)
        return self.second(x, edge_index)


class GIN(nn.Module):
    def __init__(self, features: int, classes: int, hidden: int = 32) -> None:
        super().__init__()
        sizes = (features, hidden, hidden)
        self.layers = nn.ModuleList(
            GINConv(nn.Sequential(nn.Linear(size, hidden), nn.BatchNorm1d(hidden), nn.ReLU()))
            for size in sizes
        )
        self.last = nn.Linear(hidden, classes)

    def forward(self, x, edge_index, batch=None):
        for layer in self.layers:
            x = layer(x, edge_index)
        return self.last(global_add_pool(x, batch))


def steps(model: nn.Module, count: int, **options):
    """Make way for as many steps of training: the caller computes the gradients of each."""
    torch.manual_seed(0)
    optimiser = torch.optim.Adam(model.parameters(), **options)
    for _ in range(count):
        optimiser.zero_grad()
        yield
        optimiser.step()


@needs(CORA)
def test_a_gat_on_cora_is_explained():
    data, rows = load_cora()
    torch.manual_seed(0)
    model = GAT(data.num_features, 7)
    for _ in steps(model, 30, lr=0.01, weight_decay=5e-4):
        scores = model(data.x, data.edge_index)[rows["train"]]
        nn.functional.cross_entropy(scores, data.y[rows["train"]]).backward()
    with torch.no_grad():
        truth = model.eval()(data.x, data.edge_index).softmax(dim=-1)
    right = truth.argmax(dim=-1) == data.y
    assert right[rows["test"]].float().mean() > 0.75

    explainer = PGMExplainer(model, data, num_samples=200, perturbation="zero", change=Fall(0.02))
    # Nodes with enough around them to choose from, and not so much that this takes long.
    candidates = [int(node) for node in rows["test"] if right[node]]
    sees = {node: len(explainer.graph.within_hops(np.array([node]), 2)) for node in candidates}
    targets = [node for node in candidates if 8 <= sees[node] <= 20][:5]
    for target in targets:
        explanation = explainer.explain(target)
        np.testing.assert_allclose(explanation.values, truth[target].tolist(), atol=1e-4)
        assert_makes_sense(explanation, explainer.graph.within_hops(np.array([target]), 2))
        assert target not in explanation.nodes


@needs(MUTAGENICITY)
def test_a_gin_on_mutagenicity_is_explained():
    molecules = load_molecules(400)
    torch.manual_seed(0)
    model = GIN(14, 2)
    batches = [*DataLoader(molecules, batch_size=100)]
    for step, _ in enumerate(steps(model, 120, lr=0.01)):
        batch = batches[step % len(batches)]
        scores = model(batch.x, batch.edge_index, batch.batch)
        nn.functional.cross_entropy(scores, batch.y).backward()
    model.eval()
    right = [int(model(each.x, each.edge_index).argmax()) == int(each.y) for each in molecules]
    assert np.mean(right) > 0.75

    for molecule in [each for each, ok in zip(molecules, right, strict=True) if ok][:3]:
        explanation = PGMExplainer(model, molecule, task="graph").explain()
        truth = model(molecule.x, molecule.edge_index).softmax(dim=-1)[0]
        np.testing.assert_allclose(explanation.values, truth.tolist(), atol=1e-4)
        assert explanation.predicted_class == int(molecule.y)
        assert_makes_sense(explanation, range(molecule.num_nodes))


def assert_makes_sense(explanation: Explanation, candidates) -> None:
    assert explanation.nodes
    assert set(explanation.nodes) <= {int(node) for node in candidates}
    assert np.isfinite(explanation.ranking.log_p).all()
    assert 0 < explanation.held < 1
    first = explanation.nodes[0]
    chances = [explanation.query({first: fact}) for fact in ("original", "perturbed")]
    assert np.isfinite(chances).all()
    assert chances[0] != chances[1]
