"""Networks in files of common formats, chosen by the file's extension."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ...errors import FileError, InputError
from ...limits import NETWORK_BYTES
from ...storage.checked import Checked, parse_json
from ...storage.files import PathLike, as_path, as_text, read_file, write_text
from ..bayesian_network import BayesianNetwork
from ..graphical_model import GraphicalModel
from ..markov_network import MarkovNetwork
from .bif import network_from_bif, network_to_bif
from .plain import network_from_dict, network_to_dict
from .uai import network_from_uai, network_to_uai
from .xmlbif import network_from_xmlbif, network_to_xmlbif

__all__ = ["load_network", "save_network"]

Network = TypeVar("Network", bound=GraphicalModel)


@dataclass(frozen=True)
class _Format:
    """A file format and the networks that it can hold."""

    kind: Any
    write: Callable[[Any], str]
    parse: Callable[[bytes], GraphicalModel]


def _to_json(network: GraphicalModel) -> str:
    return json.dumps(network_to_dict(network), allow_nan=False) + "\n"


def _from_json(document: bytes) -> GraphicalModel:
    hint = "save the network again"
    return network_from_dict(Checked(parse_json(as_text(document), hint), "network"))


_BIF = _Format(BayesianNetwork, network_to_bif, network_from_bif)
_XMLBIF = _Format(BayesianNetwork, network_to_xmlbif, network_from_xmlbif)
_FORMATS = {
    ".bif": _BIF,
    ".xmlbif": _XMLBIF,
    ".bifxml": _XMLBIF,
    ".xml": _XMLBIF,
    ".uai": _Format(MarkovNetwork, network_to_uai, network_from_uai),
    ".json": _Format(GraphicalModel, _to_json, _from_json),
}


def save_network(path: PathLike, network: GraphicalModel) -> None:
    """Write a network to a file, atomically.

    Raises:
        InputError: the format cannot hold a network of this family.
        FileError: the file cannot be written, or has another extension.
    """
    chosen = _format(path)
    if not isinstance(network, chosen.kind):
        raise InputError(
            f"{os.fspath(path)}: {as_path(path).suffix} files hold a {chosen.kind.title}, not a "
            f"{network.title}; save it as .json"
        )
    write_text(path, chosen.write(network))


def load_network(path: PathLike, kind: type[Network]) -> Network:
    """Read the network of an explanation from a file, which other packages may have written.

    Raises:
        FileError: the file cannot be read, has another format, or contains another kind of network.
    """
    found = read_file(path, _format(path).parse, NETWORK_BYTES)
    if not isinstance(found, kind):
        raise FileError(
            f"{os.fspath(path)} holds a {found.title}; read it with {type(found).__name__}.load"
        )
    return found


def _format(path: PathLike) -> _Format:
    ending = as_path(path).suffix.lower()
    if ending not in _FORMATS:
        raise FileError(
            f"{os.fspath(path)}: the extension of a network file must be one of "
            f"{', '.join(_FORMATS)}"
        )
    return _FORMATS[ending]
