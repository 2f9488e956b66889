"""Texts in files: read with errors of our own, written whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from ..errors import FileError

__all__ = ["PathLike", "read_text", "write_text"]

PathLike = str | os.PathLike[str]


def read_text(path: PathLike) -> str:
    """Return the UTF-8 text of a file.

    Raises:
        FileError: it is not there, may not be read, or is not text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")  # a byte order mark is no part of it
    except UnicodeDecodeError as error:
        raise FileError(f"{os.fspath(path)}: this is not UTF-8 text ({error})") from None
    except (OSError, ValueError) as error:  # a name with a null in it is a ValueError
        raise FileError(f"{os.fspath(path)} cannot be read: {error}") from error


def write_text(path: PathLike, text: str) -> None:
    """Write a text to a file, which then is there whole; if that fails, it is as it was.

    Raises:
        FileError: it cannot be written.
    """
    try:
        whole = Path(os.path.realpath(path))  # what a link points to, not the link
        part = whole.with_name(f".{secrets.token_hex(8)}.part")
        try:
            # Not by tempfile, whose files nobody but their owner may read.
            with part.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            part.replace(whole)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        raise FileError(f"{os.fspath(path)} cannot be written: {error}") from error
