"""Files: read with errors of our own, written whole or not at all."""

from __future__ import annotations

import io
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..errors import FileError, InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "PathLike",
    "as_path",
    "as_text",
    "read_file",
    "write_bytes",
    "write_figure",
    "write_text",
]

PathLike = str | os.PathLike[str]
Content = TypeVar("Content")


def as_path(path: PathLike) -> Path:
    """Return a path that a caller gave.

    Raises:
        InputError: it is none.

    Examples:
        >>> as_path(5)
        Traceback (most recent call last):
        pgm_explainer.errors.InputError: the path of a file is a text or a Path, not 5
    """
    try:
        return Path(path)
    except TypeError:
        raise InputError(f"the path of a file is a text or a Path, not {path!r:.60}") from None


def read_file(path: PathLike, parse: Callable[[bytes], Content]) -> Content:
    """Return what ``parse`` makes of a file's bytes.

    Raises:
        FileError: the file is not there, may not be read, or ``parse`` refuses it; the error names
            the file.
        InputError: the path is none.
    """
    place = as_path(path)
    try:
        document = place.read_bytes()
    except (OSError, ValueError) as error:  # a name with a null in it is a ValueError
        raise FileError(f"{place} cannot be read: {error}") from error
    try:
        return parse(document)
    except FileError as error:
        raise FileError(f"{place}: {error}") from None


def as_text(document: bytes) -> str:
    """Return UTF-8 bytes as text; a byte order mark is no part of it."""
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"this is not UTF-8 text: {error}") from None


def write_text(path: PathLike, text: str) -> None:
    """Write a text to a file, in UTF-8; see :func:`write_bytes`."""
    place = as_path(path)
    try:
        data = text.encode()
    except UnicodeEncodeError as error:  # half a surrogate pair
        raise FileError(f"{place} cannot be written: {error}") from error
    write_bytes(place, data)


def write_figure(path: PathLike, figure: Figure, dpi: int) -> None:
    """Write a picture in the format that the file's ending says; see :func:`write_bytes`."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=as_path(path).suffix.removeprefix("."), dpi=dpi)
    write_bytes(path, drawn.getvalue())


def write_bytes(path: PathLike, data: bytes) -> None:
    """Write a file, which then is there whole; if that fails, it is as it was.

    Raises:
        FileError: it cannot be written.
        InputError: the path is none.
    """
    place = as_path(path)
    try:
        whole = Path(os.path.realpath(place))  # what a link points to, not the link
        part = whole.with_name(f".{secrets.token_hex(8)}.part")
        try:
            # Not by tempfile, whose files nobody but their owner may read.
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(whole)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        raise FileError(f"{place} cannot be written: {error}") from error
