"""An explanation in words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..sampling import VariableId
from .facts import Fact, single_facts, telling_facts, told_nodes
from .names import aligned, listed, pad, printable, shorten, value_labels, width
from .roles import roles_of
from .terms import describe_terms

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = [
    "chances",
    "column_words",
    "describe",
    "fact_words",
    "headline",
    "summarise",
    "support_words",
]

_WORDS = ("original", "perturbed", "kept", "changed")
_LINE, _NAME = 88, 20
_MOST_NAMES = 8
_COLUMNS = "log p: logarithm of the p-value, the lower the surer; effect: Cramér's V, from 0 to 1"
_REACH = "reach: how much the evidence counts, by how much the target can hear of the node"


def describe(explanation: Explanation) -> str:
    """Say what was predicted, what it depends on, and how knowing more moves its probability."""
    blocks = [_wrap(summarise(explanation))]
    if explanation.network is not None:
        blocks += [*_table(explanation), *_facts(explanation)]
        blocks.append(_wrap(f"Network: {printable(explanation.network.factorisation)}", 3))
    settings = explanation.settings
    blocks.append(_wrap(describe_terms(settings)))
    blocks += [_wrap(f"Beware: {warning}.") for warning in explanation.warnings]
    return "\n\n".join(blocks)


def summarise(explanation: Explanation) -> str:
    """Say in one paragraph what was predicted and what it depends on."""
    samples = explanation.settings["num_samples"]
    likely = explanation.probability
    chance = "" if likely is None else f" with probability {likely:.3f}"
    predicted = f"{headline(explanation, _name(explanation.target), chance)}."
    if explanation.held == 1:
        return f"{predicted} The prediction held in all {samples} perturbed graphs."
    held = f"The prediction held in {explanation.held:.1%} of {samples} perturbed graphs."
    return " ".join([predicted, held, _dependence(explanation), *_roles(explanation)])


def _dependence(explanation: Explanation) -> str:
    if not explanation.nodes:
        return "It was not found to depend on any other node."
    nodes, blanket = _names(explanation.nodes), explanation.markov_blanket
    of = _counted(explanation.ranking.num_candidates)
    most = f"Of {of} that could matter, it depends most on {nodes}"
    if explanation.network is None:
        return f"{most}."
    if not blanket:
        return f"{most}, but not strongly enough to be tied to any of them in the network."
    if len(blanket) == len(explanation.nodes):
        return f"{most}{_each_of_them(len(blanket))}."
    known = f"once {_names(blanket)} {'is' if len(blanket) == 1 else 'are'} known"
    return f"{most}; {known}, the others add nothing."


def _roles(explanation: Explanation) -> Iterator[str]:
    """Say which nodes are not causes by themselves, and whether the target's own features are."""
    roles = roles_of(explanation)
    if roles.together:
        them = "it changes" if len(roles.together) == 1 else "they change"
        ranked_by_influence = explanation.settings.get("rank_by") == "influence"
        instead = "" if ranked_by_influence else ' (rank_by="influence" leaves such nodes out)'
        yield (
            f"Perturbing {_names(roles.together)} makes next to no difference by itself: {them} "
            f"together with the prediction{instead}."
        )
    if roles.idle and explanation.markov_blanket:
        add = "adds" if len(roles.idle) == 1 else "add"
        yield f"Taken alone, {_names(roles.idle)} {add} nothing in the network."
    if roles.own_features_first:
        matters = "matters most" if roles.others else "does matter"
        yield f"Perturbing the target's own features {matters}."


def _each_of_them(count: int) -> str:
    return "" if count == 1 else ", and on each of them even when the others are known"


