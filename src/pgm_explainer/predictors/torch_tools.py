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
    """Return samples that differ from each other everywhere, so that any mixing of them shows."""
    generator = torch.Generator().manual_seed(0)
    samples = [features]
    for _ in range(_TRIALS - 1):
        order = torch.randperm(len(features), generator=generator).to(features.device)
        scale = 0.5 + torch.rand(features.shape, generator=generator).to(features)
        samples.append(features[order] * scale)
    return torch.stack(samples)


def same_answers(one: Tensor, other: Tensor) -> bool:
    """Say whether two answers are the same but for rounding."""
    if one.shape != other.shape:
        return False
    scale = max(1.0, float(other.abs().max()))
    return bool((one - other).abs().max() <= _SAME_WITHIN * scale)


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
