"""``pgm-explainer show``: saved explanations in words, as a page, as a picture."""

from __future__ import annotations

import argparse
from os.path import isdir
from pathlib import Path

from ..errors import InputError
from .outputs import check_outputs, print_json, print_words, write_outputs
from .saved import add_file, chosen

__all__ = ["SUMMARY", "configure", "run"]

SUMMARY = "show saved explanations in words, or turn them into a page or a picture"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Show explanations that were saved as JSON or in a data set: in words, or as files of "
        "other kinds. Of a whole data set the words are its overview. Nothing in a file is "
        "executed, and neither the model nor PyTorch is needed."
    )
    parser.epilog = """\
examples:
  pgm-explainer show why.json                              in words
  pgm-explainer show many.json --target 304                one of many
  pgm-explainer show many.json --output why.html           an interactive page
  pgm-explainer show why.json --output why.png             a picture
  pgm-explainer show why.json --json | jq .held            for machines
  pgm-explainer show explanations                          what a data set says as a whole
  pgm-explainer show explanations --target 304 --output why.html
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
    whole = options.target is None and not options.output and not options.json
    if whole and isdir(options.file):
        from ..dataset import ExplanationDataset

        print(ExplanationDataset(options.file).overview())
        return
    explanations = chosen(options)
    if not explanations:
        raise InputError(f"{options.file} holds no explanation")
    check_outputs(options.output, len(explanations))
    write_outputs(options.output, explanations)
    if options.json:
        print_json(explanations)
    elif not options.output:
        print_words(explanations)
