"""``pgm-explainer query``: query the network of a saved explanation."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import InputError, PGMExplainerWarning, QueryError
from .names import find, first_few, spelled
from .saved import add_file, load_chosen, target_name

if TYPE_CHECKING:
    from ..explanation import Explanation
    from ..report.facts import Fact

__all__ = ["SUMMARY", "configure", "run"]

SUMMARY = "query the network of a saved explanation"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Compute the probability that the prediction is kept, from the network of a saved "
        "explanation, with and without evidence about its nodes: whether their features are "
        "original or perturbed and, in a node task, whether their predictions are kept or changed."
    )
    parser.usage = "%(prog)s FILE [--target TARGET] [--given NODE=STATE ...] [--json]"
    parser.epilog = """\
examples:
  pgm-explainer query why.json
  pgm-explainer query why.json --given 300=kept
  pgm-explainer query why.json --given 300=original,kept 301=perturbed
  pgm-explainer query many.json --target 304 --given 300=kept --json
  pgm-explainer query explanations --target 304 --given 300=kept
"""
    add_file(parser)
    parser.add_argument(
        "--given",
        nargs="+",
        action="extend",
        default=[],
        metavar="NODE=STATE",
        help="evidence about nodes: original or perturbed, kept or changed, or two of these "
        "separated by a comma",
    )


def run(options: argparse.Namespace) -> None:
    """Load the explanation, query its network and print the result."""
    explanations = load_chosen(options)
    if len(explanations) != 1:
        raise InputError(
            f"{options.file} contains {len(explanations)} explanations; choose one with --target: "
            f"{first_few([spelled(target_name(each)) for each in explanations])}"
        )
    explanation = explanations[0]
    before = explanation.query()
    fact = _fact(explanation, options.given)
    if options.json:
        _print_json(explanation, before, fact)
    else:
        _print_words(explanation, before, fact)


def _fact(explanation: Explanation, given: Sequence[str]) -> Fact:
    """Return the evidence and the probability that follows from it."""
    from ..report.facts import Fact

    network = explanation.network
    assert network is not None  # otherwise query() raises
    known = []
    for text in given:
        name, equals, words = text.rpartition("=")
        if not equals or not name:
            raise QueryError(f"--given {text} is not of the form NODE=STATE, such as 300=kept")
        node = find(name, network.nodes, "node in the network called")
        known += [(node, word.strip()) for word in words.split(",")]
    evidence = Fact(tuple(known), holds=0.0, likelihood=0.0).evidence
    with warnings.catch_warnings():  # the output says so itself
        warnings.simplefilter("ignore", PGMExplainerWarning)
        holds = explanation.query(evidence)
    return Fact(tuple(known), holds, network.probability(evidence))


def _print_words(explanation: Explanation, before: float, fact: Fact) -> None:
    from ..report.contents import effects_of, fact_words, predicted, support_words
    from ..report.facts import support_warning
    from ..report.terms import describe_kept
    from ..report.text import paragraph

    print(paragraph(predicted(explanation)))
    print(paragraph(describe_kept(explanation)))
    print("Probability that the prediction is kept:")
    print(f"  {before:6.1%}  without evidence")
    if not fact.known:
        return
    support = explanation.support(fact.evidence)
    print(f"  {fact.holds:6.1%}  if {fact_words(fact)}")
    print(f"          ({support_words(support, explanation.settings.sampling.num_samples)})")
    for sentence in effects_of(explanation, fact.evidence):
        print(paragraph(sentence))
    warning = support_warning(support)
    if warning is not None:
        print(paragraph(f"Warning: {warning}."))


def _print_json(explanation: Explanation, before: float, fact: Fact) -> None:
    from ..report.facts import support_warning

    support = explanation.support(fact.evidence)
    answer = {
        "target": explanation.target,
        "given": [{"node": node, "known": words} for node, words in fact.evidence.items()],
        "before": before,
        "after": fact.holds,
        "probability_of_given": fact.likelihood,
        "support": support,
        "warning": support_warning(support),
    }
    print(json.dumps(answer))
