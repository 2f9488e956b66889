"""Many molecules in one call, compared with a loop and with PyTorch Geometric's PGMExplainer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import Explainer

from pgm_explainer import PGMExplainer, explain_graphs

from ..faithfulness.networks import MoleculeGIN
from ..mutagenicity import ATOMS
from .measure import Row, seconds, timed

_GRAPHS, _IN_LOOP, _OF_PEER = 1000, 50, 2
_SAMPLES = 1000


def rows() -> Iterator[Row]:
    torch.manual_seed(0)
    model = MoleculeGIN(len(ATOMS), 2).eval()
    graphs = random_molecules(_GRAPHS)
    options: dict[str, Any] = {"num_samples": _SAMPLES, "progress": False}
    clock = _Clock(model)
    explain_graphs(clock, graphs[:2], **options)  # warm-up
    clock.inside = 0.0
    ours = seconds(partial(explain_graphs, clock, graphs, **options)) / _GRAPHS
    inside = clock.inside / _GRAPHS
    loop = seconds(partial(_in_a_loop, model, graphs[:_IN_LOOP], options)) / _IN_LOOP
    peer = seconds(partial(_peer, model, graphs[:_OF_PEER])) / _OF_PEER
    yield Row(
        f"{_GRAPHS} molecules, GIN, {_SAMPLES} samples, networks included, per graph",
        f"{ours * 1e3:.1f} ms, of which {inside * 1e3:.1f} ms in the model",
    )
    for what, theirs in (
        (f"a loop of explainers ({_IN_LOOP} graphs)", loop),
        (f"PyG contrib PGMExplainer ({_OF_PEER} graphs)", peer),
    ):
        measured = f"{theirs / ours:.1f}× ({theirs * 1e3:.0f} ms / {ours * 1e3:.1f} ms)"
        yield Row(f"{what} / one call, per graph", measured)


class _Clock(MoleculeGIN):
    """A model that measures the time spent in it."""

    def __init__(self, model: MoleculeGIN) -> None:
        super().__init__(len(ATOMS), 2)
        self.load_state_dict(model.state_dict())
        self.inside = 0.0
        self.eval()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        took, scores = timed(partial(super().forward, x, edge_index, batch))
        self.inside += took
        return scores


def random_molecules(count: int) -> list[Data]:
    """Return random trees of 20 to 30 atoms with some rings."""
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(count):
        size = int(rng.integers(20, 31))
        bonds = [(at, int(rng.integers(max(0, at - 3), at))) for at in range(1, size)]
        bonds += [(at, at - 5) for at in range(5, size, 6)]
        ends = torch.tensor(bonds).t()
        x = torch.eye(len(ATOMS))[torch.from_numpy(rng.integers(len(ATOMS), size=size))]
        graphs.append(Data(x=x, edge_index=torch.cat((ends, ends.flip(0)), dim=1)))
    return graphs


def _in_a_loop(model: MoleculeGIN, graphs: Sequence[Data], options: dict[str, Any]) -> None:
    for graph in graphs:
        PGMExplainer(model, graph.x, graph.edge_index, task="graph", **options).explain()


def _peer(model: MoleculeGIN, graphs: Sequence[Data]) -> None:
    from torch_geometric.contrib.explain import PGMExplainer as Peer

    explainer = Explainer(
        model,
        algorithm=Peer(num_samples=_SAMPLES),
        explanation_type="phenomenon",
        node_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "graph",
            "return_type": "raw",
        },
    )
    for graph in graphs:
        target = model(graph.x, graph.edge_index).argmax(dim=1)
        explainer(graph.x, graph.edge_index, target=target)
