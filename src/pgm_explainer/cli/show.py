"""``pgm-explainer show``: print saved explanations, or convert them to pages and pictures."""

from __future__ import annotations

import argparse
from os.path import isdir
from pathlib import Path

from ..errors import InputError
from .outputs import (
    add_report,
    check_outputs,
    check_reports,
    print_json,
    print_text,
    write_outputs,
    write_reports,
)
from .saved import add_file, chosen

__all__ = ["SUMMARY", "configure", "run"]

SUMMARY = "print saved explanations, or convert them to a page or a picture"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Print explanations that were saved as JSON or in a data set, or convert them to other "
        "formats. For a whole data set, its overview is printed. Files are never executed, and "
        "neither the model nor PyTorch is needed."
    )
    parser.epilog = """\
examples:
  pgm-explainer show why.json                              as text
  pgm-explainer show many.json --target 304                one of several
  pgm-explainer show many.json --output why.html           an interactive page
  pgm-explainer show why.json --output why.png             a picture
  pgm-explainer show why.json --report why.docx            the reason on one page
  pgm-explainer show why.json --json | jq .held            as JSON
  pgm-explainer show explanations                          overview of a data set
  pgm-explainer show explanations --target 304 --output why.html
"""
    add_file(parser)
    parser.add_argument(
        "--output",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="write a file instead of printing text: .html, .json, .png, .pdf or .svg; repeatable",
    )
    add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Load the explanations, and write or print them."""
    check_reports(options, 1)
    whole = options.target is None and not any((options.output, options.report, options.json))
    if whole and isdir(options.file):
        from ..dataset import ExplanationDataset

        print(ExplanationDataset(options.file).overview())
        return
    explanations = chosen(options)
    if not explanations:
        raise InputError(f"{options.file} contains no explanations")
    check_outputs(options.output, len(explanations))
    check_reports(options, len(explanations))
    write_outputs(options.output, explanations)
    write_reports(options, explanations)
    if options.json:
        print_json(explanations)
    elif not options.output and not options.report:
        print_text(explanations)
