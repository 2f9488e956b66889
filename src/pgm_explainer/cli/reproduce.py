"""``pgm-explainer reproduce``: the paper's experiments, resumable, with its figures beside ours."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

__all__ = ["add_to"]

_NAMES = ("table1", "table2", "table3", "all")


def add_to(commands: Any) -> None:
    """Add this command to the parser's."""
    parser = commands.add_parser(
        "reproduce",
        help="the paper's experiments; run it again to go on after a stop",
        description="Compute the paper's tables by the package's defaults, with the paper's "
        "figures and the rivals beside. What is computed is kept in the output folder: after a "
        "stop the same command goes on where it was.",
        epilog="Example: pgm-explainer reproduce table2 --seeds 5 --no-rivals",
    )
    parser.add_argument("name", choices=_NAMES, help="what to reproduce")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds (default: 5)")
    parser.add_argument("--quick", action="store_true", help="one seed, few targets for rivals")
    parser.add_argument("--no-rivals", action="store_true", help="PGM-Explainer only")
    parser.add_argument(
        "--rival-targets", type=int, default=40, help="targets that rivals explain, of each set"
    )
    parser.add_argument("--rival-seeds", type=int, help="seeds for the rivals (default: as many)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--data", type=Path, help="data folder (default: PGM_EXPLAINER_DATA)")
    parser.add_argument("--output", type=Path, default=Path("reproduced"), help="folder of results")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from ..experiments.reproduce import Plan, compute, write_report

    plan = Plan(
        options.output,
        options.data,
        rival_targets=5 if options.quick else options.rival_targets,
    )
    results = compute(_cells(options), plan, options.workers)
    (options.output / "results.json").write_text(json.dumps(results, indent=1))
    command = f"pgm-explainer reproduce {options.name} --seeds {options.seeds}"
    page = options.output / "experiments.md"
    text = write_report(results, page, command)
    print(json.dumps(results) if options.json else f"{text}\nAs a page: {page}")


def _cells(options: argparse.Namespace) -> list[Any]:
    from ..experiments.bitcoin import BITCOIN
    from ..experiments.reproduce.cells import PGM, RIVALS, Cell
    from ..experiments.synthetic import SYNTHETIC

    places = [(name, 3) for name in SYNTHETIC] if options.name != "table3" else []
    if options.name != "table2":
        places += [(name, hops) for name in BITCOIN for hops in (1, 3)]
    seeds = 1 if options.quick else options.seeds
    cells = [Cell(name, seed, PGM, hops) for seed in range(seeds) for name, hops in places]
    if options.no_rivals or options.name == "table1":
        return cells
    rival_seeds = min(seeds, options.rival_seeds or seeds)
    return cells + [
        Cell(name, seed, rival, hops)
        for seed in range(rival_seeds)
        for name, hops in places
        for rival in RIVALS
    ]
