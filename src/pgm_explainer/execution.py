"""Execution options, which cannot change an explanation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .arrays import check_whole_number
from .errors import InputError
from .limits import brief
from .memory import check_memory

__all__ = ["ExecutionConfig"]

_BYTES_PER_CELL = 64


@dataclass(frozen=True, kw_only=True)
class ExecutionConfig:
    """Memory, batch and progress options; not part of an explanation's settings.

    Attributes:
        max_memory: memory for samples, in bytes or as a string such as ``"2GB"``; None for a
            quarter of the free memory. Half of it is for the batch that the model is called on, a
            quarter for recorded samples. Records beyond that go to temporary files.
        samples_per_call: how many samples the model is called on at once; None to derive it from
            ``max_memory``.
        progress: whether to show a progress bar; None shows it only in a terminal or notebook.

    Raises:
        InputError: invalid value.
    """

    max_memory: int | str | None = None
    samples_per_call: int | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.max_memory is not None:
            object.__setattr__(self, "max_memory", check_memory(self.max_memory))
        if self.samples_per_call is not None:
            count = check_whole_number(self.samples_per_call, "samples_per_call", at_least=1)
            object.__setattr__(self, "samples_per_call", count)
        if self.progress is not None and not isinstance(self.progress, bool):
            raise InputError(f"progress must be True, False or None, not {brief(self.progress)}")

    @cached_property
    def memory(self) -> int:
        """The memory limit in bytes; measured once if none was given."""
        return check_memory(self.max_memory)

    @property
    def cells(self) -> int:
        """How many cells of contingency tables are held at once."""
        return min(max(self.memory // _BYTES_PER_CELL, 1 << 20), 1 << 22)
