"""What all adapters of PyTorch models need."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from ..arrays import FloatArray
from ..errors import ModelError
from ..graph import FLOWS, Subgraph

__all__ = [
    "NOT_THIS_WAY",
    "LastParts",
    "as_features",
    "count_hops",
    "distinct_samples",
    "first_tensor",
    "flow_of",
    "same_answers",
    "some_parameter",
]

Found = TypeVar("Found")

_TRIALS = 2
_SAME_WITHIN = 1e-4
_REMEMBERED = 16
_STEPS_WITHIN_LAYER = ("K", "num_layers")
_LAYER, _BOTH_WAYS = "MessagePassing", "DirGNNConv"


NOT_THIS_WAY = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    ModelError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a layer may raise on a shape that it was not made for."""


class LastParts(Generic[Found]):
    """What was found out about the last few parts of the graph, for as long as they exist.

    There are several, because threads that share a predictor each ask about a part of their own.
    """

    def __init__(self) -> None:
        self._found: tuple[tuple[weakref.ref[Subgraph], Found], ...] = ()

    def get(self, part: Subgraph) -> Found | None:
        """Return what was found out about a part; None if nothing is remembered."""
        return next((found for known, found in self._found if known() is part), None)

    def remember(self, part: Subgraph, found: Found) -> None:
        """Remember a part's; a part that is gone, or was looked at long ago, makes room."""
        alive = [each for each in self._found if each[0]() is not None]
        self._found = (*alive[1 - _REMEMBERED :], (weakref.ref(part), found))

    def __reduce__(self) -> tuple[type[LastParts[Found]], tuple[()]]:
        return LastParts, ()  # in another process, or in a copy, everything is found out again


def count_hops(module: nn.Module) -> int | None:
    """Return how far messages travel: the layers that pass them, and their steps where they say.

    Layers for different kinds of edges, kept in one dictionary, work side by side and count once.
    None if there is no layer of PyTorch Geometric's to count.
    """
    return _hops(module) or None


def flow_of(module: nn.Module) -> str:
    """Return which way the layers of a module pass messages, one of :data:`~.graph.FLOWS`."""
    parts = list(module.modules())
    flows = {str(getattr(part, "flow", FLOWS[0])) for part in parts if _is_a(part, _LAYER)}
    if len(flows) > 1 or any(_is_a(part, _BOTH_WAYS) for part in parts):
        return "both"
    return flows.pop() if flows else FLOWS[0]


def _is_a(module: nn.Module, name: str) -> bool:
    """Recognise a class of PyTorch Geometric without importing it, which need not be installed."""
    return any(each.__name__ == name for each in type(module).__mro__)


def _hops(module: nn.Module) -> int:
    if _is_a(module, _LAYER):
        steps = [getattr(module, name, 1) for name in _STEPS_WITHIN_LAYER]
        steps += [*getattr(module, "powers", ()), len(getattr(module, "lins", ())) - 1]
        return max((each for each in steps if isinstance(each, int)), default=1)
    below = [_hops(child) for child in module.children()]
    return max(below, default=0) if isinstance(module, nn.ModuleDict) else sum(below)


def distinct_samples(features: Tensor) -> Tensor:
    """Return samples that differ wherever they can, in their means too, so that mixing them shows.

    Every value lies between 0 and one of the same column, so that a feature that is an index into
    a table stays one.
    """
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(len(features), (_TRIALS - 1, len(features)), generator=generator)
    share = torch.rand((*rows.shape, features.shape[1]), generator=generator).to(features)
    empty = (features == 0).all(dim=0)
    return torch.cat((features[None], (features[rows.to(features.device)] + empty) * share))


def same_answers(one: Tensor, other: Tensor) -> bool:
    """Say whether two answers agree up to rounding; not if either holds a NaN."""
    if one.shape != other.shape:
        return False
    return bool((one - other).abs().max() <= _SAME_WITHIN * other.abs().max())


def first_tensor(answer: Any) -> Any:
    """Return the scores in what a model returns: itself, or the first tensor of a collection."""
    if isinstance(answer, Mapping):
        answer = tuple(answer.values())
    if isinstance(answer, (tuple, list)):
        return next((each for each in answer if isinstance(each, Tensor)), answer)
    return answer


def as_features(x: FloatArray, module: nn.Module) -> Tensor:
    """Return features as a tensor where, and of the precision that, the module computes."""
    where = some_parameter(module)
    features = torch.from_numpy(x)
    return features if where is None else features.to(where.device, where.dtype)


def some_parameter(module: nn.Module) -> Tensor | None:
    """Return a parameter or buffer that tells the module's device and precision."""
    tensors = (*module.parameters(), *module.buffers())
    return next((tensor for tensor in tensors if tensor.is_floating_point()), None)
