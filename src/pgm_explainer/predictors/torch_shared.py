"""Message passing along the same edges in all samples of a batch, for known layers.

Most explanations change features and keep the edges. A layer of PyTorch Geometric does not know
this: it gets one large graph of disconnected copies, normalises the edges of each copy and creates
a message for each of them. Here, the edges of one sample are prepared once. A layer then multiplies
one sparse matrix by the features of all samples side by side. If samples lack some of the edges,
the matrix has a part for each sample, and only its weights are computed anew.

The nodes of all samples are numbered node by node: sample b of node i has row ``i * B + b``. So the
features ``[n * B, F]`` can be seen as ``[n, B * F]`` without a copy.

If only some nodes are to be predicted, the last layer is computed for these nodes only, the layer
before it for these and their neighbours, and so on. The nodes are numbered by their distance, so
that every layer needs the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn

from ..errors import ModelError
from .torch_call import ModuleCall, Request
from .torch_layers import prepared, weighted
from .torch_messages import Attention, Sums, Turn
from .torch_rows import RowTensor

__all__ = ["SharedCall"]

_NUMBERS_PER_ROW = 16
_ROWS_OF_GRAPHS = 7000
"""Rows of nodes per call for predictions of graphs; with more, arrays leave the cache."""


class SharedCall:
    """Calls a module on many samples that have the same edges.

    Args:
        call: how the module is called.
        layers: all its message-passing layers, see :func:`~.torch_layers.shared_layers`.
        request: the inputs of one sample.
        needed: the nodes to predict; None for all.

    Raises:
        ModelError: the inputs do not permit this.
    """

    def __init__(
        self,
        call: ModuleCall,
        layers: Sequence[nn.Module],
        request: Request,
        needed: Tensor | None = None,
    ) -> None:
        if request.per_edge or request.edge_index.device.type != "cpu" or not layers:
            raise ModelError("the samples cannot share edges")
        self._call = call
        self._order = None
        counts = [request.nodes] * (len(layers) + 1)
        if needed is not None:
            self._order, counts = _by_distance(request, needed, len(layers))
        self._request = request if self._order is None else _on_nodes(request, self._order)
        self._by_node = request.rows == request.nodes and request.pairs is None
        self._rows = counts[-1] if self._by_node else request.rows
        place = torch.arange(request.nodes)
        if self._order is not None:
            place.fill_(request.nodes)
            place[self._order] = torch.arange(len(self._order))
        self._layers, self._edge_index = layers, request.edge_index
        self._messages = prepared(layers, request.edge_index, place, counts, request.precision)
        self._precision, self._places = request.precision, len(place)
        self._last: dict[int, Request] = {}

    @property
    def nodes(self) -> int:
        """The number of nodes whose features are used."""
        return self._request.nodes

    def held(self, same_edges: bool) -> int:
        """Return how many messages of a sample a layer holds at once.

        A message is only a few numbers, not a row of features.
        """
        held = (each.held if same_edges else len(each.edges.sent) for each in self._messages)
        return max(held) // _NUMBERS_PER_ROW

    def __call__(self, x: Tensor, kept: Tensor | None = None) -> Tensor:
        """Return the scores ``[B, rows, C]`` for features ``x [B, n, F]``.

        Args:
            kept: whether each sample has each edge, ``[B, E]``; None if all samples have all.
        """
        at_once = len(x) if self._by_node else max(1, _ROWS_OF_GRAPHS // max(1, self.nodes))
        if at_once >= len(x):
            return self._of_all(x, kept)
        parts = [slice(start, start + at_once) for start in range(0, len(x), at_once)]
        edges = [None if kept is None else kept[part] for part in parts]
        scores = [self._of_all(x[part], each) for part, each in zip(parts, edges, strict=True)]
        return torch.cat(scores)

    def _of_all(self, x: Tensor, kept: Tensor | None) -> Tensor:
        by_node = x.transpose(0, 1)
        by_node = by_node if self._order is None else by_node[self._order]
        return self._scores(by_node.flatten(0, 1), len(x), kept)

    def on_rows(self, table: Tensor, index: Tensor) -> tuple[Tensor, bool]:
        """Return the same for rows ``index [B, n]`` of a table.

        Also returns whether the module needed the whole matrix of features.
        """
        by_node = index.T if self._order is None else index.T[self._order]
        features = RowTensor(table, by_node.flatten())
        return self._scores(features, len(index)), features.was_created

    def _scores(self, features: Tensor, samples: int, kept: Tensor | None = None) -> Tensor:
        if samples not in self._last:
            if len(self._last) > 1:  # the size of most batches, and that of the last one
                self._last.clear()
            self._last[samples] = self._request.interleaved(samples)
        batch = self._last[samples]
        messages = self._messages
        if kept is not None:
            weights = kept.T.to(self._precision)
            messages = weighted(self._layers, messages, self._edge_index, self._places, weights)
        with self._passing(messages, batch.edge_index, samples):
            scores = self._call(features, batch)
        if scores.dim() not in (1, 2) or len(scores) != samples * self._rows:
            raise ModelError(f"scores of shape {list(scores.shape)} do not fit {samples} samples")
        if self._by_node:
            return scores.reshape(self._rows, samples, -1).transpose(0, 1)
        return scores.reshape(samples, self._rows, -1)

    @contextmanager
    def _passing(
        self, messages: Sequence[Sums | Attention], edge_index: Tensor, samples: int
    ) -> Iterator[None]:
        """Within this context, the layers pass messages in the prepared way.

        If nodes are left out, every layer must be called once, in order.
        """
        turns = None if self._order is None else iter(range(len(self._layers)))
        changes = [
            (layer, each.changes(layer, Turn(edge_index, samples, at, turns)))
            for at, (layer, each) in enumerate(zip(self._layers, messages, strict=True))
        ]
        before = [
            {name: vars(layer)[name] for name in changed if name in vars(layer)}
            for layer, changed in changes
        ]

        def restore() -> None:
            for (layer, changed), kept in zip(changes, before, strict=True):
                for name in changed:
                    vars(layer).pop(name, None)
                vars(layer).update(kept)

        try:
            try:
                for layer, changed in changes:
                    vars(layer).update(changed)
                yield
            finally:
                restore()
        finally:
            restore()  # does nothing unless the first one was interrupted


def _by_distance(request: Request, needed: Tensor, steps: int) -> tuple[Tensor, list[int]]:
    """Return the nodes that predictions depend on, by distance, and how many each layer needs."""
    senders, receivers = request.edge_index
    reached = torch.zeros(request.nodes, dtype=torch.bool)
    reached[needed] = True
    order = [needed]
    for _ in range(steps):
        new = senders[reached[receivers]]
        new = torch.unique(new[~reached[new]])
        reached[new] = True
        order.append(new)
    counts = torch.tensor([len(each) for each in order]).cumsum(0)
    return torch.cat(order), counts.flip(0).tolist()


def _on_nodes(request: Request, order: Tensor) -> Request:
    """Return the inputs of some nodes, in another order."""
    place = torch.full((request.nodes,), -1)
    place[order] = torch.arange(len(order))
    ends = place[request.edge_index]
    return replace(
        request,
        edge_index=ends[:, (ends >= 0).all(dim=0)],
        nodes=len(order),
        per_node={name: value[order] for name, value in request.per_node.items()},
        _last={},
    )
