"""``pgm-explainer demo``: train a model, explain a prediction and query the explanation."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgm_explainer import FileError, PGMExplainerError

from ..files import write_figure

if TYPE_CHECKING:
    from pgm_explainer import Explanation
    from pgm_explainer.sampling import VariableId

__all__ = ["SUMMARY", "configure", "run"]

SUMMARY = "train a small model and explain one of its predictions"

_TARGET = 304


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Train the paper's network on Syn 6, explain one node with and without the no-child "
        "constraint, run a few queries and draw a picture of each explanation. Takes about a "
        "minute."
    )
    parser.epilog = """\
examples:
  pgm-explainer demo
  pgm-explainer demo --seed 1 --output pictures
"""
    parser.add_argument("--output", type=Path, default=Path("out"), help="folder for the pictures")
    parser.add_argument("--epochs", type=int, default=1000, help="epochs of training")
    parser.add_argument("--seed", type=int, default=0, help="for data, model and samples")


def run(options: argparse.Namespace) -> None:
    """Train, explain, query and draw."""
    try:
        from pgm_explainer import PGMExplainer

        from .. import gnn, synthetic
    except ImportError as error:
        raise PGMExplainerError(
            f"the demo needs PyTorch, networkx and matplotlib: in a clone, run "
            f"pip install -e . -e lab ({error})"
        ) from error

    _make_folder(options.output)  # checked first, since training takes a minute
    data = synthetic.make_synthetic("syn6", options.seed)
    print(f"Syn 6: {len(data.x)} nodes, 80 bottle-shaped motifs on a scale-free graph.")
    model, seconds = _timed(gnn.train, data, options.seed, options.epochs)
    trained, tested = gnn.accuracy(model, data)
    print(
        f"Trained in {seconds:.1f} s; accuracy {trained:.1%} on training nodes, "
        f"{tested:.1%} on other nodes."
    )
    truth = [int(node) for node in data.explanation(_TARGET) if node != _TARGET]
    print(f"Node {_TARGET} belongs to a motif with {truth}, which is the true explanation.\n")

    for no_child in (True, False):
        explainer = PGMExplainer(
            gnn.as_function(model),
            data.x,
            data.edge_index,
            num_layers=3,
            no_child=no_child,
            seed=options.seed,
        )
        explanation, seconds = _timed(explainer.explain, _TARGET)
        words = "as a leaf (no-child)" if no_child else "free to have children"
        print(f"--- The target {words}, explained in {seconds:.1f} s\n\n{explanation}\n")
        _query(explanation)
        path = options.output / f"node-{_TARGET}-{'no-child' if no_child else 'free'}.png"
        write_figure(path, explanation.plot(), dpi=150)
        page = path.with_suffix(".html")
        explanation.to_html(page)
        print(f"Picture: {path}\nPage: {page}\n")


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a ValueError for a null character
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path} cannot be the folder for the pictures: {reason}") from error


def _query(explanation: Explanation) -> None:
    """Run a few queries, as in the paper's first figure."""
    first, second = explanation.nodes[:2]
    queries: list[dict[VariableId, str]] = [
        {},
        {first: "original, kept"},
        {first: "original, kept", second: "kept"},
        {second: "perturbed"},
    ]
    print("Probability that the prediction is kept:")
    for evidence in queries:
        facts = "; ".join(f"{node} is {what}" for node, what in evidence.items())
        given = f"if {facts}" if facts else "without evidence"
        print(f"  {explanation.query(evidence):6.1%}  {given}")


def _timed(function: Any, *arguments: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start
