"""The command line."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from ..errors import PGMExplainerError
from . import demo, reproduce, run

__all__ = ["main"]

_INTERRUPTED = 128 + signal.SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="pgm-explainer",
        description="Explain the predictions of graph neural networks with Bayesian networks.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo.add_to(commands)
    run.add_to(commands)
    reproduce.add_to(commands)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except PGMExplainerError as error:
        print(f"pgm-explainer: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("pgm-explainer: stopped", file=sys.stderr)
        return _INTERRUPTED
    return 0
