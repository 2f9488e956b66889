"""``pgm-explainer show``: print saved explanations, or convert them to pages and pictures."""

from __future__ import annotations

import argparse
from os.path import isdir

from ..errors import InputError
from .outputs import add_outputs, as_text_only, check_outputs, write_outputs
from .saved import add_file, load_chosen

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
  pgm-explainer show many.json --report '{target}.docx'    one page for each
  pgm-explainer show why.json --json | jq .held            as JSON
  pgm-explainer show explanations                          overview of a data set
  pgm-explainer show explanations --output reasons.csv     a table of all of them
  pgm-explainer show explanations --target 304 --output why.html
"""
    add_file(parser)
    add_outputs(parser)


def run(options: argparse.Namespace) -> None:
    """Load the explanations, and write or print them."""
    check_outputs(options, 1)
    if options.target is None and as_text_only(options) and isdir(options.file):
        from ..dataset import ExplanationDataset

        print(ExplanationDataset(options.file).overview())
        return
    explanations = load_chosen(options)
    if not explanations:
        raise InputError(f"{options.file} contains no explanations")
    check_outputs(options, len(explanations))
    write_outputs(options, explanations)
