"""What to explain: targets that are typed, or listed in a file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, InputError
from ..sampling import VariableId
from ..storage.array_file import parse_npy
from ..storage.files import as_text, read_file
from .explainers import NamedExplainer
from .names import read_targets, spelled

__all__ = ["add_targets", "named_targets"]


def add_targets(parser: argparse.ArgumentParser, without: str) -> None:
    """Add the options that say what to explain, and what happens without them."""
    group = parser.add_argument_group("what to explain")
    group.add_argument(
        "--target",
        nargs="+",
        action="extend",
        default=[],
        help=f"numbers, names, ranges such as 300-310, or 'all'; pairs such as 3,5 in an edge "
        f"task; {without}",
    )
    group.add_argument(
        "--targets-file",
        "--targets",
        type=Path,
        metavar="PATH",
        help="a text file with a target in each line, or an .npy file of them",
    )


def named_targets(options: argparse.Namespace, named: NamedExplainer) -> list[Any] | None:
    """Return the numbers, or pairs of them, of the targets that are named; None if none is.

    Raises:
        InputError: one that is not there, or any in a graph task.
        FileError: a file that cannot be read, or names none.
    """
    explainer = named()
    task = explainer.settings.model.task
    count = len(explainer.predicted)
    texts = list(options.target)
    if options.targets_file is not None:
        texts += _listed(options.targets_file, named.node_names or range(count))
    if not texts:
        return None
    if task == "graph":
        raise InputError(f"a graph task explains the whole graph, not the target {texts[0]!r}")
    return list(read_targets(texts, task, count, named.node_names))


def _listed(path: Path, names: Sequence[VariableId]) -> list[str]:
    """The targets in a file, as they would be typed."""
    if path.suffix == ".npy":
        texts = read_file(path, lambda document: _array(document, names))
    else:
        lines = read_file(path, as_text).splitlines()
        texts = [line.strip() for line in lines if line.strip()]
    if not texts:
        raise FileError(f"{path} names no target")
    return texts


def _array(document: bytes, names: Sequence[VariableId]) -> list[str]:
    """The targets in an array: as they are called, or True for each node that is one."""
    array = parse_npy(document)
    shape = array.shape
    is_mask = bool(shape) and array.dtype.kind == "b"
    if is_mask and shape == (len(names),):
        return [spelled(names[at]) for at in np.flatnonzero(array).tolist()]
    if is_mask or len(shape) not in (1, 2):
        raise FileError(
            f"targets are a list, or pairs in two columns, or True and False for each of the "
            f"{len(names)} nodes; this has shape {shape}"
        )
    return [spelled(tuple(each) if len(shape) == 2 else each) for each in array.tolist()]
