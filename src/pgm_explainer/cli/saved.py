"""Options and loading shared by the commands on saved explanations."""

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

__all__ = ["add_file", "load_chosen", "target_name"]

_MOST_AT_ONCE = 1000


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose an explanation from a file or data set."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="JSON file of explanations, or folder of a data set made by run",
    )
    parser.add_argument("--target", help="target of the explanation to choose")
    parser.add_argument("--json", action="store_true", help="print JSON")


def load_chosen(options: argparse.Namespace) -> list[Explanation]:
    """Return the explanations of the file or data set, or only the one of the target."""
    if isdir(options.file):  # Path.is_dir raises if the name is too long
        return _of_data_set(options.file, options.target)
    from ..io import load_explanations

    explanations = load_explanations(options.file)
    if options.target is None:
        return explanations
    targets = [target_name(each) for each in explanations]
    target = find(options.target, targets, f"explanation in {options.file} of")
    return [explanations[targets.index(target)]]


def target_name(explanation: Explanation) -> VariableId:
    """Return the target as a user names it; for one of many graphs, its position."""
    position = explanation.position
    return explanation.target if position is None else position


def _of_data_set(folder: Path, target: str | None) -> list[Explanation]:
    """Return the explanation of a target, or all explanations if they are not too many."""
    from ..dataset import ExplanationDataset

    data = ExplanationDataset(folder)
    if target is not None:
        return [data[_typed(target, data)]]
    if len(data) > _MOST_AT_ONCE:
        raise InputError(
            f"{folder} contains {len(data):,} explanations, and at most {_MOST_AT_ONCE:,} can be "
            f"shown at once; choose one with --target"
        )
    return list(data)


def _typed(text: str, data: ExplanationDataset) -> VariableId:
    """Parse a target of a data set: its name, ``304``, a pair ``3,5``, or ``author,5``."""
    if data.names is not None and data.task == "node":
        return find(text, data.names, f"node in {data.path} called")
    if data.names is not None:
        (pair,) = read_targets([text], data.task, len(data.names), data.names)
        return data.called(pair)
    words = [part.strip() for part in text.split(",")]
    numbers = [whole_number(word) for word in words]
    parts = tuple(word if at is None else at for word, at in zip(words, numbers, strict=True))
    return parts[0] if len(parts) == 1 else parts
