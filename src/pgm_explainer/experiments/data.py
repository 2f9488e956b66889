"""Where real data is found: a folder that the user names, never inside the package."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ..errors import PGMExplainerError

__all__ = ["DataError", "find_data"]

VARIABLE = "PGM_EXPLAINER_DATA"


class DataError(PGMExplainerError, FileNotFoundError):
    """A data file is not there, or is not the file it should be."""


def find_data(relative: str, sha256: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a data file after checking that it is the right one.

    Args:
        relative: path within the data folder, such as ``author_checkpoints/syn6_model.npz``.
        sha256: what its contents must hash to.
        folder: the data folder; by default the one that ``PGM_EXPLAINER_DATA`` names.

    Raises:
        DataError: no folder is named, the file is not in it, or it has other contents.
    """
    root = folder or os.environ.get(VARIABLE)
    if not root:
        raise DataError(
            f"{relative} is needed: name the folder that holds it by the option or by setting "
            f"{VARIABLE}"
        )
    path = Path(root) / relative
    if not path.is_file():
        raise DataError(f"{path} is not there; check the folder ({VARIABLE}={root})")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise DataError(f"{path} has sha256 {found}, not {sha256}: it is damaged or another file")
    return path
