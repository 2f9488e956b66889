"""The options of each command of studies."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = [
    "BUILT_IN",
    "add_analysing",
    "add_design",
    "add_importing",
    "add_making",
    "add_powering",
    "add_serving",
    "add_simulating",
]

BUILT_IN = ("mnist", "nodes")
"""Built-in studies, which are given by name."""


def add_making(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``make``."""
    parser.add_argument(
        "source",
        choices=(*BUILT_IN, "saved"),
        help="mnist: the paper's digits; nodes: Syn 6; saved: from --arm",
    )
    parser.add_argument(
        "--arm",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="for saved: explanations of an arm; repeat for each arm",
    )
    parser.add_argument("--output", type=Path, help="the study; default: SOURCE.json")
    parser.add_argument(
        "--static",
        type=Path,
        metavar="FILE.html",
        help="also write a page that works without a server",
    )
    parser.add_argument(
        "--static-raters", type=_count, default=20, help="sequences in that page; default: 20"
    )
    add_design(parser)


def add_design(parser: argparse.ArgumentParser) -> None:
    """Add the options of the design of a new study."""
    parser.add_argument(
        "--design",
        choices=("default", "paper"),
        default="default",
        help="paper: no control arms, checks or forecasts",
    )
    parser.add_argument("--items", type=_count, help="predictions; default: 48, for saved all")
    parser.add_argument("--parts", type=_count, default=3, help="parts that each arm highlights")
    parser.add_argument(
        "--arms-per-item",
        type=_count,
        help="in how many arms a rater rates an item; default: 3 (paper: all)",
    )
    parser.add_argument("--repeats", type=_from_zero, help="ratings shown twice; default: 6")
    parser.add_argument("--attention", type=_from_zero, help="attention checks; default: 3")
    parser.add_argument("--seed", type=_from_zero, default=0, help="for items, arms and orders")


def add_serving(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``serve``."""
    parser.add_argument("study", help="a study file; or mnist or nodes, which are made if needed")
    parser.add_argument("--answers", type=Path, help="the database; default: beside the study")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on; anything but the default is open to others",
    )
    parser.add_argument("--port", type=_from_zero, default=8000)
    parser.add_argument("--public-url", help="the address that raters use, behind a proxy")
    parser.add_argument("--open", action="store_true", help="open the browser")
    parser.add_argument("--max-raters", type=_count, help="maximum number of raters")
    parser.add_argument("--pilot", action="store_true", help="mark the answers as pilot data")
    parser.add_argument("--completion-code", help="code shown at the end, as Prolific uses it")
    parser.add_argument(
        "--completion-url", help="link shown at the end; default: Prolific's, if there is a code"
    )


def add_simulating(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``simulate``."""
    parser.add_argument("study", type=Path)
    parser.add_argument("--answers", type=Path, help="default: beside the study, .simulated.sqlite")
    parser.add_argument("--raters", type=_count, default=10)
    parser.add_argument("--seed", type=_from_zero, default=0)


def add_analysing(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``report`` and ``export``."""
    parser.add_argument("study", type=Path)
    parser.add_argument("--answers", type=Path, help="the database; default: beside the study")
    parser.add_argument("--output", type=Path, help="folder; default: beside the study")
    parser.add_argument("--pilot", action="store_true", help="use the answers of the pilot instead")


def add_importing(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``import``."""
    parser.add_argument("study", type=Path)
    parser.add_argument("files", type=Path, nargs="+", help="files of answers from static pages")
    parser.add_argument("--answers", type=Path, help="the database; default: beside the study")


def add_powering(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``power``."""
    parser.add_argument(
        "--effect", type=_number, required=True, help="difference of two arms, in points"
    )
    parser.add_argument("--raters", type=_count, nargs="+", default=[5, 10, 15, 20, 30, 50])
    parser.add_argument("--items", type=_count, nargs="+", default=[12, 24, 48, 96])
    parser.add_argument(
        "--share",
        type=_number,
        default=0.75,
        help="share of the arms in which a rater rates an item; default: 3 of 4",
    )
    parser.add_argument("--comparisons", type=_count, default=3, help="planned contrasts")
    parser.add_argument(
        "--power",
        type=_number,
        default=0.8,
        help="power for the number of raters needed; default: 0.8",
    )
    parser.add_argument("--sd-rater-arm", type=_number, default=0.8)
    parser.add_argument("--sd-item-arm", type=_number, default=1.0)
    parser.add_argument("--sd-error", type=_number, default=2.0)


def _count(text: str) -> int:
    return _whole(text, 1)


def _from_zero(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10) or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a whole number from {least}")
    return int(text)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < 1e6:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a number")
    return value