def _counted(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"


def headline(explanation: Explanation, target: str, chance: str = "") -> str:
    """Say what was predicted, in the words of the task: a class, a label of many, or a value.

    Args:
        explanation: what is told of.
        target: what to call the target.
        chance: what to say of how likely the explained class is.
    """
    named = {"graph": "The graph", "edge": f"The pair {target}", "node": f"Node {target}"}
    subject = named[explanation.task]
    explained, predicted = explanation.explained_class, explanation.predicted_class
    if explained is None or predicted is None:
        return f"{subject} has {_values(explanation)}"
    negation, quality = _quality(explanation, predicted)
    is_predicted = f"is predicted {negation}to {quality}"
    if explained == predicted:
        return f"{subject} {is_predicted}{chance}"
    return (
        f"{subject} could {''.join(_quality(explanation, explained))}{chance}, but {is_predicted}"
    )


def _quality(explanation: Explanation, number: int) -> tuple[str, str]:
    """What it is to be of a class, and before it ``not`` if it is not to have a label."""
    if explanation.settings.get("output") is None:
        return "", f"be of class {printable(explanation.class_name(number))}"
    return "" if number == 1 else "not ", f"have label {printable(explanation.class_name(1))}"


def _values(explanation: Explanation) -> str:
    names, output = explanation.settings.get("class_names"), explanation.settings.get("output")
    values = [f"{value:.4g}" for value in explanation.values]
    if names is None:
        return f"the value {', '.join(values)}{'' if output is None else f' of output {output}'}"
    called = zip(value_labels(explanation), values, strict=True)
    return listed([f"{name} {value}" for name, value in called])


def chances(explanation: Explanation) -> Iterator[list[str]]:
    """Yield the rows of a table, its head first: the nodes' evidence, and what each of them tells.

    A ``-`` stands for what never happens or, of a node without a prediction, cannot be known.
    """
    words = _WORDS if explanation.task == "node" else _WORDS[:2]
    facts = single_facts(explanation)
    told = told_nodes(explanation)

    def row(node: VariableId) -> list[str]:
        found = [facts.get((node, word)) for word in words]
        return ["-" if fact is None else f"{fact.holds:.1%}" for fact in found]

    weighed = ["reach"] if explanation.ranking.weighed else []
    yield ["node", "log p", "effect", *weighed, *(f"if {word}" for word in words)]
    if explanation.task == "node":
        yield ["(the target)", "", "", *("" for _ in weighed), *row(explanation.target)[:2], "", ""]
    for ranked in explanation.ranking:
        if ranked.selected and ranked.node in told:
            evidence = [f"{ranked.log_p:.1f}", f"{ranked.effect_size:.2f}"]
            evidence += [f"{ranked.reach:.2f}" for _ in weighed]
            yield [_name(ranked.node), *evidence, *row(ranked.node)]


def column_words(explanation: Explanation) -> str:
    """Say what the evidence in the table of :func:`chances` is."""
    return f"{_COLUMNS}; {_REACH}." if explanation.ranking.weighed else f"{_COLUMNS}."


def _table(explanation: Explanation) -> Iterator[str]:
    if not explanation.nodes:
        return
    of = "features or own prediction" if explanation.task == "node" else "features"
    title = (
        f"How likely the prediction holds by the network ({explanation.query():.1%} when nothing "
        f"is known), given what is known of one node's {of}:"
    )
    left_out = len(explanation.nodes) - len(told_nodes(explanation))
    more = [f"… and {left_out} more: see explanation.ranking"] if left_out else []
    yield "\n".join(
        [
            _wrap(title),
            *aligned(list(chances(explanation))),
            *more,
            _wrap(column_words(explanation)),
        ]
    )


def _facts(explanation: Explanation) -> Iterator[str]:
    facts = telling_facts(explanation)
    if facts:
        rows = [[f"{fact.holds:.1%}", fact_words(fact)] for fact in facts]
        columns = max(width(row[0]) for row in rows)
        lines = [f"{pad(chance, columns + 2)}  if {words}" for chance, words in rows]
        pairs = any(len(fact.known) > 1 for fact in facts)
        together = ", and which two facts tell more than either alone" if pairs else ""
        yield "\n".join([f"What tells most{together}:", *lines])


def fact_words(fact: Fact) -> str:
    """Say a fact: ``300 is kept and 301 is perturbed``.

    Examples:
        >>> fact_words(Fact(((300, "original"), (300, "kept")), holds=0.9, likelihood=0.5))
        '300 is original and kept'
    """
    known: dict[VariableId, list[str]] = {}
    for node, word in fact.known:
        known.setdefault(node, []).append(word)
    return " and ".join(f"{_name(node)} is {' and '.join(words)}" for node, words in known.items())


def support_words(support: float, num_samples: int) -> str:
    """Say how much evidence was expected among the samples, from its support.

    Examples:
        >>> support_words(919.2, 1000)
        'by the network, this is so in 91.9% of perturbed graphs, about 919 of 1000 samples'
    """
    about = f"about {support:.0f}" if support >= 10 else f"about {support:.1f}"
    count = about if support >= 0.05 else "fewer than 0.1"
    share = support / num_samples
    return (
        f"by the network, this is so in {share:.1%} of perturbed graphs, {count} of {num_samples} "
        f"samples"
    )


def _name(node: VariableId) -> str:
    return shorten(printable(node), _NAME)


def _names(nodes: Sequence[VariableId]) -> str:
    names = [_name(node) for node in nodes[:_MOST_NAMES]]
    others = len(nodes) - len(names)
    return listed([*names, f"{others} more"] if others else names)


def _wrap(text: str, lines: int | None = None) -> str:
    return textwrap.fill(
        text,
        _LINE,
        max_lines=lines,
        placeholder=" …",
        break_long_words=False,
        break_on_hyphens=False,
    )
