"""Messages between nodes, computed for many samples at once; see :mod:`.torch_shared`.

During a call, ``propagate`` of a layer is replaced by a product with a sparse matrix, which has
been prepared from the edges of one sample. If edges are removed in some samples, each sample has
its own part of the matrix, in which messages along removed edges have the weight 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import ModelError

__all__ = ["Attention", "LayerEdges", "Sums", "Turn"]

_TINY = 1e-16
"""What PyTorch Geometric adds to the sum of a softmax."""


@dataclass(frozen=True)
class LayerEdges:
    """The messages of a layer in one sample, sorted by receiver, then by sender.

    The nodes are renumbered, so that a layer gets the features of the first nodes, and returns
    those of fewer of them. Equal receivers keep the order of the old numbers of their senders. So
    the order in which messages are added does not depend on which nodes are needed.

    Attributes:
        sent, received: the sender and receiver of each message.
        weights: the weight of each message.
        unsorted: the position of each message before sorting.
        senders, receivers: how many nodes the layer gets and returns.
    """

    sent: Tensor
    received: Tensor
    weights: Tensor
    unsorted: Tensor
    senders: int
    receivers: int

    @classmethod
    def of(cls, edge_index: Tensor, weights: Tensor, place: Tensor) -> LayerEdges:
        """Return all messages along edges; ``place`` is the new number of each node."""
        senders, receivers = edge_index[0], place[edge_index[1]]
        order = torch.argsort(receivers * len(place) + senders)
        sent, received = place[senders[order]], receivers[order]
        return cls(sent, received, weights[order], order, len(place), len(place))

    def first(self, senders: int, receivers: int) -> LayerEdges:
        """Return the messages to the first nodes, which come from the first ``senders``."""
        stop = int(torch.searchsorted(self.received, receivers))
        sent, received = self.sent[:stop], self.received[:stop]
        weights, unsorted = self.weights[:stop], self.unsorted[:stop]
        return LayerEdges(sent, received, weights, unsorted, senders, receivers)

    @property
    def matrix(self) -> Tensor:
        """The weights as a sparse matrix ``[receivers, senders]``."""
        offsets = _offsets(self.received, self.receivers)
        return _matrix(offsets, self.sent, self.weights, (self.receivers, self.senders))


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


class _Copies:
    """A sparse matrix for all samples: node i of sample b has the number ``i * B + b``.

    What does not depend on the weights is computed once for each number of samples.
    """

    def __init__(self, edges: LayerEdges) -> None:
        self._edges = edges
        self._last: tuple[int, Tensor, Tensor, Tensor] | None = None

    def matrix(self, weights: Tensor) -> Tensor:
        """Return a matrix ``[receivers * B, senders * B]`` of weights ``[messages, B]``."""
        edges, samples = self._edges, weights.shape[1]
        if self._last is None or self._last[0] != samples:
            copies = torch.arange(samples)
            receivers = (edges.received[:, None] * samples + copies).flatten()
            senders = (edges.sent[:, None] * samples + copies).flatten()
            order = torch.argsort(receivers, stable=True)
            offsets = _offsets(receivers, edges.receivers * samples)
            self._last = (samples, offsets, senders[order], order)
        _, offsets, senders, order = self._last
        shape = (edges.receivers * samples, edges.senders * samples)
        return _matrix(offsets, senders, weights.flatten()[order], shape)


class Sums:
    """Weighted sums over the neighbours of each node.

    Args:
        edges: the messages of one sample.
        matrix: the weights of all samples, if they differ.
    """

    held = 0
    """The number of messages of a sample that exist at once, if all samples have the same edges."""

    def __init__(self, edges: LayerEdges, matrix: Tensor | None = None) -> None:
        self.edges = edges
        self._matrix = edges.matrix if matrix is None else matrix
        self._copies = _Copies(edges)

    def weighted(self, weights: Tensor) -> Sums:
        """Return the same sums with the given weights ``[messages, B]``, before sorting."""
        return Sums(self.edges, self._copies.matrix(weights[self.edges.unsorted]))

    def changes(self, layer: nn.Module, turn: Turn) -> dict[str, Any]:
        """Return the attributes that the layer has during a call."""

        def propagate(
            edge_index: Any, *, x: Any, edge_weight: Any = None, size: Any = None
        ) -> Tensor:
            sent = x[0] if isinstance(x, tuple) else x
            turn.check(edge_index, sent, self.edges.senders, size, edge_weight)
            sums = self._matrix @ sent.reshape(self._matrix.shape[1], -1)
            return sums.reshape(-1, sent.shape[1])

        changes: dict[str, Any] = {"propagate": propagate}
        if type(layer).__name__ == "GCNConv":
            changes["normalize"] = False  # the weights are normalised
        elif turn.turns is not None:
            changes["forward"] = _returning(layer, self.edges.receivers * turn.samples)
        return changes


class Attention:
    """Sums over the neighbours of each node, weighted by attention, a softmax over the neighbours.

    An attention score is an increasing function of the sum of a sender's and a receiver's part. So
    the largest score of a receiver is that of the sender with the largest part.

    Args:
        edges: the messages of one sample.
        heads: the number of attention heads.
        weights: which messages exist in which samples, ``[messages, B]``, 1 or 0; None for all.
    """

    def __init__(self, edges: LayerEdges, heads: int, weights: Tensor | None = None) -> None:
        self.edges, self.held = edges, len(edges.sent) * heads
        self._heads, self._weights = heads, weights
        self._neighbours = edges.matrix
        every = torch.arange(len(edges.sent))
        shape = (edges.receivers, len(every))
        offsets = _offsets(edges.received, edges.receivers)
        self._incoming = _matrix(offsets, every, edges.weights, shape)
        self._copies = _Copies(edges)

    def weighted(self, weights: Tensor) -> Attention:
        """Return the same for samples in which some messages have the weight 0."""
        found = Attention(self.edges, self._heads, weights[self.edges.unsorted])
        found._copies = self._copies
        return found

    def changes(self, layer: Any, turn: Turn) -> dict[str, Any]:
        """Return the attributes that the layer has during a call."""

        def propagate(edge_index: Any, *, x: Any, alpha: Any, size: Any = None) -> Tensor:
            turn.check(edge_index, x[0], self.edges.senders, size)
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
        sent = sent.reshape(self.edges.senders, -1)
        received = received.reshape(self.edges.senders, -1)[: self.edges.receivers]
        powers = sent[self.edges.sent]
        powers += received[self.edges.received]
        powers = nn.functional.leaky_relu(powers, slope)
        powers -= self._largest(powers, sent, received, slope)[self.edges.received]
        powers.exp_()
        totals = (self._incoming @ powers + _TINY).reshape(-1, x.shape[1], 1)
        powers = powers.reshape(len(powers), len(x) // self.edges.senders, x.shape[1])
        heads = [
            self._copies.matrix(powers[:, :, at]) @ x[:, at].contiguous()
            for at in range(x.shape[1])
        ]
        return torch.stack(heads, dim=1) / totals

    def _largest(self, powers: Tensor, sent: Tensor, received: Tensor, slope: float) -> Tensor:
        """Return the largest score of each receiver; scores without weight become -infinity."""
        if self._weights is None:
            largest = torch.sparse.mm(self._neighbours, sent, "amax") + received
            return nn.functional.leaky_relu(largest, slope)
        removed = (self._weights == 0).repeat_interleave(self._heads, dim=1)
        powers.masked_fill_(removed, -torch.inf)
        largest = torch.full_like(received, torch.finfo(received.dtype).min)
        at = self.edges.received[:, None].expand_as(powers)
        return largest.scatter_reduce_(0, at, powers, "amax")


def _returning(layer: Any, rows: int) -> Callable[..., Any]:
    """Return the layer's ``forward`` for features of which only the first rows are returned."""
    forward = type(layer).forward

    def of_first(x: Any, *inputs: Any, **options: Any) -> Any:
        return forward(layer, (x, x[:rows]), *inputs, **options)

    return of_first


def _offsets(receivers: Tensor, nodes: int) -> Tensor:
    counts = torch.bincount(receivers, minlength=nodes)
    return torch.cat((counts.new_zeros(1), counts.cumsum(0)))


def _matrix(offsets: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """Return a sparse matrix from entries that are sorted by row."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse ", UserWarning)  # beta; not validated
        return torch.sparse_csr_tensor(offsets, columns, values, size=shape)
