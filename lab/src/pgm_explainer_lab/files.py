"""Atomic writes of result files."""

from __future__ import annotations

import io
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from pgm_explainer import FileError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_figure", "write_text"]


def write_text(path: Path, text: str) -> None:
    """Write a text to a file, in UTF-8."""
    _write(path, text.encode())


def write_figure(path: Path, figure: Figure, dpi: int) -> None:
    """Write a figure in the format given by the file's extension."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix.removeprefix("."), dpi=dpi)
    _write(path, drawn.getvalue())


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}-{secrets.token_hex(4)}.part")
    try:
        try:
            with open(part, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}") from error
