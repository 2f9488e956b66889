"""Adapter for graphs with several node types (``HeteroData``), as one homogeneous graph.

Features of node types with fewer features are padded with zeros. The padding is not passed to the
model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..arrays import FloatArray, IntArray, check_edge_index, check_features
from ..errors import InputError, ModelError
from ..graph import Subgraph
from .base import Predictor
from .torch_state import check_ready, evaluated
from .torch_tools import (
    UNSUPPORTED,
    SubgraphCache,
    as_features,
    count_hops,
    distinct_samples,
    flow_of,
    same_scores,
)

__all__ = ["HeteroPredictor", "Layout", "flatten"]

EdgeType = tuple[str, str, str]


@dataclass(frozen=True)
class Layout:
    """The order of node and edge types in the homogeneous graph.

    Attributes:
        sizes, widths: the number of nodes and of features of each node type.
        edge_types: the number of edges of each edge type, in the order of the edges.
    """

    sizes: dict[str, int]
    widths: dict[str, int]
    edge_types: dict[EdgeType, int]

    @property
    def kinds(self) -> IntArray:
        """The index of each node's type."""
        return np.repeat(np.arange(len(self.sizes)), list(self.sizes.values()))

    def start(self, kind: str) -> int:
        """Return the index of the first node of a type."""
        names = list(self.sizes)
        return sum(self.sizes[name] for name in names[: names.index(kind)])


def flatten(data: Any) -> tuple[Layout, FloatArray, IntArray]:
    """Return a ``HeteroData`` object as a layout, padded features and edges of one graph."""
    if not data.node_types or any("x" not in data[kind] for kind in data.node_types):
        missing = [kind for kind in data.node_types if "x" not in data[kind]]
        raise InputError(f"every node type needs features x, but {missing} have none")
    features = {kind: check_features(data[kind].x) for kind in data.node_types}
    sizes = {kind: len(x) for kind, x in features.items()}
    widths = {kind: x.shape[1] for kind, x in features.items()}
    widest = max(widths.values())
    padded = [np.pad(x, ((0, 0), (0, widest - x.shape[1]))) for x in features.values()]
    ends = {
        kind: check_edge_index(data[kind].get("edge_index"), sum(sizes.values()))
        for kind in data.edge_types
    }
    layout = Layout(sizes, widths, {kind: pairs.shape[1] for kind, pairs in ends.items()})
    edges = [np.zeros((2, 0), dtype=np.int64)]
    for (source, relation, target), pairs in ends.items():
        for end, row in ((source, pairs[0]), (target, pairs[1])):
            if row.size and row.max() >= sizes[end]:
                raise InputError(
                    f"an edge {relation!r} contains {end} {row.max()}, but there are only "
                    f"{sizes[end]} nodes of type {end!r}"
                )
        edges.append(pairs + np.array([[layout.start(source)], [layout.start(target)]]))
    return layout, np.concatenate(padded), np.concatenate(edges, axis=1)


class HeteroPredictor(Predictor):
    """A module ``model(x_dict, edge_index_dict)`` that predicts nodes of one type.

    It returns a tensor for that type, or a dictionary of tensors by type. Nodes of other types have
    no prediction, so their variables only say whether they were perturbed.
    """

    accepts_subgraph = True

    def __init__(self, module: nn.Module, layout: Layout, target_type: str) -> None:
        check_ready(module)
        self.module, self.layout, self.target_type = module, layout, target_type
        self.num_layers, self.flow = count_hops(module), flow_of(module)
        self._in_blocks: SubgraphCache[bool] = SubgraphCache()
        self._no_prediction: Tensor | None = None

    def has_prediction(self, nodes: IntArray) -> NDArray[np.bool_]:
        """Return which nodes are of the predicted type."""
        return self.layout.kinds[nodes] == list(self.layout.sizes).index(self.target_type)

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        features = as_features(x, self.module)
        return evaluated(self.module, lambda: self._scores(features, part))

    def _scores(self, features: Tensor, part: Subgraph) -> Tensor:
        view, samples = _View(self.layout, part), len(features)
        in_blocks = samples > 1 and self._batches(view, part, features[0])
        answer = self._blocks(view, features) if in_blocks else self._single(view, features)
        if self._no_prediction is None:
            self._no_prediction = answer[0, 0].clone()
        scores = self._no_prediction.expand(samples, len(part.nodes), -1).clone()
        scores[:, torch.from_numpy(view.members[self.target_type]).to(scores.device)] = answer
        return scores

    def _batches(self, view: _View, part: Subgraph, features: Tensor) -> bool:
        """Return whether samples can be batched on a subgraph; determined once."""
        exact = self._in_blocks.get(part)
        if exact is None:
            exact = self._blocks_are_exact(view, distinct_samples(features))
            self._in_blocks.remember(part, exact)
        return exact

    def _blocks_are_exact(self, view: _View, trials: Tensor) -> bool:
        one_by_one = self._single(view, trials)
        try:
            return same_scores(self._blocks(view, trials), one_by_one)
        except UNSUPPORTED:
            return False

    def _single(self, view: _View, x: Tensor) -> Tensor:
        return torch.cat([self._blocks(view, each[None]) for each in x])

    def _blocks(self, view: _View, x: Tensor) -> Tensor:
        answer = self.module(*view.inputs(x))
        if isinstance(answer, Mapping):
            answer = answer[self.target_type]
        rows = len(x) * len(view.members[self.target_type])
        if not isinstance(answer, Tensor) or len(answer) != rows:
            shape = list(answer.shape) if isinstance(answer, Tensor) else type(answer).__name__
            raise ModelError(
                f"the model returned {shape} instead of {rows} rows, one for each node of type "
                f"{self.target_type!r}"
            )
        return answer.reshape(len(x), rows // len(x), -1)


class _View:
    """A subgraph, split by node and edge types."""

    def __init__(self, layout: Layout, part: Subgraph) -> None:
        self._layout = layout
        kinds = layout.kinds[part.nodes]
        self.members: dict[str, NDArray[np.int64]] = {
            name: np.flatnonzero(kinds == number) for number, name in enumerate(layout.sizes)
        }
        rank = np.empty(len(part.nodes), dtype=np.int64)
        for members in self.members.values():
            rank[members] = np.arange(len(members))
        self._edges: dict[EdgeType, IntArray] = {}
        first = 0
        for edge_type, count in layout.edge_types.items():
            mine = (part.edges >= first) & (part.edges < first + count)
            self._edges[edge_type] = rank[part.edge_index[:, mine]]
            first += count

    def inputs(self, x: Tensor) -> tuple[dict[str, Tensor], dict[EdgeType, Tensor]]:
        """Return features and edges by type, of all samples as one graph of disconnected copies."""
        features = {
            kind: x[:, torch.from_numpy(members).to(x.device), : self._layout.widths[kind]].flatten(
                0, 1
            )
            for kind, members in self.members.items()
        }
        copies = torch.arange(len(x), device=x.device)[:, None]
        edges = {}
        for (source, relation, target), pairs in self._edges.items():
            from_, to = torch.from_numpy(pairs).to(x.device)
            blocks = (
                (from_ + copies * len(self.members[source])).flatten(),
                (to + copies * len(self.members[target])).flatten(),
            )
            edges[source, relation, target] = torch.stack(blocks)
        return features, edges
