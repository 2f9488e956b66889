"""The command line: a table of commands, exit codes, errors and warnings.

A command is a module with a one-line ``SUMMARY``, a function ``configure(parser)`` that adds its
options, and a function ``run(options)`` that does the work and returns an exit code, or None for
success. Heavy imports belong in ``run``. Other packages add commands by entry points
(:mod:`.plugins`).
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from ..errors import PGMExplainerError, PGMExplainerWarning
from ..versions import __version__
from . import explain, query, run, show
from .plugins import installed_commands

__all__ = ["main"]

COMMANDS: dict[str, Any] = {"explain": explain, "show": show, "query": query, "run": run}
"""The commands of this package."""

_WRONG, _BROKEN_PIPE, _INTERRUPTED = 2, 141, 130
"""Exit codes; the last two are what a shell reports for the signals PIPE and INT."""

_EPILOG = """\
examples:
  pgm-explainer explain --model mymodel:net --graph graph.npz --target 304 \\
      --output why.html --output why.json
  pgm-explainer show why.json
  pgm-explainer query why.json --given 300=kept
  pgm-explainer run --model mymodel:explainer --output explanations

For the options of a command: pgm-explainer explain --help
Exit codes: 0 success, 2 wrong usage or input, 130 interrupted, 143 terminated.
Warnings and errors go to standard error.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    try:
        with _short_warnings():
            words = sys.argv[1:] if arguments is None else list(arguments)
            options = _parser(words).parse_args(words)
            code = options.run(options)
            sys.stdout.flush()
        return code or 0
    except PGMExplainerError as error:
        print(f"pgm-explainer: error: {_one_line(error)}", file=sys.stderr)
        return _WRONG
    except MemoryError as error:
        print(
            f"pgm-explainer: error: out of memory; lower max_memory or samples_per_call, or use a "
            f"machine with more memory ({_one_line(error)})",
            file=sys.stderr,
        )
        return _WRONG
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of the output, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE


class _Help(argparse.HelpFormatter):
    """Help that wraps paragraphs but keeps the line breaks of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class _Parser(argparse.ArgumentParser):
    """A parser with examples in its help and errors on one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(_WRONG, f"pgm-explainer: error: {_one_line(message)}; see {self.prog} --help\n")


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser for a command line.

    Looking up the commands of other packages takes time, so it is done only if the command is not
    one of this package.
    """
    wanted = words[0] if words else None
    others = {} if wanted in COMMANDS else installed_commands(wanted)
    table = {**others, **COMMANDS}  # other packages cannot replace these commands

    parser = _Parser(
        prog="pgm-explainer",
        description="Explain the predictions of graph neural networks with probabilistic graphical "
        "models.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, command in table.items():
        subparser = commands.add_parser(name, help=command.SUMMARY)
        subparser.set_defaults(run=command.run)
        command.configure(subparser)
    return parser


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Print each warning on one line of standard error, without its source location."""

    def say(message: Warning | str, *_place: Any, **_more: Any) -> None:
        print(f"pgm-explainer: warning: {_one_line(message)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", PGMExplainerWarning)
        warnings.showwarning = say
        yield


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
