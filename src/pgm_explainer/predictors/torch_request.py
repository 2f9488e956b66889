"""The inputs of a PyTorch module on a subgraph, as tensors, for one sample or many."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from ..arrays import IntArray
from ..errors import InputError, ModelError
from ..graph import SampledEdges, Subgraph
from ..limits import brief

__all__ = ["Request"]

_PER_EDGE = ("edge_weight", "edge_attr", "edge_type")


@dataclass(frozen=True)
class Request:
    """A subgraph and further inputs as tensors.

    Attributes:
        edge_index: edges ``[2, E]``, or a sparse matrix ``[receivers, senders]`` of edges.
        rows: the number of predictions per sample.
        per_node, per_edge, shared: further inputs with a row per node, with a row per edge, and
            others.
        precision: the type of the features.
    """

    edge_index: Tensor
    nodes: int
    rows: int
    pairs: Tensor | None
    per_node: Mapping[str, Tensor]
    per_edge: Mapping[str, Tensor]
    shared: Mapping[str, Tensor]
    precision: torch.dtype
    _last: dict[tuple[int, bool], Request] = field(default_factory=dict, compare=False)

    @classmethod
    def on(
        cls,
        part: Subgraph,
        task: str,
        pairs: IntArray | None,
        inputs: Mapping[str, Tensor],
        like: Tensor,
    ) -> Request:
        device = like.device
        sorted_inputs: dict[str, dict[str, Tensor]] = {"node": {}, "edge": {}, "": {}}
        index = {"node": torch.from_numpy(part.nodes), "edge": torch.from_numpy(part.edges)}
        for name, value in inputs.items():
            if not isinstance(value, Tensor):
                sorted_inputs[""][name] = value
                continue
            kind = _row_kind(name, value, part)
            cut = value[index[kind].to(value.device)] if kind else value
            sorted_inputs[kind][name] = cut.to(like) if cut.is_floating_point() else cut.to(device)
        nodes = len(part.nodes)
        graphs = 1
        if "batch" in sorted_inputs["node"]:  # a subgraph may contain only some of the graphs
            present, batch = torch.unique(sorted_inputs["node"]["batch"], return_inverse=True)
            sorted_inputs["node"]["batch"], graphs = batch, len(present)
        num_pairs = 0 if pairs is None else pairs.shape[1]
        return cls(
            torch.from_numpy(part.edge_index).to(device),
            nodes,
            {"node": nodes, "graph": graphs, "edge": num_pairs}[task],
            None if pairs is None else torch.from_numpy(pairs).to(device),
            sorted_inputs["node"],
            sorted_inputs["edge"],
            sorted_inputs[""],
            like.dtype,
        )

    @property
    def inputs(self) -> dict[str, Tensor]:
        return {**self.per_node, **self.per_edge, **self.shared}

    def repeated(self, samples: int) -> Request:
        """Return the request on one graph of this many disconnected copies."""
        device = self.edge_index.device
        offsets = torch.arange(samples, device=device) * self.nodes
        batch = self.per_node.get("batch", torch.zeros(self.nodes, dtype=torch.long, device=device))
        graphs = int(batch.max()) + 1
        copies = torch.arange(samples, device=device).repeat_interleave(self.nodes)
        per_node = {name: _copies(value, samples) for name, value in self.per_node.items()}
        return Request(
            _shifted(self.edge_index, offsets),
            self.nodes * samples,
            self.rows * samples,
            None if self.pairs is None else _shifted(self.pairs, offsets),
            {**per_node, "batch": batch.repeat(samples) + copies * graphs},
            {name: _copies(value, samples) for name, value in self.per_edge.items()},
            self.shared,
            self.precision,
        )

    def copies(self, samples: int, sparse: bool = False) -> Request:
        """Return the result of :meth:`repeated`, cached; optionally with a sparse edge matrix."""
        key = (samples, sparse)
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._sparse(samples) if sparse else self.repeated(samples)
        return self._last[key]

    def _sparse(self, samples: int) -> Request:
        # If the edges of one copy are sorted, those of all copies are, too.
        order = _by_receiver(self.edge_index, self.nodes)
        return replace(self, edge_index=self.edge_index[:, order]).repeated(samples).as_matrix()

    def as_matrix(self) -> Request:
        """Return the request with its edges, sorted by receiver, as a sparse matrix.

        Layers of PyTorch Geometric that support sparse matrices are then several times as fast.

        Raises:
            ModelError: there are further inputs for each edge, which the matrix cannot hold.
        """
        if self.per_edge:
            raise ModelError("a sparse matrix has no place for further inputs of edges")
        senders, receivers = self.edge_index
        counts = torch.bincount(receivers, minlength=self.nodes)
        offsets = torch.cat((counts.new_zeros(1), counts.cumsum(0)))
        ones = torch.ones(len(senders), dtype=self.precision, device=offsets.device)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse ", UserWarning)  # beta; not validated
            shape = (self.nodes, self.nodes)
            matrix = torch.sparse_csr_tensor(offsets, senders, ones, size=shape)
        return replace(self, edge_index=matrix)

    def with_edges(
        self,
        part: Subgraph,
        edges: SampledEdges,
        inputs: Mapping[str, Tensor],
        sparse: bool = False,
    ) -> Request:
        """Return the request on one graph of disconnected copies with different edges."""
        repeated = self.copies(len(edges))
        order = None
        if sparse and edges.edge_index is None:
            order = _by_receiver(self.edge_index, self.nodes).numpy()
        sample, ends, columns = edges.flat(part, order)
        device = self.edge_index.device
        column = torch.from_numpy(columns)
        edge_index = torch.from_numpy(ends + sample * self.nodes).to(device)
        if sparse and order is None:
            edge_index = edge_index[:, _by_receiver(edge_index, repeated.nodes)]
        found = replace(
            repeated,
            edge_index=edge_index,
            per_edge={
                name: inputs[name][column.to(inputs[name].device)].to(value)
                for name, value in self.per_edge.items()
            },
        )
        return found.as_matrix() if sparse else found


def _row_kind(name: str, value: Tensor, part: Subgraph) -> str:
    """Return whether an input has rows per ``node`` or ``edge``; if unclear, its name decides."""
    length = len(value) if value.dim() else -1
    if name in _PER_EDGE and value.dim() and length != part.whole_edges:
        raise InputError(
            f"the input {brief(name)} has {length} rows, but the graph has {part.whole_edges} edges"
        )
    if length == part.whole_edges and (name.startswith("edge") or length != part.whole_nodes):
        return "edge"
    return "node" if length == part.whole_nodes else ""


def _copies(value: Tensor, samples: int) -> Tensor:
    return value.repeat(samples, *([1] * (value.dim() - 1)))


def _shifted(pairs: Tensor, offsets: Tensor) -> Tensor:
    """Repeat pairs of nodes once for each offset."""
    return (pairs[:, None, :] + offsets[:, None]).flatten(1)


def _by_receiver(edge_index: Tensor, nodes: int) -> Tensor:
    """Return the order of edges by receiver, then sender."""
    senders, receivers = edge_index.cpu()
    return torch.argsort(receivers * nodes + senders)
