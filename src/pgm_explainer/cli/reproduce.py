"""``pgm-explainer reproduce``: the paper's experiments, resumable, with its figures beside ours."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.files import write_text

if TYPE_CHECKING:
    from ..experiments.reproduce import Plan

__all__ = ["configure", "run"]

_EPILOG = """\
examples:
  pgm-explainer reproduce table2 --no-rivals
  pgm-explainer reproduce all --quick
"""
_TRAINED_ON = 55_000  # the other 5,000 choose the epoch
_HOPS = {"paper": (1,), "strict": (3,), "both": (1, 3)}
_TABLES = ("table1", "table2", "table3")
_SECTIONS = ("figures", "beyond", "ablation", "mnist")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Compute the paper's tables by the package's defaults, with the paper's figures and the "
        "rivals beside. What is computed is kept in the output folder: after a stop the same "
        "command goes on where it was."
    )
    parser.epilog = _EPILOG
    parser.add_argument("name", choices=(*_TABLES, *_SECTIONS, "all"), help="what to reproduce")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds (default: 5)")
    parser.add_argument("--quick", action="store_true", help="one seed, few targets for rivals")
    parser.add_argument("--no-rivals", action="store_true", help="PGM-Explainer only")
    parser.add_argument(
        "--rival-targets", type=int, default=40, help="targets that rivals explain, of each set"
    )
    parser.add_argument("--rival-seeds", type=int, help="seeds for the rivals (default: as many)")
    parser.add_argument(
        "--train", action="store_true", help="mnist: train the network anew (an hour)"
    )
    parser.add_argument(
        "--protocol",
        choices=tuple(_HOPS),
        default="both",
        help="Bitcoin: candidates within one hop (paper), three (strict), or both",
    )
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--data", type=Path, help="data folder (default: PGM_EXPLAINER_DATA)")
    parser.add_argument("--output", type=Path, default=Path("reproduced"), help="folder of results")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(options: argparse.Namespace) -> None:
    """Compute what is missing, and write the page."""
    from ..experiments.reproduce import Plan, compute, write_report

    plan = Plan(options.output, options.data, 5 if options.quick else options.rival_targets)
    (options.output / "cells").mkdir(parents=True, exist_ok=True)
    (options.output / "models").mkdir(exist_ok=True)
    if options.name == "mnist" and options.train:
        _train(options)
        return
    results = compute(_cells(options), plan, options.workers)
    write_text(options.output / "results.json", json.dumps(results, indent=1))
    page = options.output / "experiments.md"
    text = write_report(results, list(_sections(options, plan)), page, _command(options))
    print(json.dumps(results) if options.json else f"{text}\nAs a page: {page}")


def _sections(options: argparse.Namespace, plan: Plan) -> Iterator[str]:
    wanted = _SECTIONS if options.name == "all" else (options.name,)
    seeds = range(1 if options.quick else options.seeds)
    if "figures" in wanted:
        from ..experiments.reproduce.figures import syn6_example

        yield syn6_example(plan)
    if "beyond" in wanted:
        from ..experiments.reproduce.beyond import beyond

        yield beyond(plan)
    if "ablation" in wanted:
        from ..experiments.reproduce.ablation import ablation

        yield ablation(plan, seeds, options.workers)
    if "mnist" in wanted:
        from ..experiments.reproduce.figures import mnist

        yield mnist(plan, 10 if options.quick else 100)


def _train(options: argparse.Namespace) -> None:
    """Train the network for superpixels, which takes the better part of an hour on two cores."""
    from safetensors.torch import save_file

    from ..experiments.superpixel_training import right_share, train_superpixel_gcn
    from ..experiments.superpixels import mnist_graphs

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    graphs = mnist_graphs("train", options.data, workers=options.workers)
    model = train_superpixel_gcn(graphs[:_TRAINED_ON], graphs[_TRAINED_ON:])
    path = options.output / "superpixel_gcn.safetensors"
    save_file(model.state_dict(), path)
    share = right_share(model, mnist_graphs("test", options.data, workers=options.workers))
    print(f"{share:.2%} of the test digits are right; the weights are in {path}")


def _command(options: argparse.Namespace) -> str:
    parts = ["pgm-explainer reproduce", options.name, f"--seeds {options.seeds}"]
    if options.rival_seeds is not None:
        parts.append(f"--rival-seeds {options.rival_seeds}")
    if options.protocol != "both":
        parts.append(f"--protocol {options.protocol}")
    parts += ["--quick"] * options.quick + ["--no-rivals"] * options.no_rivals
    return " ".join(parts)


def _cells(options: argparse.Namespace) -> list[Any]:
    from ..experiments.bitcoin import BITCOIN
    from ..experiments.reproduce.cells import PGM, RIVALS, Cell
    from ..experiments.synthetic import SYNTHETIC

    if options.name not in (*_TABLES, "all"):
        return []
    places = [(name, 3) for name in SYNTHETIC] if options.name != "table3" else []
    if options.name != "table2":
        places += [(name, hops) for name in BITCOIN for hops in _HOPS[options.protocol]]
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
