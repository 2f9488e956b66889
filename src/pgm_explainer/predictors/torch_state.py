"""Evaluation of a module without side effects on its state."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ..errors import InputError, ModelError
from ..limits import brief

__all__ = ["check_ready", "evaluated"]

Output = TypeVar("Output")


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

    Afterwards, training modes, caches, the gradient mode and torch's random state are restored,
    even after an error or an interrupt. Only one thread at a time can make a call, because threads
    share the module's state. If another thread draws random numbers from torch's global generators
    during a call, restoring the random state undoes that too.
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
            (part, {name: value for name, value in vars(part).items() if _is_cache(name)})
            for part in parts
        ]
        self._caches = [(part, kept) for part, kept in caches if kept]
        self._gradients = torch.is_grad_enabled()
        self._random = _random_states()
        self._restored = False

    def change(self) -> None:
        torch.set_grad_enabled(False)
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
