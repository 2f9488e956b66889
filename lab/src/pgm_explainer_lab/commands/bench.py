"""``pgm-explainer bench``: the measurements of a clone."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from ..errors import PGMExplainerError

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Measure speed, memory and accuracy against the peers, and print a table. The measurements "
        "are part of a clone, not of the installed package: call this in the clone's folder."
    )
    parser.epilog = """\
examples:
  pgm-explainer bench                   all measurements: many minutes
  pgm-explainer bench structure growth  some of them
"""
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="what to measure; all if none")


def run(options: argparse.Namespace) -> int:
    """Run the measurements; 0 if all bounds were met, 1 if not."""
    if not Path("benchmarks", "__main__.py").is_file():
        raise PGMExplainerError(
            f"there is no folder 'benchmarks' in {Path.cwd()}: call this in a clone of the package"
        )
    sys.path.insert(0, str(Path.cwd()))
    try:
        suites = importlib.import_module("benchmarks.__main__")
    except ImportError as error:
        raise PGMExplainerError(
            f"the measurements need all peers: pip install '.[test]' ({error})"
        ) from error
    return int(suites.main(options.suites))
