"""What all adapters of PyTorch models need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from ..arrays import FloatArray
from ..errors import ModelError

__all__ = [
    "NOT_THIS_WAY",
    "as_features",
    "count_hops",
    "distinct_samples",
    "evaluated",
    "first_tensor",
    "same_answers",
    "some_parameter",
]

_TRIALS = 2
_SAME_WITHIN = 1e-4
_STEPS_WITHIN_LAYER = ("K", "num_layers")


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


@contextmanager
def evaluated(module: nn.Module) -> Iterator[None]:
    """Ask a module in evaluation mode, without gradients or caches; put all of it back after."""
    parts = list(module.modules())
    before = [(part, {name: vars(part)[name] for name in _changing(part)}) for part in parts]
    module.eval()
    for part, kept in before:
        # A layer that remembers its first graph, or even its features, answers for no other.
        vars(part).update({name: None for name in kept if name.startswith("_cached")})
        vars(part).update({name: False for name in kept if name == "cached"})
    try:
        with torch.no_grad():
            yield
    finally:
        for part, kept in before:
            vars(part).update(kept)


def _changing(part: nn.Module) -> list[str]:
    """The attributes of a layer that are changed while it is asked."""
    return [
        name for name in vars(part) if name in ("training", "cached") or name.startswith("_cached")
    ]


def count_hops(module: nn.Module) -> int | None:
    """Return how far messages travel: the layers that pass them, and their steps where they say.

    Layers for different kinds of edges, kept in one dictionary, work side by side and count once.
    None if there is no layer of PyTorch Geometric's to count.
    """
    return _hops(module) or None


def _hops(module: nn.Module) -> int:
    if any(each.__name__ == "MessagePassing" for each in type(module).__mro__):
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
