"""Layers of PyTorch Geometric whose messages are computed for many samples at once.

See :mod:`.torch_shared`. During a call, ``propagate`` of such a layer is replaced by a product with
a sparse matrix, which has been prepared from the edges of one sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import ModelError

__all__ = ["LayerEdges", "Turn", "prepared", "shared_layers"]

_AGGREGATIONS = ("SumAggregation", "MeanAggregation")
_HOOKS = (
    "_propagate_forward_pre_hooks",
    "_propagate_forward_hooks",
    "_message_forward_pre_hooks",
    "_message_forward_hooks",
    "_aggregate_forward_pre_hooks",
    "_aggregate_forward_hooks",
    "_message_and_aggregate_forward_pre_hooks",
    "_message_and_aggregate_forward_hooks",
    "_edge_update_forward_pre_hooks",
    "_edge_update_forward_hooks",
)
_TINY = 1e-16
"""What PyTorch Geometric adds to the sum of a softmax."""


def shared_layers(module: nn.Module) -> list[nn.Module]:
    """Return all message-passing layers of a module; empty if any of them is not known here."""
    layers = [part for part in module.modules() if hasattr(part, "propagate")]
    return layers if all(map(_is_known, layers)) else []


def _is_known(layer: nn.Module) -> bool:
    return bool(
        type(layer).__name__ in _PREPARED
        and type(layer).__module__.startswith("torch_geometric.nn.")
        and type(getattr(layer, "aggr_module", None)).__name__ in _AGGREGATIONS
        and not any(getattr(layer, name, None) for name in _HOOKS)
        and getattr(layer, "flow", None) == "source_to_target"
        and getattr(layer, "edge_dim", None) is None
        and getattr(layer, "decomposed_layers", 1) == 1
        and not getattr(layer, "explain", False)
    )


@dataclass(frozen=True)
class LayerEdges:
    """The edges of one sample, and which nodes a layer receives and returns.

    Attributes:
        edge_index: all edges ``[2, E]``.
        place: the new number of each node.
        senders, receivers: the layer gets the features of the nodes with a new number below
            ``senders``, and returns those of the nodes below ``receivers``.
    """

    edge_index: Tensor
    place: Tensor
    senders: int
    receivers: int

    @property
    def nodes(self) -> int:
        return len(self.place)

    def placed(self, edge_index: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the edges that are needed, with new numbers, and their values.

        They are sorted by receiver, then by the old number of the sender. So the order in which
        messages are added does not depend on which nodes are needed.
        """
        senders, receivers = edge_index[0], self.place[edge_index[1]]
        needed = torch.nonzero(receivers < self.receivers).flatten()
        needed = needed[torch.argsort(receivers[needed] * self.nodes + senders[needed])]
        return self.place[senders[needed]], receivers[needed], values[needed]


@dataclass(frozen=True)
class Turn:
    """One call of the module, and the order in which layers must be called.

    Attributes:
        edge_index: the edges.
        samples: the number of samples.
        at: the index of a layer.
        turns: the indices of the layers in order; None if they may be called in any order.
    """

    edge_index: Tensor
    samples: int
    at: int
    turns: Iterator[int] | None

    def check(self, edge_index: Any, x: Tensor, nodes: int, *further: Any) -> None:
        """Raise a ModelError unless a layer is called as was prepared."""
        if edge_index is not self.edge_index:
            raise ModelError("a layer is called with other edges than the module")
        if len(x) != nodes * self.samples or any(each is not None for each in further):
            raise ModelError("a layer is called with other inputs than were prepared")
        if self.turns is not None and next(self.turns, None) != self.at:
            raise ModelError("the layers are not called one after the other")


class _Sums:
    """Weighted sums over the neighbours of each node, with the same weights in all samples."""

    messages = 0

    def __init__(
        self, edges: LayerEdges, edge_index: Tensor, weights: Tensor, **fixed: Any
    ) -> None:
        senders, receivers, weights = edges.placed(edge_index, weights)
        self._edges, self._fixed = edges, fixed
        self._matrix = _csr(receivers, senders, weights, (edges.receivers, edges.senders))

    def changes(self, layer: nn.Module, turn: Turn) -> dict[str, Any]:
        """Return the attributes that the layer has during a call."""

        def propagate(
            edge_index: Any, *, x: Any, edge_weight: Any = None, size: Any = None
        ) -> Tensor:
            sent = x[0] if isinstance(x, tuple) else x
            turn.check(edge_index, sent, self._edges.senders, size, edge_weight)
            sums = self._matrix @ sent.reshape(self._edges.senders, -1)
            return sums.reshape(-1, sent.shape[1])

        changes = {**self._fixed, "propagate": propagate}
        if turn.turns is not None and type(layer).__name__ != "GCNConv":
            changes["forward"] = _returning(layer, self._edges.receivers * turn.samples)
        return changes


