"""Atomic writes of files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pgm_explainer import FileError

__all__ = ["make_folder", "write_bytes", "write_text"]


def write_text(path: Path, text: str) -> None:
    """Write a text file under a temporary name, then rename it."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file under a temporary name, then rename it.

    Raises:
        FileError: the folder does not exist or cannot be written to.
    """
    try:
        if path.exists() and not path.is_file():
            raise FileError(f"{path} is not a file; choose another name")
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
            part.write(data)
        os.chmod(part.name, 0o644)
        os.replace(part.name, path)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}") from error


def make_folder(path: Path) -> None:
    """Create a folder, unless it exists."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path} cannot be created: {error.strerror}") from error
