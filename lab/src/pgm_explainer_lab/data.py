"""Where real data is found: a folder that the user names, never inside the package.

What is not in that folder is fetched from its public source; either way it must have the right
checksum before it is read.
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
_PATIENCE = 30  # seconds without an answer


class DataError(PGMExplainerError, FileNotFoundError):
    """A data file is not there, or is not the file it should be."""


class MissingDataError(DataError):
    """A data file is not there, and is not public either."""


@dataclass(frozen=True)
class DataFile:
    """A file that the experiments read.

    Attributes:
        path: where it is within the data folder, such as ``mnist/train-labels-idx1-ubyte.gz``.
        sha256: what its contents, uncompressed, must hash to.
        url: where it is public: as it is, compressed by gzip, or in a zip archive.
        member: which file of the archive it is.
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
    """Return the contents of a data file, uncompressed, after checking that they are right.

    A file that is not in the data folder is downloaded into it if it is public.

    Raises:
        DataError: it is not there and cannot be had, or it has other contents.
    """
    path = data_folder(folder) / file.path
    if not path.is_file():
        return _download(file, path)
    return _checked(path.read_bytes(), file, str(path))


def _checked(data: bytes, file: DataFile, origin: str) -> bytes:
    """Return what some bytes hold, or say that it is not the file."""
    try:
        if file.member is not None and zipfile.is_zipfile(io.BytesIO(data)):
            data = zipfile.ZipFile(io.BytesIO(data)).read(file.member)
        contents = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except (OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{origin} cannot be read ({error}): it is damaged; remove it") from error
    found = hashlib.sha256(contents).hexdigest()
    if found != file.sha256:
        raise DataError(
            f"{origin} holds something with sha256 {found}, not {file.sha256}: it is damaged or "
            f"another file; remove it, or name another folder by {VARIABLE}"
        )
    return contents


def _download(file: DataFile, path: Path) -> bytes:
    """Fetch a file; it appears at its path whole and right, or not at all."""
    if file.url is None:
        raise MissingDataError(f"{path} is not there; name the folder that has it by {VARIABLE}")
    try:
        with urllib.request.urlopen(file.url, timeout=_PATIENCE) as answer:
            data = answer.read()
    except OSError as error:
        raise DataError(
            f"{path} is not there and could not be downloaded from {file.url} ({error}); download "
            f"it by hand, or name the folder that has it by {VARIABLE}"
        ) from error
    contents = _checked(data, file, file.url)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
        part.write(gzip.compress(contents) if path.suffix == ".gz" else contents)
    os.replace(part.name, path)
    return contents