class _Attention:
    """Sums over the neighbours of each node, weighted by attention, a softmax over the neighbours.

    An attention score is an increasing function of the sum of a sender's and a receiver's part. So
    the largest score of a receiver is that of the sender with the largest part.
    """

    def __init__(
        self, edges: LayerEdges, edge_index: Tensor, heads: int, precision: torch.dtype
    ) -> None:
        ones = torch.ones(edge_index.shape[1], dtype=precision)
        self._senders, self._receivers, ones = edges.placed(edge_index, ones)
        self._edges, self.messages = edges, len(ones) * heads
        shape = (edges.receivers, edges.senders)
        self._neighbours = _csr(self._receivers, self._senders, ones, shape)
        every = torch.arange(len(ones))
        self._incoming = _csr(self._receivers, every, ones, (edges.receivers, len(ones)))
        self._copies: dict[int, tuple[Tensor, Tensor, Tensor]] = {}

    def changes(self, layer: Any, turn: Turn) -> dict[str, Any]:
        """Return the attributes that the layer has during a call."""

        def propagate(edge_index: Any, *, x: Any, alpha: Any, size: Any = None) -> Tensor:
            turn.check(edge_index, x[0], self._edges.senders, size)
            sent, received = alpha
            return self._sums(x[0], sent, received, layer.negative_slope)

        def edge_updater(_: Any, *, alpha: Any, **__: Any) -> Any:
            return alpha  # the softmax is computed with the sums

        return {"propagate": propagate, "edge_updater": edge_updater, "add_self_loops": False}

    def _sums(self, x: Tensor, sent: Tensor, received: Tensor, slope: float) -> Tensor:
        """Return the sums ``[receivers * B, heads, C]``.

        Args:
            x: features ``[senders * B, heads, C]``.
            sent, received: the two parts of the attention, ``[senders * B, heads]``.
            slope: that of the leaky rectifier.
        """
        samples = len(x) // self._edges.senders
        sent = sent.reshape(self._edges.senders, -1)
        received = received.reshape(self._edges.senders, -1)[: self._edges.receivers]
        largest = torch.sparse.mm(self._neighbours, sent, "amax") + received
        largest = nn.functional.leaky_relu(largest, slope)
        powers = sent[self._senders]
        powers += received[self._receivers]
        powers = nn.functional.leaky_relu(powers, slope)
        powers -= largest[self._receivers]
        powers.exp_()
        totals = (self._incoming @ powers + _TINY).reshape(-1, x.shape[1], 1)
        offsets, columns, order = self._repeated(samples)
        powers = powers.reshape(-1, x.shape[1])
        shape = (self._edges.receivers * samples, len(x))
        heads = [
            _matrix(offsets, columns, powers[order, at], shape) @ x[:, at].contiguous()
            for at in range(x.shape[1])
        ]
        return torch.stack(heads, dim=1) / totals

    def _repeated(self, samples: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return the edges of all samples by receiver: offsets, senders and their order."""
        if samples not in self._copies:
            self._copies.clear()
            copies = torch.arange(samples)
            receivers = (self._receivers[:, None] * samples + copies).flatten()
            senders = (self._senders[:, None] * samples + copies).flatten()
            order = torch.argsort(receivers, stable=True)
            offsets = _offsets(receivers, self._edges.receivers * samples)
            self._copies[samples] = (offsets, senders[order], order)
        return self._copies[samples]


def _returning(layer: Any, rows: int) -> Callable[..., Any]:
    """Return the layer's ``forward`` for features of which only the first rows are returned."""
    forward = type(layer).forward

    def of_first(x: Any, *inputs: Any, **options: Any) -> Any:
        return forward(layer, (x, x[:rows]), *inputs, **options)

    return of_first


def _plain(layer: Any, edges: LayerEdges, precision: torch.dtype) -> _Sums:
    receivers = edges.edge_index[1]
    weights = torch.ones(len(receivers), dtype=precision)
    if type(layer.aggr_module).__name__ == "MeanAggregation":
        weights /= torch.bincount(receivers, minlength=edges.nodes)[receivers]
    return _Sums(edges, edges.edge_index, weights)


def _gcn(layer: Any, edges: LayerEdges, precision: torch.dtype) -> _Sums:
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    if not layer.normalize:
        return _plain(layer, edges, precision)
    if type(layer.aggr_module).__name__ != "SumAggregation":
        raise ModelError("only the sum of normalised messages is supported here")
    how = (layer.improved, layer.add_self_loops, layer.flow, precision)
    edge_index, weights = gcn_norm(edges.edge_index, None, edges.nodes, *how)
    return _Sums(edges, edge_index, weights, normalize=False)


def _gat(layer: Any, edges: LayerEdges, precision: torch.dtype) -> _Attention:
    from torch_geometric.utils import add_self_loops, remove_self_loops

    if type(layer.aggr_module).__name__ != "SumAggregation":
        raise ModelError("only the sum of messages weighted by attention is supported here")
    edge_index = edges.edge_index
    if layer.add_self_loops:
        edge_index, _ = remove_self_loops(edge_index)
        edge_index, _ = add_self_loops(edge_index, num_nodes=edges.nodes)
    return _Attention(edges, edge_index, layer.heads, precision)


def prepared(layer: nn.Module, edges: LayerEdges, precision: torch.dtype) -> _Sums | _Attention:
    """Return the messages of one of the :func:`shared_layers`.

    Raises:
        ModelError: the layer has options that are not known here.
    """
    return _PREPARED[type(layer).__name__](layer, edges, precision)


_PREPARED: dict[str, Callable[..., _Sums | _Attention]] = {
    "GATConv": _gat,
    "GCNConv": _gcn,
    "GINConv": _plain,
    "GraphConv": _plain,
    "SAGEConv": _plain,
}


def _offsets(receivers: Tensor, nodes: int) -> Tensor:
    counts = torch.bincount(receivers, minlength=nodes)
    return torch.cat((counts.new_zeros(1), counts.cumsum(0)))


def _csr(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """Return a sparse matrix from entries that are sorted by row."""
    return _matrix(_offsets(rows, shape[0]), columns, values, shape)


def _matrix(offsets: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse ", UserWarning)  # beta; not validated
        return torch.sparse_csr_tensor(offsets, columns, values, size=shape)
