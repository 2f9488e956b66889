"""What all adapters of PyTorch models need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

__all__ = [
    "count_hops",
    "distinct_samples",
    "evaluated",
    "first_tensor",
    "same_answers",
    "some_parameter",
]

_TRIALS = 3
_SAME_WITHIN = 1e-4
_STEPS_WITHIN_LAYER = ("K", "num_layers")


@contextmanager
def evaluated(module: nn.Module) -> Iterator[None]:
    """Put a module into evaluation mode, without gradients, and every part of it back after."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, training in modes:
            part.training = training


def count_hops(module: nn.Module) -> int | None:
    """Return how far messages travel: the layers that pass them, and their steps where they say.

    Layers for different kinds of edges, kept in one dictionary, work side by side and count once.
    None if there is no layer of PyTorch Geometric's to count.
    """
    return _hops(module) or None


def _hops(module: nn.Module) -> int:
    if any(each.__name__ == "MessagePassing" for each in type(module).__mro__):
        steps = [getattr(module, name, 1) for name in _STEPS_WITHIN_LAYER]
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


def some_parameter(module: nn.Module) -> Tensor | None:
    """Return a parameter or buffer that tells the module's device and precision."""
    tensors = (*module.parameters(), *module.buffers())
    return next((tensor for tensor in tensors if tensor.is_floating_point()), None)
