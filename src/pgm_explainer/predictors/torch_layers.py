"""Which layers of PyTorch Geometric send messages that can be prepared, and their weights.

See :mod:`.torch_shared` and :mod:`.torch_messages`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import ModelError
from .torch_messages import Attention, LayerEdges, Sums

__all__ = ["prepared", "shared_layers", "weighted"]

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


def prepared(
    layers: Sequence[nn.Module],
    edge_index: Tensor,
    place: Tensor,
    counts: Sequence[int],
    precision: torch.dtype,
) -> list[Sums | Attention]:
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
    found: dict[Hashable, Sums | Attention] = {}
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


def weighted(
    layers: Sequence[nn.Module],
    messages: Sequence[Sums | Attention],
    edge_index: Tensor,
    nodes: int,
    kept: Tensor,
) -> list[Sums | Attention]:
    """Return the messages of layers in samples that lack some edges.

    Args:
        layers, messages: the layers and their messages in a sample with all edges.
        edge_index: the edges ``[2, E]`` of that sample.
        nodes: the number of its nodes.
        kept: whether each sample has each edge, ``[E, B]``, 1 or 0.
    """
    weights: dict[Hashable, Tensor] = {}
    found: dict[int, Sums | Attention] = {}
    for layer, each in zip(layers, messages, strict=True):
        kind = _kind(layer)
        if kind not in weights:
            weights[kind] = _weights(layer, edge_index, nodes, kept)
        if id(each) not in found:
            found[id(each)] = each.weighted(weights[kind])
    return [found[id(each)] for each in messages]


def _weights(layer: Any, edge_index: Tensor, nodes: int, kept: Tensor) -> Tensor:
    """Return the weight of each message of a layer in each sample, ``[messages, B]``."""
    normalises = type(layer).__name__ == "GCNConv" and layer.normalize
    has_loops = (normalises or hasattr(layer, "heads")) and layer.add_self_loops
    if has_loops:  # the layer replaces the self-loops of the graph by one for each node
        others = edge_index[0] != edge_index[1]
        edge_index, kept = edge_index[:, others], kept[others]
    loops = kept.new_full((nodes, kept.shape[1]), float(has_loops))
    senders, receivers = edge_index
    degrees = loops.index_add(0, receivers, kept)
    if type(layer.aggr_module).__name__ == "MeanAggregation":
        return kept / degrees.clamp(min=1)[receivers]
    if normalises:
        scales = degrees.pow(-0.5)
        scales.masked_fill_(scales.isinf(), 0)
        kept, loops = scales[senders] * kept * scales[receivers], scales * loops * scales
    return torch.cat((kept, loops)) if has_loops else kept


def _kind(layer: Any) -> Hashable:
    """Return all that the messages of a layer depend on, apart from its inputs and parameters."""
    options = ("normalize", "improved", "add_self_loops", "heads")
    aggregation = type(layer.aggr_module).__name__
    return type(layer).__name__, aggregation, *(getattr(layer, name, None) for name in options)


def _messages(layer: Any, edges: LayerEdges) -> Sums | Attention:
    return Attention(edges, layer.heads) if hasattr(layer, "heads") else Sums(edges)


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
