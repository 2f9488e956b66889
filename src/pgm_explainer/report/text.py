"""An explanation in words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..sampling import VariableId
from .effects import (
    Sentence,
    along_sentence,
    effect_sentence,
    effects_caption,
    lead_sentence,
    left_out_sentences,
    own_sentences,
    plain,
    shown_effects,
)
from .facts import Fact, single_facts, telling_facts, told_nodes
from .measure import measure_of
from .names import aligned, listed, pad, printable, shorten, value_labels, width
from .roles import idle_nodes
from .terms import describe_terms

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = [
    "ALONG",
    "CHANGES",
    "MOST_EFFECTS",
    "MOST_PAIRS",
    "PAIRS",
    "chances",
    "column_words",
    "describe",
    "effect_column_words",
    "effect_rows",
    "effects_of",
    "fact_words",
    "headline",
    "in_words",
    "network_words",
    "p_value",
    "pair_rows",
    "paragraph",
    "predicted",
    "summarise",
    "support_words",
]

CHANGES, ALONG = "What changes the prediction", "What moves along"
PAIRS = "Pairs whose joint effect is not the sum of both"
MOST_EFFECTS, MOST_PAIRS = 8, 3
"""Of the significant effects, and of the pairs, so many have a line of their own."""
_WORDS = ("original", "perturbed", "kept", "changed")
_LINE, _NAME = 88, 20
_MOST_NAMES = 8
_SMALLEST_LOG_P = -690.0
"""Below it a p-value underflows."""


def describe(explanation: Explanation) -> str:
    """Say what was predicted, what changes it, what moves along, and what the network answers."""
    blocks = [paragraph(summarise(explanation)), _changes(explanation)]
    (along,) = in_words(explanation, [along_sentence(explanation)])
    blocks += [*_pairs(explanation), paragraph(f"{ALONG}: {along}")]
    blocks += [paragraph(text) for text in network_words(explanation)]
    if explanation.network is not None:
        blocks += [*_table(explanation), *_facts(explanation)]
        blocks.append(paragraph(f"Network: {printable(explanation.network.factorisation)}", 3))
    blocks.append(paragraph(describe_terms(explanation.settings)))
    blocks += [paragraph(f"Warning: {warning}.") for warning in explanation.warnings]
    return "\n\n".join(blocks)


def summarise(explanation: Explanation) -> str:
    """Say in one paragraph what was predicted and what changes it most."""
    samples = explanation.settings.sampling.num_samples
    share = "all" if explanation.held == 1 else f"{explanation.held:.1%} of"
    held = f"The prediction held in {share} {samples} perturbed graphs."
    return " ".join(
        [predicted(explanation), held, *in_words(explanation, [lead_sentence(explanation)])]
    )


def predicted(explanation: Explanation) -> str:
    """Say what was predicted, and with what probability."""
    likely = explanation.probability
    chance = "" if likely is None else f" with probability {likely:.3f}"
    return f"{headline(explanation, _name(explanation.target), chance)}."


def in_words(explanation: Explanation, sentences: Iterable[Sentence]) -> list[str]:
    """Return sentences as texts, in which nodes go by the names that a user may type."""
    called = explanation.ranking.called
    return [plain(each, lambda number: _name(called(number))) for each in sentences]


def effects_of(explanation: Explanation, nodes: Collection[VariableId]) -> list[str]:
    """Say what perturbing each of some nodes does, the strongest first."""
    measure = measure_of(explanation)
    every = shown_effects(explanation, significant=False)
    chosen = [effect_sentence(each, measure) for each in every if each.effect.node in nodes]
    return in_words(explanation, chosen)


def effect_rows(explanation: Explanation) -> Iterator[list[str]]:
    """Yield the rows of a table, its head first: the strongest of the significant effects."""
    measure = measure_of(explanation)
    found = shown_effects(explanation, most=MOST_EFFECTS)
    ways = [""] if any(each.direction == "both" for each in found) else []
    yield ["node", "effect", "95% interval", "strength", "p", *ways]
    for each in found:
        effect = each.effect
        yield [
            _name(effect.node) + (" (target)" if each.is_target else ""),
            measure.signed(effect.effect),
            measure.interval(effect.low, effect.high),
            f"{effect.strength:.2f}",
            p_value(effect.log_p),
            *("both ways" if each.direction == "both" else "" for _ in ways),
        ]


def effect_column_words(explanation: Explanation) -> str:
    """Say what the columns of :func:`effect_rows` are."""
    measure = measure_of(explanation)
    unit = f", in {measure.unit}" if measure.unit else ""
    return (
        f"effect: mean change by perturbing the node{unit}; strength: how far that moves the "
        f"prediction either way, relative to the strongest; p: p-value of no effect."
    )


def pair_rows(
    explanation: Explanation, name: Callable[[VariableId], str] | None = None
) -> Iterator[list[str]]:
    """Yield the rows of a table, its head first: pairs with a joint effect other than the sum.

    Args:
        explanation: what is described.
        name: returns what to call a node; None for what a user may type.
    """
    measure, called, name = measure_of(explanation), explanation.effects.called, name or _name
    yield ["pair", "joint effect", "sum of both", "difference", "95% interval"]
    for pair in explanation.effects.pairs[:MOST_PAIRS]:
        yield [
            " and ".join(name(called(node)) for node in pair.nodes),
            measure.signed(pair.joint),
            measure.signed(pair.joint - pair.excess),
            measure.signed(pair.excess),
            measure.interval(pair.low, pair.high),
        ]


def p_value(log_p: float) -> str:
    """Return a p-value from its natural logarithm.

    Examples:
        >>> p_value(-9.0), p_value(-5000.0)
        ('0.0001', '<1e-299')
    """
    return f"{np.exp(log_p):.1g}" if log_p >= _SMALLEST_LOG_P else "<1e-299"


def _changes(explanation: Explanation) -> str:
    lines = [paragraph(f"{CHANGES}: {effects_caption(explanation)}")]
    found = int(explanation.effects.significant.sum())
    if found:
        lines += aligned(list(effect_rows(explanation)))
        if found > MOST_EFFECTS:
            lines.append(f"… and {found - MOST_EFFECTS} more: see explanation.effects")
        lines.append(paragraph(effect_column_words(explanation)))
    lines += map(paragraph, in_words(explanation, own_sentences(explanation)))
    return "\n".join(lines)


def _pairs(explanation: Explanation) -> Iterator[str]:
    if explanation.effects.pairs:
        more = len(explanation.effects.pairs) - MOST_PAIRS
        left_out = [f"… and {more} more: see explanation.effects.pairs"] if more > 0 else []
        yield "\n".join([f"{PAIRS}:", *aligned(list(pair_rows(explanation))), *left_out])


def network_words(explanation: Explanation) -> Iterator[str]:
    """Say what the network is about, which of its nodes matter, and what it has no room for."""
    nodes, blanket = explanation.nodes, explanation.markov_blanket
    if explanation.held == 1:
        return
    if explanation.network is None:
        chosen = f"; it would hold {_names(nodes)}" if nodes else ""
        yield f"No network was learnt (structure is None){chosen}."
        return
    if not nodes:
        yield "The prediction was not found to depend on any other node."
        return
    said = [f"The network holds {_names(nodes)}."]
    if not blanket:
        said.append("It ties the prediction to none of them.")
    elif len(blanket) < len(nodes):
        known = f"{_names(blanket)} {'is' if len(blanket) == 1 else 'are'}"
        said.append(f"Once {known} known, the others add nothing.")
    elif len(nodes) > 1:
        said.append("Each of them matters even when the others are known.")
    idle = idle_nodes(explanation)
    if idle and blanket:
        said.append(f"Taken alone, {_names(idle)} {'adds' if len(idle) == 1 else 'add'} nothing.")
    yield " ".join([*said, *in_words(explanation, left_out_sentences(explanation))])


def headline(explanation: Explanation, target: str, chance: str = "") -> str:
    """Say what was predicted, in the words of the task: a class, a label of many, or a value.

    Args:
        explanation: what is described.
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
    if explanation.settings.model.output is None:
        return "", f"be of class {printable(explanation.class_name(number))}"
    return "" if number == 1 else "not ", f"have label {printable(explanation.class_name(1))}"


