"""What the commands on saved explanations have in common."""

from __future__ import annotations

import argparse
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .names import find, read_targets, whole_number

if TYPE_CHECKING:
    from ..dataset import ExplanationDataset
    from ..explanation import Explanation
    from ..sampling import VariableId

__all__ = ["add_file", "chosen"]

_MOST_AT_ONCE = 1000


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which explanation of which file or data set."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="JSON with explanations, or the folder of a data set that run made",
    )
    parser.add_argument("--target", help="the target of the one explanation that is meant")
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def chosen(options: argparse.Namespace) -> list[Explanation]:
    """Return the explanations of the file or data set, or only that of the target."""
    if isdir(options.file):  # Path.is_dir raises for a name that is too long
        return _of_data_set(options.file, options.target)
    from ..io import load_explanations

    explanations = load_explanations(options.file)
    if options.target is None:
        return explanations
    targets = [each.target for each in explanations]
    target = find(options.target, targets, f"explanation in {options.file} of")
    return [explanations[targets.index(target)]]


def _of_data_set(folder: Path, target: str | None) -> list[Explanation]:
    """Those of a folder: it may hold millions, so one is looked up and all are only a few."""
    from ..dataset import ExplanationDataset

    data = ExplanationDataset(folder)
    if target is not None:
        return [data[_typed(target, data)]]
    if len(data) > _MOST_AT_ONCE:
        raise InputError(
            f"{folder} holds {len(data):,} explanations, more than {_MOST_AT_ONCE:,} at once; say "
            "which one by --target"
        )
    return list(data)


def _typed(text: str, data: ExplanationDataset) -> VariableId:
    """A target of a data set: its name, ``304``, a pair ``3,5``, or ``author,5``."""
    if data.names is not None and data.task == "node":
        return find(text, data.names, f"node in {data.path} called")
    if data.names is not None:
        (pair,) = read_targets([text], data.task, len(data.names), data.names)
        return data.called(pair)
    words = [part.strip() for part in text.split(",")]
    numbers = [whole_number(word) for word in words]
    parts = tuple(word if at is None else at for word, at in zip(words, numbers, strict=True))
    return parts[0] if len(parts) == 1 else parts
