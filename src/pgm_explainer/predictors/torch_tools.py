"""Tools shared by the adapters for PyTorch models; evaluation without side effects."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ..arrays import FloatArray
from ..errors import InputError, ModelError
from ..execution import free_processors
from ..graph import FLOWS, Subgraph
from ..limits import brief

__all__ = [
    "UNSUPPORTED",
    "SubgraphCache",
    "as_features",
    "check_ready",
    "count_hops",
    "distinct_samples",
    "evaluated",
    "faster_with_matrix",
    "first_tensor",
    "flow_of",
    "gives",
    "like_floats",
    "same_scores",
    "some_parameter",
    "takes_any_matrix",
]

Found = TypeVar("Found")
Output = TypeVar("Output")

_NONE = nn.Identity()
_TRIALS = 2
_SAME_WITHIN = 1e-4
_REMEMBERED = 16
_STEPS_WITHIN_LAYER = ("K", "num_layers")
_PLAIN_SUMS = ("GINConv", "GraphConv", "SAGEConv")
_LAYER, _BOTH_WAYS = "MessagePassing", "DirGNNConv"

UNSUPPORTED = (
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
"""Errors that a layer may raise for a shape that it does not support."""


class SubgraphCache(Generic[Found]):
    """A cache with one value for each of the last few subgraphs, while these are in memory.

    It has several entries, because threads can share a predictor but use different subgraphs.
    """

    def __init__(self) -> None:
        self._found: tuple[tuple[weakref.ref[Subgraph], Found], ...] = ()

    def get(self, part: Subgraph) -> Found | None:
        """Return the value of a subgraph; None if it is not cached."""
        return next((found for known, found in self._found if known() is part), None)

    def find(self, part: Subgraph, find: Callable[[], Found]) -> Found:
        """Return the value of a subgraph, which is computed if it is not cached."""
        found = self.get(part)
        if found is None:
            found = find()
            self.remember(part, found)
        return found

    def remember(self, part: Subgraph, found: Found) -> None:
        """Store the value of a subgraph; the oldest entries are dropped."""
        held = ((known(), (known, each)) for known, each in self._found)
        alive = [entry for its, entry in held if its is not None and its is not part]
        self._found = (*alive[1 - _REMEMBERED :], (weakref.ref(part), found))

    def __reduce__(self) -> tuple[type[SubgraphCache[Found]], tuple[()]]:
        return SubgraphCache, ()  # a copy, also in another process, is empty


def count_hops(module: nn.Module) -> int | None:
    """Return the number of message-passing steps of a module; None if it has no such layers.

    The layers of PyTorch Geometric are counted. A layer that makes several steps counts as several.
    Layers for different edge types, in one dictionary, run in parallel and count once.
    """
    return _hops(module) or None


def flow_of(module: nn.Module) -> str:
    """Return the direction of messages in a module, one of :data:`~.graph.FLOWS`."""
    parts = list(module.modules())
    flows = {str(getattr(part, "flow", FLOWS[0])) for part in parts if _is_a(part, _LAYER)}
    if len(flows) > 1 or any(_is_a(part, _BOTH_WAYS) for part in parts):
        return "both"
    return flows.pop() if flows else FLOWS[0]


def faster_with_matrix(module: nn.Module) -> bool:
    """Return whether all layers are known to be faster with a sparse matrix of edges."""
    return _all_layers_in(module, (*_PLAIN_SUMS, "GCNConv"))


def takes_any_matrix(module: nn.Module) -> bool:
    """Return whether all layers treat any sparse matrix of edges like an ``edge_index``.

    Layers that only sum or average over edges do. Layers that add self-loops or normalise treat
    some sparse matrices differently from an ``edge_index``.
    """
    return _all_layers_in(module, _PLAIN_SUMS)


def _all_layers_in(module: nn.Module, names: tuple[str, ...]) -> bool:
    layers = [part for part in module.modules() if _is_a(part, _LAYER)]
    return bool(layers) and all(type(layer).__name__ in names for layer in layers)


def _is_a(module: nn.Module, name: str) -> bool:
    """Return whether a module is of a PyTorch Geometric class, without importing the package."""
    return any(each.__name__ == name for each in type(module).__mro__)


def _hops(module: nn.Module) -> int:
    if _is_a(module, _LAYER):
        steps = [getattr(module, name, 1) for name in _STEPS_WITHIN_LAYER]
        steps += [*getattr(module, "powers", ()), len(getattr(module, "lins", ())) - 1]
        return max((each for each in steps if isinstance(each, int)), default=1)
    below = [_hops(child) for child in module.children()]
    return max(below, default=0) if isinstance(module, nn.ModuleDict) else sum(below)


def distinct_samples(features: Tensor) -> Tensor:
    """Return samples of ``features [n, ...]`` that differ clearly from each other.

    If a model mixes the samples of a batch, the scores then change, which shows the mistake. Every
    value is between 0 and a value of the same column. So a feature that is an index into an
    embedding stays valid.
    """
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(len(features), (_TRIALS - 1, len(features)), generator=generator)
    share = torch.rand((*rows.shape, *features.shape[1:]), generator=generator)
    empty = (features == 0).all(dim=0)
    others = (features[rows.to(features.device)] + empty) * share.to(like_floats(features, _NONE))
    return torch.cat((features[None], others.to(features)))  # integers are rounded down


def same_scores(one: Tensor, other: Tensor) -> bool:
    """Return whether two outputs agree up to rounding; False if either has a NaN."""
    if one.shape != other.shape:
        return False
    return bool((one - other).abs().max() <= _SAME_WITHIN * other.abs().max())


def gives(call: Callable[[], Tensor], expected: Tensor) -> bool:
    """Return whether a call gives the expected scores; False if the model does not support it."""
    try:
        return same_scores(call(), expected)
    except UNSUPPORTED:
        return False


def first_tensor(answer: Any) -> Any:
    """Return the output of a model if it is a tensor, or the first tensor of a collection."""
    if isinstance(answer, Mapping):
        answer = tuple(answer.values())
    if isinstance(answer, (tuple, list)):
        return next((each for each in answer if isinstance(each, Tensor)), answer)
    return answer


def as_features(x: FloatArray, module: nn.Module) -> Tensor:
    """Return features as a tensor with the device and precision of the module.

    Integers, such as the indices of an embedding, stay integers.
    """
    where = some_parameter(module)
    features = torch.from_numpy(x)
    if where is None:
        return features
    if not features.is_floating_point():
        return features.to(where.device)
    return features.to(where.device, where.dtype)


def like_floats(features: Tensor, module: nn.Module) -> Tensor:
    """Return a tensor with the device of the features and the precision of the module."""
    if features.is_floating_point():
        return features
    where = some_parameter(module)
    precision = torch.get_default_dtype() if where is None else where.dtype
    return features.new_empty(0, dtype=precision)


def some_parameter(module: nn.Module) -> Tensor | None:
    """Return a floating-point parameter or buffer, which has the module's device and precision."""
    tensors = chain(module.parameters(), module.buffers())
    return next((tensor for tensor in tensors if tensor.is_floating_point()), None)


