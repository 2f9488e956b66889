"""A progress bar in a terminal or notebook, and log messages elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import TextIO

__all__ = ["Progress", "duration", "is_watched"]

_logger = logging.getLogger(__name__)

_WIDTH = 30
_PATIENCE = 1.0
_LONG = 60.0
_INTERVAL = 0.1
_LOG_INTERVAL = 10.0
_ENOUGH, _FEW = 0.05, 3
"""An estimate needs this share of the steps, or this many calls: the first one is often slow."""


def is_watched(stream: TextIO) -> bool:
    """Return whether a stream is shown to a user, in a terminal or notebook."""
    try:
        if stream.isatty():
            return True
    except (AttributeError, ValueError):  # closed, or not a complete file object
        return False
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    return type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def duration(seconds: float) -> str:
    """Return a duration as text in its two largest units.

    Examples:
        >>> duration(42.4), duration(250), duration(100_000)
        ('42 s', '4 min 10 s', '1 d 3 h')
    """
    amounts = []
    rest = round(seconds)
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        amount, rest = divmod(rest, size)
        amounts.append((amount, unit))
    first = next((at for at, (amount, _) in enumerate(amounts) if amount), len(amounts) - 1)
    return " ".join(f"{amount} {unit}" for amount, unit in amounts[first : first + 2])


class Progress:
    """A progress bar on standard error, shown after one second and removed at the end.

    If no bar is shown, the remaining time is logged every ten seconds, and after one second if the
    task will take more than a minute: as a warning, or as information with ``show=False``.

    Args:
        what: a description of the task.
        total: the number of steps.
        show: whether to show the bar; None shows it only in a terminal or notebook.
        unit: the name of a step, to show the number of steps per second; empty to hide it.

    Examples:
        >>> with Progress("explaining", total=3, show=False) as progress:
        ...     progress.advance(3)
    """

    def __init__(self, what: str, total: int, show: bool | None = None, unit: str = "") -> None:
        self._what, self._total, self._unit = what, total, unit
        self._stream = sys.stderr
        self._show = is_watched(self._stream) if show is None else show
        self._level = logging.WARNING if show is None else logging.INFO
        self._done = self._calls = 0
        self._first = 0, 0.0
        self._started = time.monotonic()
        self._last_logged: float | None = None
        self._last_shown: float | None = None

    def advance(self, steps: int = 1) -> None:
        """Count finished steps."""
        self._done += steps
        now = time.monotonic()
        self._calls += 1
        if self._calls == 1:
            self._first = self._done, now - self._started
        due = self._last_shown + _INTERVAL if self._last_shown else self._started + _PATIENCE
        if self._show and now >= due:
            self._last_shown = now
            self._write(self._line(now - self._started))
        elif not self._show and now - self._started >= _PATIENCE:
            self._log_if_due(now)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._last_shown is not None:
            self._write(" " * 79)
            self._write("")

    def _log_if_due(self, now: float) -> None:
        elapsed = now - self._started
        left = self._left(elapsed)
        early = self._last_logged is None and left is not None and left >= _LONG
        if early or now - (self._last_logged or self._started) >= _LOG_INTERVAL:
            self._last_logged = now
            _logger.log(
                self._level,
                "%s: %d of %d done after %s%s",
                *(self._what, self._done, self._total, duration(elapsed)),
                "" if left is None else f", about {duration(left)} left",
            )

    def _left(self, elapsed: float) -> float | None:
        """Return an estimate of the remaining seconds; None if it is too early for one."""
        done, spent = self._done, elapsed
        if self._calls >= _FEW:  # without the first call, which often loads or compiles something
            done, spent = done - self._first[0], spent - self._first[1]
        elif done < _ENOUGH * self._total:
            return None
        return spent / max(done, 1) * max(self._total - self._done, 0)

    def _line(self, elapsed: float) -> str:
        share = min(self._done / max(self._total, 1), 1.0)
        bar = ("█" * round(share * _WIDTH)).ljust(_WIDTH, "·")
        left = self._left(elapsed)
        rest = "" if left is None else f", {duration(left)} left"
        rate = f", {self._done / elapsed:.3g} {self._unit}/s" if self._unit and elapsed else ""
        return f"{self._what} {bar} {share:4.0%}{rate}{rest}"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(f"\r{text[:79].ljust(79) if text else ''}")
            self._stream.flush()
        except (OSError, ValueError, UnicodeEncodeError):  # the stream is closed or not writable
            self._show = False