def _values(explanation: Explanation) -> str:
    names, output = explanation.settings.model.class_names, explanation.settings.model.output
    values = [f"{value:.4g}" for value in explanation.values]
    if names is None:
        return f"the value {', '.join(values)}{'' if output is None else f' of output {output}'}"
    called = zip(value_labels(explanation), values, strict=True)
    return listed([f"{name} {value}" for name, value in called])


def chances(explanation: Explanation) -> Iterator[list[str]]:
    """Yield the rows of a table, its head first: each node's dependence, and what follows from it.

    A ``-`` stands for what never happens or, of a node without a prediction, cannot be known.
    """
    words = _WORDS if explanation.task == "node" else _WORDS[:2]
    facts = single_facts(explanation)
    ranked = {each.node: each for each in explanation.ranking if each.selected}

    def row(node: VariableId) -> list[str]:
        found = [facts.get((node, word)) for word in words]
        return ["-" if fact is None else f"{fact.holds:.1%}" for fact in found]

    yield ["node", "log p", "V", *(f"if {word}" for word in words)]
    if explanation.task == "node":
        yield ["(the target)", "", "", *row(explanation.target)[:2], "", ""]
    for node in told_nodes(explanation):
        evidence = [f"{ranked[node].log_p:.1f}", f"{ranked[node].effect_size:.2f}"]
        yield [_name(node), *evidence, *row(node)]


def column_words() -> str:
    """Say what the columns of :func:`chances` are."""
    return "log p: natural logarithm of the p-value of independence; V: Cramér's V, from 0 to 1."


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
            paragraph(title),
            *aligned(list(chances(explanation))),
            *more,
            paragraph(column_words()),
        ]
    )


def _facts(explanation: Explanation) -> Iterator[str]:
    facts = telling_facts(explanation, most=1)
    if facts:
        rows = [[f"{fact.holds:.1%}", fact_words(fact)] for fact in facts]
        columns = max(width(row[0]) for row in rows)
        lines = [f"{pad(chance, columns + 2)}  if {words}" for chance, words in rows]
        pairs = any(len(fact.known) > 1 for fact in facts)
        together = ", and pairs of facts that say more than either alone" if pairs else ""
        yield "\n".join([f"The most informative facts{together}:", *lines])


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


def paragraph(text: str, lines: int | None = None) -> str:
    """Return a text in lines of 88 columns; of so many at most, if a number is given."""
    return textwrap.fill(
        text,
        _LINE,
        max_lines=lines,
        placeholder=" …",
        break_long_words=False,
        break_on_hyphens=False,
    )
