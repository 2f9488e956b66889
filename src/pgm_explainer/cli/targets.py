"""Targets from the command line or from a file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, InputError
from ..limits import brief
from ..sampling import VariableId
from ..storage.array_file import parse_npy
from ..storage.files import as_text, read_file
from .explainers import NamedExplainer
from .names import read_targets, spelled

__all__ = ["add_targets", "named_targets"]


def add_targets(parser: argparse.ArgumentParser, without: str) -> None:
    """Add the options for targets; ``without`` describes what happens if none is given."""
    group = parser.add_argument_group("targets")
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
        help="text file with one target per line, or .npy file of targets",
    )


def named_targets(options: argparse.Namespace, named: NamedExplainer) -> list[Any] | None:
    """Return the targets as node numbers or pairs of them; None if none is given.

    Raises:
        InputError: a target does not exist, or targets are given in a graph task.
        FileError: a file cannot be read, or contains no target.
    """
    explainer = named()
    task = explainer.settings.model.task
    many = explainer.offsets is not None
    count = len(explainer.predicted) if explainer.offsets is None else len(explainer.offsets) - 1
    texts = list(options.target)
    if options.targets_file is not None:
        texts += _listed(options.targets_file, named.target_names or range(count))
    if not texts:
        return None
    if task == "graph" and not many:
        raise InputError(
            f"a graph task explains the whole graph and takes no target, but {brief(texts[0])} "
            f"was given"
        )
    return list(read_targets(texts, task, count, named.target_names))


def _listed(path: Path, names: Sequence[VariableId]) -> list[str]:
    """Return the targets in a file, as they would be typed."""
    if path.suffix == ".npy":
        texts = read_file(path, lambda document: _array(document, names))
    else:
        lines = read_file(path, as_text).splitlines()
        texts = [line.strip() for line in lines if line.strip()]
    if not texts:
        raise FileError(f"{path} contains no targets")
    return texts


def _array(document: bytes, names: Sequence[VariableId]) -> list[str]:
    """Return the targets in an array of targets, or in a Boolean mask over the nodes."""
    array = parse_npy(document)
    shape = array.shape
    is_mask = bool(shape) and array.dtype.kind == "b"
    if is_mask and shape == (len(names),):
        return [spelled(names[at]) for at in np.flatnonzero(array).tolist()]
    if is_mask or len(shape) not in (1, 2):
        raise FileError(
            f"targets must be a list, pairs in two columns, or a Boolean mask over the "
            f"{len(names)} nodes; this array has shape {shape}"
        )
    return [spelled(tuple(each) if len(shape) == 2 else each) for each in array.tolist()]
