"""What the commands on saved explanations have in common."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .names import find

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["add_file", "chosen"]


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which explanation of which file."""
    parser.add_argument("file", type=Path, metavar="FILE", help="JSON with explanations")
    parser.add_argument("--target", help="the target of the one explanation that is meant")
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def chosen(options: argparse.Namespace) -> list[Explanation]:
    """Return the explanations of the file, or only that of the target."""
    from ..io import load_explanations

    explanations = load_explanations(options.file)
    if options.target is None:
        return explanations
    targets = [each.target for each in explanations]
    target = find(options.target, targets, f"explanation in {options.file} of")
    return [explanations[targets.index(target)]]
