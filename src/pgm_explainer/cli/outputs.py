"""Writing explanations to files and to standard output."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..storage.checked import parse_json
from ..storage.files import as_text, read_file, write_figure

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = [
    "add_report",
    "check_outputs",
    "check_reports",
    "print_json",
    "print_text",
    "write_outputs",
    "write_reports",
]

_DOTS_PER_INCH = 150


def check_outputs(paths: Sequence[Path], count: int) -> None:
    """Check the output files before any work is done.

    Raises:
        InputError: a file has an unknown extension, no folder, or cannot hold several explanations.
    """
    for path in paths:
        if path.suffix not in _WRITERS:
            raise InputError(f"{path}: the extension must be one of {', '.join(_WRITERS)}")
        _check_folder(path)
        if count > 1 and _WRITERS[path.suffix] is _picture:
            raise InputError(
                f"{path}: a picture shows one explanation, not {count}; give one target, or write "
                f".html or .json"
            )


def _check_folder(path: Path) -> None:
    if not isdir(path.parent):
        raise InputError(f"{path}: there is no folder {path.parent}")


def add_report(parser: argparse._ActionsContainer) -> None:
    """Add the options of a report."""
    parser.add_argument(
        "--report",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="write the reason on one page, for one target: .md, .html, .docx or .pdf; repeatable",
    )
    parser.add_argument(
        "--audience",
        default="manager",
        metavar="WHO",
        help="words of a report: manager (default) or engineer",
    )
    parser.add_argument(
        "--templates",
        type=Path,
        metavar="PATH",
        help="JSON file with own sentences for a report, by name; see docs/reason.md",
    )


def check_reports(options: argparse.Namespace, count: int) -> None:
    """Check the options of a report before any work is done.

    Raises:
        InputError: an extension, the audience or a template is unknown, there is no such folder, or
            a report would be about several explanations.
        FileError: the templates cannot be read.
    """
    from ..report.document import check_report
    from ..report.templates import templates_for

    for path in options.report:
        check_report(path)
        _check_folder(path)
        if count > 1:
            raise InputError(
                f"{path}: a report is about one explanation, not {count}; give one target"
            )
    if options.templates is not None and not options.report:
        raise InputError("--templates needs --report")
    templates_for(options.audience, _templates(options))


def write_reports(options: argparse.Namespace, explanations: Sequence[Explanation]) -> None:
    """Write a report of the one explanation to each file, and say so."""
    for path in options.report:
        explanations[0].report(path, options.audience, _templates(options))
        print(f"pgm-explainer: report written to {path}", file=sys.stderr)


def _templates(options: argparse.Namespace) -> Any:
    if options.templates is None:
        return None
    return read_file(
        options.templates, lambda document: parse_json(as_text(document), "correct the file")
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
