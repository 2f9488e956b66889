"""Writing explanations to files and to standard output."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..storage.checked import parse_json
from ..storage.files import as_text, read_file, write_figure, write_text
from .names import spelled
from .saved import target_name

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["add_outputs", "as_text_only", "check_outputs", "write_outputs"]

_DOTS_PER_INCH = 150
_EACH = "{target}"
"""The placeholder for the name of a target in a path, to write one file per target."""
_UNSAFE = re.compile(r"[^\w.,=+@ -]|^[.\s]+|[.\s]+$")
_LONGEST = 100


def add_outputs(parser: argparse._ActionsContainer) -> None:
    """Add the options for files, which :func:`check_outputs` and :func:`write_outputs` take."""
    parser.add_argument(
        "--output",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="write a file instead of printing text: .html (interactive), .json (can be loaded "
        "again), .csv (a row for each target), .png, .pdf or .svg; with {target} in its name, one "
        "for each target; repeatable",
    )
    parser.add_argument(
        "--report",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="write a one-page report: .md, .html, .docx or .pdf; with {target} in its name, "
        "one for each target; repeatable",
    )
    parser.add_argument(
        "--audience",
        default="manager",
        metavar="WHO",
        help="audience of reports and pages: manager (default) or engineer",
    )
    parser.add_argument(
        "--templates",
        type=Path,
        metavar="PATH",
        help="JSON file with your own sentences for reports and pages, by name; see docs/reason.md",
    )


def as_text_only(options: argparse.Namespace) -> bool:
    """Return whether explanations are printed as text, and no other output is requested."""
    return not (options.output or options.report or options.json)


def check_outputs(options: argparse.Namespace, count: int) -> None:
    """Check the options of :func:`add_outputs` before any work is done.

    Raises:
        InputError: a file has an unknown extension, no folder, or cannot hold ``count``
            explanations; or the audience or a template is unknown.
        FileError: the templates cannot be read.
    """
    from ..report.document import check_report
    from ..report.templates import templates_for

    for path in options.output:
        if path.suffix not in _WRITERS:
            raise InputError(f"{path}: the extension must be one of {', '.join(_WRITERS)}")
        one = "a plot shows" if _WRITERS[path.suffix] is _picture else ""
        _check_path(path, count, one, ", or write .html, .json or .csv")
    for path in options.report:
        check_report(path)
        _check_path(path, count, "a report is about")
    pages = [path for path in options.output if path.suffix == ".html"]
    if options.templates is not None and not (options.report or pages):
        raise InputError("--templates needs --report or a page, such as --output why.html")
    templates_for(options.audience, _templates(options))


def _check_path(path: Path, count: int, one: str, instead: str = "") -> None:
    """Check the folder of a file and, unless ``one`` is empty, that it is for one explanation."""
    if not isdir(path.parent):
        raise InputError(f"{path}: there is no folder {path.parent}; create it first")
    if one and count > 1 and _EACH not in path.name:
        each = path.with_name(f"{path.stem}-{_EACH}{path.suffix}")
        raise InputError(
            f"{path}: {one} one explanation, not {count}; give one target, or a name with {_EACH} "
            f"for one file each, such as '{each}'{instead}"
        )


def write_outputs(options: argparse.Namespace, explanations: Sequence[Explanation]) -> None:
    """Write the requested files, list them on standard error, and print the requested output."""
    for path in options.output:
        for place, some in _files(path, explanations):
            _WRITERS[place.suffix](place, some, options)
            number = "1 explanation" if len(some) == 1 else f"{len(some)} explanations"
            print(f"pgm-explainer: {number} written to {place}", file=sys.stderr)
    for path in options.report:
        for place, (one, *_) in _files(path, explanations):
            one.report(place, options.audience, _templates(options))
            print(f"pgm-explainer: report written to {place}", file=sys.stderr)
    if options.json:
        _print_json(explanations)
    elif as_text_only(options):
        print(f"\n\n{'-' * 88}\n\n".join(str(each) for each in explanations))


def _files(
    path: Path, explanations: Sequence[Explanation]
) -> Iterator[tuple[Path, Sequence[Explanation]]]:
    """Yield each file to write with its explanations; equal names of files get a number."""
    if _EACH not in path.name:
        yield path, explanations
        return
    seen: dict[str, int] = {}
    for each in explanations:
        name = path.name.replace(_EACH, _file_name(each))
        seen[name.lower()] = again = seen.get(name.lower(), 0) + 1
        place = path.with_name(name)
        yield (place if again == 1 else place.with_stem(f"{place.stem}-{again}")), [each]


def _file_name(explanation: Explanation) -> str:
    """Return the name of a target for use in a file name."""
    return _UNSAFE.sub("_", spelled(target_name(explanation)))[:_LONGEST] or "_"


def _templates(options: argparse.Namespace) -> Any:
    if options.templates is None:
        return None
    return read_file(
        options.templates, lambda document: parse_json(as_text(document), "correct the file")
    )


def _print_json(explanations: Sequence[Explanation]) -> None:
    """Print one explanation, or a list of them, as JSON."""
    from ..io import explanation_to_dict

    documents = [explanation_to_dict(each) for each in explanations]
    print(json.dumps(documents[0] if len(documents) == 1 else documents, allow_nan=False))


def _page(path: Path, explanations: Sequence[Explanation], options: argparse.Namespace) -> None:
    from ..report.html import to_html

    to_html(explanations, path, options.audience, _templates(options))


def _document(path: Path, explanations: Sequence[Explanation], _: argparse.Namespace) -> None:
    from ..io import save_explanations

    if len(explanations) == 1:
        explanations[0].save(path)
    else:
        save_explanations(path, explanations)


def _table(path: Path, explanations: Sequence[Explanation], _: argparse.Namespace) -> None:
    from ..report.summary import SUMMARY_COLUMNS

    text = io.StringIO(newline="")
    table = csv.DictWriter(text, SUMMARY_COLUMNS)
    table.writeheader()
    table.writerows(each.summary() for each in explanations)
    write_text(path, text.getvalue())


def _picture(path: Path, explanations: Sequence[Explanation], _: argparse.Namespace) -> None:
    import matplotlib.pyplot as plt

    figure = explanations[0].plot()
    write_figure(path, figure, _DOTS_PER_INCH)
    plt.close(figure)


_WRITERS: dict[str, Callable[[Path, Sequence[Explanation], argparse.Namespace], None]] = {
    ".html": _page,
    ".json": _document,
    ".csv": _table,
    ".png": _picture,
    ".pdf": _picture,
    ".svg": _picture,
}
