"""Networks in files of common formats, chosen by the file's extension."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from ...errors import FileError
from ...limits import NETWORK_BYTES
from ...storage.files import PathLike, as_path, read_file, write_text
from ..bayesian_network import BayesianNetwork
from .bif import network_from_bif, network_to_bif
from .xmlbif import network_from_xmlbif, network_to_xmlbif

__all__ = ["load_network", "save_network"]


@dataclass(frozen=True)
class _Format:
    write: Callable[[BayesianNetwork], str]
    parse: Callable[[bytes], BayesianNetwork]


_BIF = _Format(network_to_bif, network_from_bif)
_XMLBIF = _Format(network_to_xmlbif, network_from_xmlbif)
_FORMATS = {".bif": _BIF, ".xmlbif": _XMLBIF, ".bifxml": _XMLBIF, ".xml": _XMLBIF}


def save_network(path: PathLike, network: BayesianNetwork) -> None:
    """Write a network to a file, atomically."""
    write_text(path, _format(path).write(network))


def load_network(path: PathLike) -> BayesianNetwork:
    """Read the network of an explanation from a file, which other packages may have written.

    Raises:
        FileError: the file cannot be read, has another format, or contains another kind of network.
    """
    return read_file(path, _format(path).parse, NETWORK_BYTES)


def _format(path: PathLike) -> _Format:
    ending = as_path(path).suffix.lower()
    if ending not in _FORMATS:
        raise FileError(
            f"{os.fspath(path)}: the extension of a network file must be one of "
            f"{', '.join(_FORMATS)}"
        )
    return _FORMATS[ending]
