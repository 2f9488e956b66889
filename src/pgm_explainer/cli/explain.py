"""``pgm-explainer explain``: explain predictions of a model."""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING, Any

from ..errors import InputError, PGMExplainerWarning
from .explainers import SOURCES, NamedExplainer, add_explainer, check_counterfactual
from .outputs import add_outputs, as_text_only, check_outputs, write_outputs
from .targets import add_targets, named_targets

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["SUMMARY", "configure", "run"]

SUMMARY = "explain predictions of your own model"

_EPILOG = f"""\
{SOURCES}
examples:
  pgm-explainer explain --model mymodel:net --graph g.npz --target 304
  pgm-explainer explain --model mymodel:Net --weights net.safetensors \\
      --graph data.pt --target 300-310 400 --output why.html --output why.json
  pgm-explainer explain --model mymodel:net --features people.csv \\
      --edges friends.csv --undirected --target Ann Bob --class-names yes,no
  pgm-explainer explain --model mymodel:links --graph g.npz --task edge \\
      --target 3,5
  pgm-explainer explain --model mymodel:net --graph g.npz --target 304 \\
      --explain-features
  pgm-explainer explain --model mymodel:net --graph g.npz --target 304 \\
      --parts edges
  pgm-explainer explain --model mymodel:net --graph g.npz --target 304 \\
      --counterfactual --report why.docx --report why.pdf
  pgm-explainer explain --model mymodel:net --graph g.npz \\
      --targets-file flagged.txt --report 'reports/{{target}}.docx'
  pgm-explainer explain --model model.pt2 --trust --graph molecule.npz \\
      --task graph --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Explain predictions of a model on a graph: the effect of perturbing each node, the nodes "
        "that the prediction statistically depends on, and a network of these. Without "
        "--output, the explanations are printed as text."
    )
    parser.usage = "%(prog)s --model MODEL --graph PATH --target TARGET ... [options]"
    parser.epilog = _EPILOG
    add_explainer(parser)
    add_targets(parser, without="none in a graph task")
    parser.add_argument(
        "--explain-features",
        action="store_true",
        help="also explain which features of the target and of the nodes of the network matter",
    )
    parser.add_argument(
        "--counterfactual",
        action="store_true",
        help="also search for a smallest set of parts that changes the prediction, and include it "
        "in every output",
    )
    output = parser.add_argument_group("output")
    add_outputs(output)
    output.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> None:
    """Read the inputs, explain, and write or print the explanations."""
    check_outputs(options, 1)
    named = NamedExplainer.of(options)
    targets = _targets(options, named)
    check_outputs(options, len(targets))
    with warnings.catch_warnings():
        if as_text_only(options):  # the text includes the warnings
            warnings.simplefilter("ignore", PGMExplainerWarning)
        explanations = _explain(named, targets, options)
    write_outputs(options, explanations)


def _targets(options: argparse.Namespace, named: NamedExplainer) -> list[Any]:
    targets = named_targets(options, named)
    if targets is None and (named().settings.model.task != "graph" or named().offsets is not None):
        raise InputError("no target was given: add --target 304, or --target all")
    return targets or [None]


def _explain(
    named: NamedExplainer, targets: list[Any], options: argparse.Namespace
) -> list[Explanation]:
    explainer, names = named(), named.node_names
    if options.counterfactual:
        check_counterfactual(explainer)
    with_features = options.explain_features
    if len(targets) > 1:
        found = explainer.explain_many(targets, with_features=with_features)
    else:
        found = [explainer.explain(targets[0], with_features=with_features)]
    if options.counterfactual:
        found = [each.with_counterfactual() for each in found]
    return found if names is None else [each.named(names) for each in found]
