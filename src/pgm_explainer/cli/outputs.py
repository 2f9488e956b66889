"""Explanations to files and to standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..storage.files import write_figure

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["check_outputs", "print_json", "print_words", "write_outputs"]

_DOTS_PER_INCH = 150


def check_outputs(paths: Sequence[Path], count: int) -> None:
    """Refuse, before any work is done, a file that could not be written in the end."""
    for path in paths:
        if path.suffix not in _WRITERS:
            raise InputError(f"{path}: a file for an explanation ends in {', '.join(_WRITERS)}")
        if not isdir(path.parent):
            raise InputError(f"{path}: there is no folder {path.parent}")
        if count > 1 and _WRITERS[path.suffix] is _picture:
            raise InputError(
                f"{path}: a picture shows one explanation, but there are {count}; name one target, "
                f"or write .html or .json, which hold all"
            )


def write_outputs(paths: Sequence[Path], explanations: Sequence[Explanation]) -> None:
    """Write the explanations to each file, in the format that its ending says, and say so."""
    number = "1 explanation" if len(explanations) == 1 else f"{len(explanations)} explanations"
    for path in paths:
        _WRITERS[path.suffix](path, explanations)
        print(f"pgm-explainer: {number} written to {path}", file=sys.stderr)


def print_json(explanations: Sequence[Explanation]) -> None:
    """Print what a JSON file would hold: one explanation, or a list of them."""
    from ..io import explanation_to_dict

    documents = [explanation_to_dict(each) for each in explanations]
    print(json.dumps(documents[0] if len(documents) == 1 else documents, allow_nan=False))


def print_words(explanations: Sequence[Explanation]) -> None:
    """Print the explanations in words, a line between any two."""
    print(f"\n\n{'-' * 88}\n\n".join(str(each) for each in explanations))


def _page(path: Path, explanations: Sequence[Explanation]) -> None:
    from ..report.html import to_html

    to_html(explanations, path)


def _document(path: Path, explanations: Sequence[Explanation]) -> None:
    from ..io import save_explanations

    if len(explanations) == 1:
        explanations[0].save(path)
    else:
        save_explanations(path, explanations)


def _picture(path: Path, explanations: Sequence[Explanation]) -> None:
    write_figure(path, explanations[0].plot(), _DOTS_PER_INCH)


_WRITERS: dict[str, Callable[[Path, Sequence[Explanation]], None]] = {
    ".html": _page,
    ".json": _document,
    ".png": _picture,
    ".pdf": _picture,
    ".svg": _picture,
}
