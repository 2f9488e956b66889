"""Data files: read from a folder that the user names, never from inside the package.

Files that are missing there are downloaded from their public source. The checksum of every file is
verified before it is read.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tempfile
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path

from pgm_explainer import PGMExplainerError

__all__ = ["DataError", "DataFile", "MissingDataError", "data_folder", "read_data"]

VARIABLE = "PGM_EXPLAINER_DATA"
_PATIENCE = 30  # seconds without a response


class DataError(PGMExplainerError, FileNotFoundError):
    """A data file is missing or has the wrong contents."""


class MissingDataError(DataError):
    """A data file is missing and cannot be downloaded."""


@dataclass(frozen=True)
class DataFile:
    """A file that the experiments read.

    Attributes:
        path: its path within the data folder, such as ``mnist/train-labels-idx1-ubyte.gz``.
        sha256: checksum of its uncompressed contents.
        url: its public address; the file there may be compressed by gzip or in a zip archive.
        member: its name within the archive.
    """

    path: str
    sha256: str
    url: str | None = None
    member: str | None = None


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder given, else the one that ``PGM_EXPLAINER_DATA`` names, else a cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pgm-explainer"
    return Path(folder or os.environ.get(VARIABLE) or cache)


def read_data(file: DataFile, folder: str | os.PathLike[str] | None = None) -> bytes:
    """Return the contents of a data file, uncompressed, after verifying its checksum.

    A file that is missing in the data folder is downloaded if it is public.

    Raises:
        DataError: it is missing and cannot be downloaded, or has the wrong contents.
    """
    path = data_folder(folder) / file.path
    if not path.is_file():
        return _download(file, path)
    return _checked(path.read_bytes(), file, str(path))


def _checked(data: bytes, file: DataFile, origin: str) -> bytes:
    """Return the uncompressed contents of some bytes; raise an error if the checksum differs."""
    try:
        if file.member is not None and zipfile.is_zipfile(io.BytesIO(data)):
            data = zipfile.ZipFile(io.BytesIO(data)).read(file.member)
        contents = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except (OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{origin} cannot be read ({error}): it is damaged; remove it") from error
    found = hashlib.sha256(contents).hexdigest()
    if found != file.sha256:
        raise DataError(
            f"{origin} has sha256 {found}, not {file.sha256}: it is damaged or a different file; "
            f"remove it, or set {VARIABLE} to another folder"
        )
    return contents


def _download(file: DataFile, path: Path) -> bytes:
    """Download a file; it appears at its path only when complete and verified."""
    if file.url is None:
        raise MissingDataError(f"{path} is missing; set {VARIABLE} to the folder that has it")
    try:
        with urllib.request.urlopen(file.url, timeout=_PATIENCE) as answer:
            data = answer.read()
    except OSError as error:
        raise DataError(
            f"{path} is missing and could not be downloaded from {file.url} ({error}); download "
            f"it by hand, or set {VARIABLE} to the folder that has it"
        ) from error
    contents = _checked(data, file, file.url)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
        part.write(gzip.compress(contents) if path.suffix == ".gz" else contents)
    os.replace(part.name, path)
    return contents
