"""``pgm-explainer show``: saved explanations in words, as a page, as a picture."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InputError
from .outputs import check_outputs, print_json, print_words, write_outputs
from .saved import add_file, chosen

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Show explanations that were saved as JSON: in words, or as files of other kinds. Nothing "
        "in the file is executed, and neither the model nor PyTorch is needed."
    )
    parser.epilog = """\
examples:
  pgm-explainer show why.json                              in words
  pgm-explainer show many.json --target 304                one of many
  pgm-explainer show many.json --output why.html           a page to ask
  pgm-explainer show why.json --output why.png             a picture
  pgm-explainer show why.json --json | jq .held            for machines
"""
    add_file(parser)
    parser.add_argument(
        "--output",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="write this file instead of words: .html, .json, .png, .pdf or .svg; repeatable",
    )


def run(options: argparse.Namespace) -> None:
    """Read, choose and show."""
    explanations = chosen(options)
    if not explanations:
        raise InputError(f"{options.file} holds no explanation")
    check_outputs(options.output, len(explanations))
    write_outputs(options.output, explanations)
    if options.json:
        print_json(explanations)
    elif not options.output:
        print_words(explanations)