class _GlobalLock:
    """One lock for all modules, because modules can share layers and torch has global state.

    A forked process gets a new lock, because the thread that held the old one does not exist there.
    """

    lock = threading.RLock()

    @classmethod
    def renew(cls) -> None:
        cls.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_GlobalLock.renew)


def evaluated(module: nn.Module, call: Callable[[], Output]) -> Output:
    """Return ``call()``, with a module in evaluation mode, without gradients or caches.

    If other programs are busy, torch uses fewer threads. Afterwards, training modes, caches, the
    number of threads, the gradient mode and torch's random state are restored, even after an error
    or an interrupt. Only one thread at a time can make a call, because threads share the module's
    state. If another thread draws random numbers from torch's global generators during a call,
    restoring the random state undoes that too.
    """
    with _GlobalLock.lock:
        return _evaluated(module, call)


def _evaluated(module: nn.Module, call: Callable[[], Output]) -> Output:
    state = _SavedState(module)
    try:
        try:
            state.change()
            return call()
        finally:
            state.restore()
    finally:
        state.restore()  # does nothing unless the first one was interrupted


class _SavedState:
    """The state of a module and of torch that is changed during evaluation."""

    def __init__(self, module: nn.Module) -> None:
        parts = list(module.modules())
        # A frozen TorchScript module has no mode.
        self._modes = [(part, part.training) for part in parts if hasattr(part, "training")]
        caches = [
            (part, {name: vars(part)[name] for name in vars(part) if _is_cache(name)})
            for part in parts
            if "cached" in "".join(vars(part))  # most have no cache, which this finds fast
        ]
        self._caches = [(part, kept) for part, kept in caches if kept]
        self._gradients = torch.is_grad_enabled()
        self._threads = torch.get_num_threads()
        self._random = _random_states()
        self._restored = False

    def change(self) -> None:
        torch.set_grad_enabled(False)
        if self._threads > 1 and free_processors() < self._threads:
            torch.set_num_threads(free_processors())
        for part, mode in self._modes:
            if mode:  # not with eval(), which a module may override to change more than the mode
                part.training = False
        for part, kept in self._caches:
            # A layer that caches its first graph or features would use them for all later calls.
            vars(part).update({name: False if name == "cached" else None for name in kept})

    def restore(self) -> None:
        """Undo :meth:`change`; may be called several times."""
        if self._restored:
            return
        for part, mode in self._modes:
            if part.training != mode:  # setting an attribute of a module is slow
                part.training = mode
        for part, kept in self._caches:
            vars(part).update(kept)
        torch.set_grad_enabled(self._gradients)
        if torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        _restore_random(self._random)
        self._restored = True


def _is_cache(name: str) -> bool:
    return name == "cached" or name.startswith("_cached")


def _random_states() -> list[Tensor]:
    """Return the states of torch's global generators: CPU first, then CUDA if in use."""
    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if in_use else [])]


def _restore_random(states: list[Tensor]) -> None:
    # Only if it changed: most models draw no random numbers, and setting the state could undo the
    # draws of another thread.
    if not torch.equal(torch.get_rng_state(), states[0]):
        torch.set_rng_state(states[0])
    if len(states) > 1:
        torch.cuda.set_rng_state_all(states[1:])


def check_ready(module: nn.Module) -> None:
    """Check that a model is a module without lazy parameters, which its first call would modify.

    Raises:
        InputError: the model is not a module.
        ModelError: the model has lazy parameters.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"model must be a torch.nn.Module, not {brief(module)}")
    tensors = (*module.named_parameters(), *module.named_buffers())
    lazy = [name for name, tensor in tensors if is_lazy(tensor)]
    if lazy:
        raise ModelError(
            f"the model has uninitialised lazy parameters ({', '.join(lazy[:3])}); run one forward "
            f"pass first, or load its weights"
        )
