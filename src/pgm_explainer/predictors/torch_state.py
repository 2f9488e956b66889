"""The state that a module is in while it is asked, and that it is left in afterwards."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ..errors import InputError, ModelError

__all__ = ["check_ready", "evaluated"]

Answer = TypeVar("Answer")


class _Turns:
    """Threads take turns: one lock for all modules, which can share layers, and for torch's state.

    A forked process gets a new one, because a thread that held the old one is not there to
    release it.
    """

    lock = threading.RLock()

    @classmethod
    def begin_anew(cls) -> None:
        cls.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Turns.begin_anew)


def evaluated(module: nn.Module, ask: Callable[[], Answer]) -> Answer:
    """Return ``ask()``, called while a module is in evaluation mode, without gradients or caches.

    Modes, caches, torch's random state and the gradient mode are put back, also after an error or
    an interrupt at any point. Threads take turns, so that none of them sees a module that another
    one has changed, and a module that keeps something between two of its lines works too. What
    other threads draw from torch's global generators meanwhile is put back along with the rest.
    """
    with _Turns.lock:
        return _evaluated(module, ask)


def _evaluated(module: nn.Module, ask: Callable[[], Answer]) -> Answer:
    before = _Before(module)
    try:
        try:
            before.change()
            return ask()
        finally:
            before.put_back()
    finally:
        before.put_back()  # does nothing unless the first one was interrupted


class _Before:
    """The state of a module and of torch that is changed while the module is asked."""

    def __init__(self, module: nn.Module) -> None:
        parts = list(module.modules())
        # A frozen TorchScript module has no mode.
        self._modes = [(part, part.training) for part in parts if hasattr(part, "training")]
        self._caches = [
            (part, {name: vars(part)[name] for name in vars(part) if _is_cache(name)})
            for part in parts
        ]
        self._gradients = torch.is_grad_enabled()
        self._random = _random_states()
        self._is_back = False

    def change(self) -> None:
        torch.set_grad_enabled(False)
        for part, _ in self._modes:
            # Not by eval(), which a module may define so that it changes more than the mode.
            part.training = False
        for part, kept in self._caches:
            # A layer that remembers its first graph, or even its features, answers for no other.
            vars(part).update({name: False if name == "cached" else None for name in kept})

    def put_back(self) -> None:
        """Undo :meth:`change`; may be called again."""
        if self._is_back:
            return
        for part, mode in self._modes:
            part.training = mode
        for part, kept in self._caches:
            vars(part).update(kept)
        torch.set_grad_enabled(self._gradients)
        _put_back_random(self._random)
        self._is_back = True


def _is_cache(name: str) -> bool:
    return name == "cached" or name.startswith("_cached")


def _random_states() -> list[Tensor]:
    """The states of torch's global generators: the CPU's first, and those of CUDA in use."""
    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if in_use else [])]


def _put_back_random(states: list[Tensor]) -> None:
    # Most models draw nothing, and setting what is there already could undo another thread's draws.
    if not torch.equal(torch.get_rng_state(), states[0]):
        torch.set_rng_state(states[0])
    if len(states) > 1:
        torch.cuda.set_rng_state_all(states[1:])


def check_ready(module: nn.Module) -> None:
    """Refuse what is no module, and lazy parameters: the first call would give them their sizes.

    Raises:
        InputError: it is no module.
        ModelError: it has such parameters.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"model must be a torch.nn.Module, not {module!r:.100}")
    tensors = (*module.named_parameters(), *module.named_buffers())
    lazy = [name for name, tensor in tensors if is_lazy(tensor)]
    if lazy:
        raise ModelError(
            f"the model has lazy parameters that have no size yet ({', '.join(lazy[:3])}); run "
            f"one forward pass first, or load its weights"
        )
