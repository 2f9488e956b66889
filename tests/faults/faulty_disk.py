"""A disk that fails at a chosen moment, or a process that is killed there.

Every call by which the package changes a folder is an event: creating, opening, writing, syncing,
renaming and removing. A fault happens at one of them. An error is raised once, and later calls
succeed; a kill raises and blocks all later calls, as no code runs in a dead process. Data that was
written but not flushed is then lost too.
"""

from __future__ import annotations

import builtins
import os
from pathlib import Path

import pytest


class Killed(BaseException):
    """Nothing catches it but a test."""


class FaultyDisk:
    """Counts events under a folder; at the one numbered ``at`` it fails.

    Args:
        error: number of an OSError to raise; None to be killed.
        half: whether a write that fails has written half.
    """

    def __init__(self, folder, at, error=None, half=True):
        self.folder, self.at, self.error, self.half = str(folder), at, error, half
        self.events: list[str] = []
        self.dead = False

    def happens(self, what, path) -> None:
        """Count an event, and fail if it is time."""
        if not str(path).startswith(self.folder):
            return
        if self.dead:
            raise Killed
        self.events.append(f"{what} {os.path.relpath(path, self.folder)}")
        if len(self.events) - 1 == self.at:
            if self.error is not None:
                raise OSError(self.error, os.strerror(self.error))
            self.dead = True
            raise Killed

    def installed(self, patch: pytest.MonkeyPatch) -> FaultyDisk:
        """Put this disk in place of the real one."""
        real = {name: getattr(os, name) for name in ("open", "fsync", "fchmod", "fchown", "fdopen")}
        paths = {}

        def opened(path, flags, *more, **others):
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self.happens("open", path)
            descriptor = real["open"](path, flags, *more, **others)
            paths[descriptor] = path
            return descriptor

        def of_descriptor(name):
            def call(descriptor, *more):
                self.happens(name, paths.get(descriptor, "/"))
                return real[name](descriptor, *more)

            return call

        def of_path(name):
            function = getattr(os, name)

            def call(path, *more, **others):
                self.happens(name, path)
                return function(path, *more, **others)

            return call

        def file(path, mode="r", *more, opener=None, **others):
            if "x" not in mode or not str(path).startswith(self.folder):
                return builtin(path, mode, *more, opener=opener, **others)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            descriptor = opener(path, flags) if opener else opened(path, flags, 0o666)
            return _File(self, path, descriptor)

        builtin = builtins.open
        patch.setattr(builtins, "open", file)
        patch.setattr(os, "open", opened)
        patch.setattr(
            os, "fdopen", lambda descriptor, mode: _File(self, paths[descriptor], descriptor)
        )
        for name in ("fsync", "fchmod", "fchown"):
            patch.setattr(os, name, of_descriptor(name))
        for name in ("replace", "unlink", "mkdir"):
            patch.setattr(os, name, of_path(name))
        return self


class _File:
    """A file that is written when it is flushed; one that is not, when its process is killed."""

    def __init__(self, disk, path, descriptor):
        self._disk, self._path, self._descriptor, self._waiting = disk, path, descriptor, b""

    def fileno(self):
        return self._descriptor

    def write(self, data):
        self._waiting += data

    def flush(self):
        data, self._waiting = self._waiting, b""
        try:
            if data:
                self._disk.happens("write", self._path)
        except BaseException:
            if self._disk.half:
                os.write(self._descriptor, data[: len(data) // 2])
            raise
        os.write(self._descriptor, data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if not self._disk.dead:
                self.flush()
        finally:
            os.close(self._descriptor)


def leftovers(folder) -> list[Path]:
    """Half-written files under a folder."""
    return [path for path in Path(folder).rglob("*") if path.suffix == ".part"]
