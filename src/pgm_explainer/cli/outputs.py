"""Writing explanations to files and to standard output."""

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

__all__ = ["check_outputs", "print_json", "print_text", "write_outputs"]

_DOTS_PER_INCH = 150


def check_outputs(paths: Sequence[Path], count: int) -> None:
    """Check the output files before any work is done.

    Raises:
        InputError: a file has an unknown extension, no folder, or cannot hold several explanations.
    """
    for path in paths:
        if path.suffix not in _WRITERS:
            raise InputError(f"{path}: the extension must be one of {', '.join(_WRITERS)}")
        if not isdir(path.parent):
            raise InputError(f"{path}: there is no folder {path.parent}")
        if count > 1 and _WRITERS[path.suffix] is _picture:
            raise InputError(
                f"{path}: a picture shows one explanation, not {count}; give one target, or write "
                f".html or .json"
            )


def write_outputs(paths: Sequence[Path], explanations: Sequence[Explanation]) -> None:
    """Write the explanations to each file, in the format of its extension, and report it."""
    number = "1 explanation" if len(explanations) == 1 else f"{len(explanations)} explanations"
    for path in paths:
        _WRITERS[path.suffix](path, explanations)
        print(f"pgm-explainer: {number} written to {path}", file=sys.stderr)


def print_json(explanations: Sequence[Explanation]) -> None:
    """Print one explanation, or a list of them, as JSON."""
    from ..io import explanation_to_dict

    documents = [explanation_to_dict(each) for each in explanations]
    print(json.dumps(documents[0] if len(documents) == 1 else documents, allow_nan=False))


def print_text(explanations: Sequence[Explanation]) -> None:
    """Print the explanations as text, separated by lines."""
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
