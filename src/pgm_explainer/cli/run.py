"""``pgm-explainer run``: explain many targets into a data set, and go on where it was stopped."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import InputError
from .loading import ExplainerPlace, load_targets, read_options

__all__ = ["configure", "run"]

_EPILOG = """\
examples:
  pgm-explainer run mymodel:explainer --output explanations
  pgm-explainer run mymodel:net --graph graph.npz --output explanations \\
      --engine processes --workers 4 --set num_samples=2000

Exit codes: 0 done, 2 stopped by an error (what is finished is safe),
130 stopped by Ctrl-C, 143 by SIGTERM.
"""
_TERMINATED = 128 + signal.SIGTERM


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Explain many targets into a folder of Parquet files. The job may be stopped at any time: "
        "the same command goes on where it was, and the result is the same."
    )
    parser.epilog = _EPILOG
    parser.add_argument("model", help="module:attribute of a model or explainer, or of its factory")
    parser.add_argument("--graph", type=Path, help=".npz file with x and edge_index")
    parser.add_argument("--output", type=Path, required=True, help="folder of the data set")
    parser.add_argument(
        "--targets", type=Path, help=".npy file, or text with one on a line; all nodes without it"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="option of PGMExplainer"
    )
    parser.add_argument("--engine", default="local", help="local, processes or ray")
    parser.add_argument("--workers", type=int, help="how many processes or actors")
    parser.add_argument("--address", help="of a Ray cluster; without it one is started here")
    parser.add_argument("--gpus", type=float, default=0, help="GPUs for each actor of Ray")
    parser.add_argument("--shard-size", type=int, default=500, help="explanations in a file")
    parser.add_argument("--keep-candidates", type=int, default=20, help="of each ranking")
    parser.add_argument("--features", action="store_true", help="explain features too")
    parser.add_argument("--retry-failed", action="store_true", help="do failed shards anew")
    parser.add_argument("--verbose", action="store_true", help="log every shard")


def run(options: argparse.Namespace) -> None:
    """Do the job, or what is left of it."""
    from ..dataset import explain_dataset

    logging.basicConfig(
        level=logging.INFO if options.verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(message)s",
    )
    sys.path.append(str(Path.cwd()))  # where a user's own modules are
    with _ended_by_sigterm():
        dataset = explain_dataset(
            ExplainerPlace(options.model, options.graph, read_options(options.set)),
            None if options.targets is None else load_targets(options.targets),
            options.output,
            engine=_engine(options),
            shard_size=options.shard_size,
            keep_candidates=options.keep_candidates,
            features=options.features,
            retry_failed=options.retry_failed,
        )
        summary = dataset.overview()
        page = options.output / "overview.html"
        summary.to_html(page)
    print(f"{summary}\n\nAs a page: {page}")


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """End on SIGTERM as on Ctrl-C: workers stopped, the folder let go, what is finished safe."""

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
        raise InputError("--address and --gpus are for --engine ray")
    if options.engine == "local":
        if options.workers is not None:
            raise InputError("--workers is for --engine processes and ray")
        return LocalEngine()
    if options.engine == "processes":
        return ProcessEngine(options.workers)
    if options.engine == "ray":
        return RayEngine(options.workers, options.address, options.gpus)
    return options.engine
