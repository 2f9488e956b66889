"""``pgm-explainer run``: explain many targets into a data set, with resume."""

from __future__ import annotations

import argparse
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import InputError
from .explainers import SOURCES, NamedExplainer, add_explainer, check_counterfactual
from .targets import add_targets, named_targets

__all__ = ["SUMMARY", "configure", "run"]

SUMMARY = "explain many targets into a data set; run again to resume"

_EPILOG = f"""\
{SOURCES}
Node names in the graph file are stored with the data set. Its columns contain
node numbers, counted from 0 in the order of the graph file.

examples:
  pgm-explainer run --model mymodel:explainer --output explanations
  pgm-explainer run --model mymodel:net --graph graph.npz --num-samples 2000 \\
      --output explanations --engine processes --workers 4
  pgm-explainer run --model mymodel:net --features people.csv \\
      --edges friends.csv --targets-file accounts.txt --output explanations
  pgm-explainer run --model mymodel:gin --graph molecules --task graph \\
      --parts edges --output explanations

Exit codes: 0 success, 2 stopped by an error (finished work is saved),
130 stopped by Ctrl-C, 143 by SIGTERM.
"""
_TERMINATED = 128 + signal.SIGTERM


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Explain many targets into a folder of Parquet files. The job may be stopped at any time: "
        "the same command resumes it, and the result is the same."
    )
    parser.epilog = _EPILOG
    parser.usage = "%(prog)s --model MODEL --graph PATH --output FOLDER [options]"
    # An alias of --model, which must not overwrite it when absent.
    parser.add_argument("model", nargs="?", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    add_explainer(parser)
    add_targets(parser, without="default: all nodes, or all graphs")
    job = parser.add_argument_group("job")
    job.add_argument(
        "--output", type=Path, required=True, metavar="FOLDER", help="folder of the data set"
    )
    job.add_argument("--engine", default="local", help="local, processes or ray")
    job.add_argument("--workers", type=int, metavar="N", help="number of processes or Ray actors")
    job.add_argument(
        "--address", help="address of a Ray cluster; default: start one on this machine"
    )
    job.add_argument("--gpus", type=float, default=0, help="GPUs per Ray actor")
    job.add_argument(
        "--shard-size", type=int, default=500, metavar="N", help="explanations per file"
    )
    job.add_argument(
        "--keep-candidates",
        type=int,
        default=20,
        metavar="N",
        help="number of candidates to store of each ranking",
    )
    job.add_argument("--explain-features", action="store_true", help="explain features too")
    job.add_argument(
        "--counterfactual",
        action="store_true",
        help="also search for a smallest set of parts that changes each prediction",
    )
    job.add_argument("--retry-failed", action="store_true", help="repeat shards with failures")
    job.add_argument("--verbose", action="store_true", help="log every shard")


def run(options: argparse.Namespace) -> None:
    """Run the job, or resume it."""
    from ..dataset import explain_dataset

    logging.basicConfig(
        level=logging.INFO if options.verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(message)s",
    )
    engine = _engine(options)
    with _ended_by_sigterm():
        named = NamedExplainer.of(options)
        if options.counterfactual:
            check_counterfactual(named())
        if named().settings.model.task == "graph" and named().offsets is None:
            raise InputError(
                "a graph task has a single target: use pgm-explainer explain, or give a folder or "
                "list of graphs"
            )
        dataset = explain_dataset(
            named,
            named_targets(options, named),
            options.output,
            engine=engine,
            shard_size=options.shard_size,
            keep_candidates=options.keep_candidates,
            with_features=options.explain_features,
            with_counterfactual=options.counterfactual,
            names=named.node_names,
            retry_failed=options.retry_failed,
        )
        summary = dataset.overview()
        page = options.output / "overview.html"
        summary.to_html(page)
    print(f"{summary}\n\nOverview page: {page}")


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C: stop the workers, release the folder, keep finished work."""

    def end(*_: Any) -> None:
        raise SystemExit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _engine(options: argparse.Namespace) -> Any:
    from ..engines import LocalEngine, ProcessEngine, RayEngine

    if options.engine != "ray" and (options.address is not None or options.gpus):
        raise InputError("--address and --gpus need --engine ray")
    if options.engine == "local":
        if options.workers is not None:
            raise InputError("--workers needs --engine processes or ray")
        return LocalEngine()
    if options.engine == "processes":
        return ProcessEngine(options.workers)
    if options.engine == "ray":
        return RayEngine(options.workers, options.address, options.gpus)
    return options.engine
