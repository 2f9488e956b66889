"""``pgm-explainer bench``: benchmarks of this package against others."""

from __future__ import annotations

import argparse

from pgm_explainer import PGMExplainerError

__all__ = ["SUMMARY", "configure", "run"]

SUMMARY = "benchmark this package against others"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Compare speed, memory and accuracy with other packages, and print a table."
    )
    parser.epilog = """\
examples:
  pgm-explainer bench                   all measurements: many minutes
  pgm-explainer bench structure growth  some of them
"""
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE", help="benchmarks to run; default: all"
    )


def run(options: argparse.Namespace) -> int:
    """Run the benchmarks; return the exit code, 2 if a suite is unknown."""
    try:
        from ..benchmarks.__main__ import main
    except ImportError as error:
        raise PGMExplainerError(
            f"the measurements need all compared packages: in a clone, run pip install "
            f"-e '.[test]' -e lab ({error})"
        ) from error
    return main(options.suites)
