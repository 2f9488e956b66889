"""Reading files with clear errors, and writing them atomically."""

from __future__ import annotations

import io
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from ..errors import FileError, InputError
from ..limits import DOCUMENT_BYTES, as_size, brief

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "PART",
    "PathLike",
    "as_path",
    "as_text",
    "check_file",
    "read_bytes",
    "read_file",
    "write_bytes",
    "write_figure",
    "write_text",
]

PathLike = str | os.PathLike[str]
Content = TypeVar("Content")

PART = ".pgm-explainer-{}.part"
"""The name of a file while it is written; a killed process may leave one behind."""

# Opening a pipe would block until its other end is opened.
_NONBLOCKING = getattr(os, "O_NONBLOCK", 0)


def as_path(path: PathLike) -> Path:
    """Return a path given by the caller as text.

    Raises:
        InputError: it is not a path.

    Examples:
        >>> as_path(5)
        Traceback (most recent call last):
        pgm_explainer.errors.InputError: a file path must be a string or a Path, not 5
    """
    try:
        return Path(path)
    except Exception:  # TypeError, or whatever an object's own conversion raises
        raise InputError(f"a file path must be a string or a Path, not {brief(path)}") from None


def read_file(
    path: PathLike, parse: Callable[[bytes], Content], limit: int = DOCUMENT_BYTES
) -> Content:
    """Read a file and parse its bytes.

    Raises:
        FileError: the file does not exist, cannot be read, is too large, or ``parse`` refuses it;
            the message names the file.
        InputError: it is not a path.
    """
    place = as_path(path)
    document = read_bytes(place, limit)
    try:
        return parse(document)
    except FileError as error:
        raise FileError(f"{place}: {error}") from None


def read_bytes(path: PathLike, limit: int = DOCUMENT_BYTES) -> bytes:
    """Return the bytes of a file.

    Raises:
        FileError: it does not exist, is a folder, a pipe or a device, cannot be read, or exceeds
            the size limit.
    """
    place = as_path(path)
    try:
        with open(place, "rb", opener=_open_nonblocking) as file:
            _check_open(file, place, limit)
            return file.read()
    except (OSError, ValueError) as error:  # ValueError: a name that contains a null character
        raise _unreadable(place, error) from error


def check_file(path: PathLike) -> int:
    """Check a file that another library will read, and return its size.

    Raises:
        FileError: as :func:`read_bytes`.
    """
    place = as_path(path)
    try:
        with open(place, "rb", opener=_open_nonblocking) as file:
            return _check_open(file, place)
    except (OSError, ValueError) as error:
        raise _unreadable(place, error) from error


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | _NONBLOCKING)


def _check_open(file: IO[bytes], place: Path, limit: int | None = None) -> int:
    """Return the size of an open file, if it is a regular file within the limit."""
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{place} cannot be read: it is a pipe or a device, not a file")
    if limit is not None and status.st_size > limit:
        raise FileError(
            f"{place} cannot be read: it has {as_size(status.st_size)}, and a file of this kind "
            f"may have at most {as_size(limit)}"
        )
    return status.st_size


def _unreadable(place: Path, error: Exception) -> FileError:
    if isinstance(error, FileError):
        return error
    return FileError(f"{place} cannot be read: {_reason(error)}")


def _reason(error: Exception) -> object:
    """Return why a file cannot be used, without its name, which may be very long."""
    return getattr(error, "strerror", None) or error


def as_text(document: bytes) -> str:
    """Decode UTF-8 bytes, without a byte order mark."""
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
        raise FileError(f"{place} cannot be written: {_reason(error)}") from error
    write_bytes(place, data)


def write_figure(path: PathLike, figure: Figure, dpi: int) -> None:
    """Write a figure in the format of the file's extension; see :func:`write_bytes`."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=as_path(path).suffix.removeprefix("."), dpi=dpi)
    write_bytes(path, drawn.getvalue())


def write_bytes(path: PathLike, data: bytes) -> None:
    """Write a file atomically; if writing fails, an existing file is left unchanged.

    A file that is replaced keeps its owner and permissions.

    Raises:
        FileError: it cannot be written, or the path is not a regular file.
        InputError: it is not a path.
    """
    place = as_path(path)
    try:
        target = Path(os.path.realpath(place))  # the target of a link, not the link
        before = _status_of(target)
        temporary = target.with_name(PART.format(secrets.token_hex(8)))
        try:
            # Not with tempfile, whose files only their owner can read.
            with open(temporary, "xb", opener=_private if before else None) as file:
                if before:
                    _copy_owner_and_mode(file, before)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except (OSError, ValueError) as error:
        # Not the whole system error, which names the temporary file.
        reason = _reason(error)
        if isinstance(error, FileNotFoundError):
            reason = f"there is no folder {place.parent}"
        raise FileError(f"{place} cannot be written: {reason}") from error


def _status_of(target: Path) -> os.stat_result | None:
    """Return the status of an existing file; None if there is none."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is a folder, a pipe or a device, not a file")
    return status


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _copy_owner_and_mode(file: IO[bytes], before: os.stat_result) -> None:
    if not hasattr(os, "fchmod"):  # as on Windows
        return
    with suppress(PermissionError):  # only root may change the owner
        os.fchown(file.fileno(), before.st_uid, before.st_gid)
    os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so that the renamed file survives a power failure."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
