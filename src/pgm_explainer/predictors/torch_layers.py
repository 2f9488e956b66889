"""Layers of PyTorch Geometric whose messages are computed for many samples at once.

See :mod:`.torch_shared`. During a call, ``propagate`` of such a layer is replaced by a product with
a sparse matrix, which has been prepared from the edges of one sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
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
        type(layer).__name__ in _WEIGHTED
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
    """The messages of a layer in one sample, sorted by receiver, then by sender.

    The nodes are renumbered, so that a layer gets the features of the first nodes, and returns
    those of fewer of them. Equal receivers keep the order of the old numbers of their senders. So
    the order in which messages are added does not depend on which nodes are needed.

    Attributes:
        sent, received: the sender and receiver of each message.
        weights: the weight of each message.
        senders, receivers: how many nodes the layer gets and returns.
    """

    sent: Tensor
    received: Tensor
    weights: Tensor
    senders: int
    receivers: int

    @classmethod
    def of(cls, edge_index: Tensor, weights: Tensor, place: Tensor) -> LayerEdges:
        """Return all messages along edges; ``place`` is the new number of each node."""
        senders, receivers = edge_index[0], place[edge_index[1]]
        order = torch.argsort(receivers * len(place) + senders)
        sent, received = place[senders[order]], receivers[order]
        return cls(sent, received, weights[order], len(place), len(place))

    def first(self, senders: int, receivers: int) -> LayerEdges:
        """Return the messages to the first nodes, which come from the first ``senders``."""
        stop = int(torch.searchsorted(self.received, receivers))
        sent, received, weights = self.sent[:stop], self.received[:stop], self.weights[:stop]
        return LayerEdges(sent, received, weights, senders, receivers)

    @property
    def matrix(self) -> Tensor:
        """The weights as a sparse matrix ``[receivers, senders]``."""
        return _csr(self.received, self.sent, self.weights, (self.receivers, self.senders))


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

    def __init__(self, edges: LayerEdges) -> None:
        self._senders, self._receivers, self._matrix = edges.senders, edges.receivers, edges.matrix

    def changes(self, layer: nn.Module, turn: Turn) -> dict[str, Any]:
        """Return the attributes that the layer has during a call."""

        def propagate(
            edge_index: Any, *, x: Any, edge_weight: Any = None, size: Any = None
        ) -> Tensor:
            sent = x[0] if isinstance(x, tuple) else x
            turn.check(edge_index, sent, self._senders, size, edge_weight)
            sums = self._matrix @ sent.reshape(self._senders, -1)
            return sums.reshape(-1, sent.shape[1])

        changes: dict[str, Any] = {"propagate": propagate}
        if type(layer).__name__ == "GCNConv":
            changes["normalize"] = False  # the weights are normalised
        elif turn.turns is not None:
            changes["forward"] = _returning(layer, self._receivers * turn.samples)
        return changes


class _Attention:
    """Sums over the neighbours of each node, weighted by attention, a softmax over the neighbours.

    An attention score is an increasing function of the sum of a sender's and a receiver's part. So
    the largest score of a receiver is that of the sender with the largest part.
    """

    def __init__(self, edges: LayerEdges, heads: int) -> None:
        self._edges, self._senders, self._receivers = edges, edges.sent, edges.received
        self._neighbours, ones = edges.matrix, edges.weights
        self.messages = len(ones) * heads
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


def prepared(
    layers: Sequence[nn.Module],
    edge_index: Tensor,
    place: Tensor,
    counts: Sequence[int],
    precision: torch.dtype,
) -> list[_Sums | _Attention]:
    """Return the messages of each of the :func:`shared_layers`.

    Args:
        layers: the layers, in the order of their calls.
        edge_index: the edges ``[2, E]`` of one sample.
        place: the new number of each node.
        counts: how many of the first nodes each layer gets, and how many the last one returns.
        precision: the type of the features.

    Raises:
        ModelError: a layer has options that are not known here.
    """
    every: dict[Hashable, LayerEdges] = {}
    found: dict[Hashable, _Sums | _Attention] = {}
    messages = []
    for layer, senders, receivers in zip(layers, counts, counts[1:], strict=False):
        kind = _kind(layer)
        if kind not in every:
            weighted = _WEIGHTED[type(layer).__name__](layer, edge_index, len(place), precision)
            every[kind] = LayerEdges.of(*weighted, place)
        needed = (kind, senders, receivers)  # the same for many layers, if all nodes are needed
        if needed not in found:
            found[needed] = _messages(layer, every[kind].first(senders, receivers))
        messages.append(found[needed])
    return messages


def _kind(layer: Any) -> Hashable:
    """Return all that the messages of a layer depend on, apart from its inputs and parameters."""
    options = ("normalize", "improved", "add_self_loops", "heads")
    aggregation = type(layer.aggr_module).__name__
    return type(layer).__name__, aggregation, *(getattr(layer, name, None) for name in options)


def _messages(layer: Any, edges: LayerEdges) -> _Sums | _Attention:
    return _Attention(edges, layer.heads) if hasattr(layer, "heads") else _Sums(edges)


def _plain(
    layer: Any, edge_index: Tensor, nodes: int, precision: torch.dtype
) -> tuple[Tensor, Tensor]:
    receivers = edge_index[1]
    weights = torch.ones(len(receivers), dtype=precision)
    if type(layer.aggr_module).__name__ == "MeanAggregation":
        weights /= torch.bincount(receivers, minlength=nodes)[receivers]
    return edge_index, weights


def _gcn(
    layer: Any, edge_index: Tensor, nodes: int, precision: torch.dtype
) -> tuple[Tensor, Tensor]:
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    if not layer.normalize:
        return _plain(layer, edge_index, nodes, precision)
    if type(layer.aggr_module).__name__ != "SumAggregation":
        raise ModelError("only the sum of normalised messages is supported here")
    how = (layer.improved, layer.add_self_loops, layer.flow, precision)
    normalised: tuple[Tensor, Tensor] = gcn_norm(edge_index, None, nodes, *how)
    return normalised


def _gat(
    layer: Any, edge_index: Tensor, nodes: int, precision: torch.dtype
) -> tuple[Tensor, Tensor]:
    from torch_geometric.utils import add_self_loops, remove_self_loops

    if type(layer.aggr_module).__name__ != "SumAggregation":
        raise ModelError("only the sum of messages weighted by attention is supported here")
    if layer.add_self_loops:
        edge_index, _ = remove_self_loops(edge_index)
        edge_index, _ = add_self_loops(edge_index, num_nodes=nodes)
    return edge_index, torch.ones(edge_index.shape[1], dtype=precision)


_WEIGHTED: dict[str, Callable[..., tuple[Tensor, Tensor]]] = {
    "GATConv": _gat,
    "GCNConv": _gcn,
    "GINConv": _plain,
    "GraphConv": _plain,
    "SAGEConv": _plain,
}
"""Functions that return the edges and weights along which a layer sends messages."""


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
