"""An explanation in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..errors import QueryError
from ..sampling import VariableId

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["describe"]

_FACTS = ("original", "perturbed", "kept", "changed")


def describe(explanation: Explanation) -> str:
    """Say what was predicted, what it depends on, and how knowing more moves its probability."""
    blocks = [_summary(explanation)]
    if explanation.network is not None and explanation.nodes:
        blocks.append(_table(_rows(explanation)))
        blocks.append(f"Network: {explanation.network.factorisation}")
    blocks += [f"Beware: {warning}." for warning in explanation.warnings]
    return "\n\n".join(blocks)


def _summary(explanation: Explanation) -> str:
    samples = explanation.settings["num_samples"]
    predicted = _prediction(explanation)
    if explanation.held == 1:
        return f"{predicted} The prediction held in all {samples} perturbed graphs."
    held = f"The prediction held in {explanation.held:.1%} of {samples} perturbed graphs."
    return " ".join([predicted, held, _dependence(explanation)])


def _dependence(explanation: Explanation) -> str:
    if not explanation.nodes:
        return "It was not found to depend on any other node."
    nodes, blanket = _listed(explanation.nodes), explanation.markov_blanket
    most = f"Of {len(explanation.ranking)} nodes that could matter, it depends most on {nodes}"
    if explanation.network is None:
        return f"{most}."
    if not blanket:
        return f"{most}, each so weakly that none is tied to it in the network."
    if len(blanket) == len(explanation.nodes):
        return f"{most}, and on each of them even when the others are known."
    known = f"once {_listed(blanket)} {'is' if len(blanket) == 1 else 'are'} known"
    return f"{most}; {known}, the others add nothing."


def _prediction(explanation: Explanation) -> str:
    subject = {
        "graph": "The graph",
        "edge": f"The pair {explanation.target}",
        "node": f"Node {explanation.target}",
    }[explanation.task]
    if explanation.probability is None:
        return f"{subject} has the value {', '.join(f'{each:.4g}' for each in explanation.values)}."
    if explanation.explained_class != explanation.predicted_class:
        return (
            f"{subject} is of class {explanation.explained_class} with probability "
            f"{explanation.probability:.3f} (predicted is class {explanation.predicted_class})."
        )
    return (
        f"{subject} is predicted to be of class {explanation.predicted_class} "
        f"with probability {explanation.probability:.3f}."
    )


def _rows(explanation: Explanation) -> Iterator[list[str]]:
    facts = _FACTS if explanation.task == "node" else _FACTS[:2]
    yield ["node", "log p", "effect", *(f"if {fact}" for fact in facts)]
    now = f"{explanation.query():.1%}"
    yield ["(nothing known)", "", "", now, *([""] * (len(facts) - 1))]
    if explanation.task == "node":
        own = [_chance(explanation, explanation.target, fact) for fact in facts[:2]]
        yield ["(the target)", "", "", *own, "", ""]
    for ranked in explanation.ranking:
        if ranked.selected:
            chances = [_chance(explanation, ranked.node, fact) for fact in facts]
            yield [str(ranked.node), f"{ranked.log_p:.1f}", f"{ranked.effect_size:.2f}", *chances]


def _chance(explanation: Explanation, node: VariableId, fact: str) -> str:
    try:
        return f"{explanation.query({node: fact}):.1%}"
    except QueryError:  # it never happens, so nothing follows from it
        return "-"


def _table(rows: Iterator[list[str]]) -> str:
    lines = list(rows)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    title = "How likely the prediction holds by the network, given what is known of one node:"
    body = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    return "\n".join([title, *body])


def _listed(items: Sequence[VariableId]) -> str:
    """Join as people do: ``a``, ``a and b``, ``a, b and c``."""
    texts = [str(item) for item in items]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
