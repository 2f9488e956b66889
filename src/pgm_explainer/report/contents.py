"""Sentences and tables that text, notebook and page share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..sampling import VariableId
from .effects import (
    Sentence,
    direction_sentences,
    effect_sentence,
    evidence_word,
    left_out_sentences,
    named_parts,
    plain,
    shown_effects,
    unclear_words,
)
from .effects import column_words as effect_columns
from .facts import Fact, fact_nodes, idle_nodes, single_facts
from .measure import measure_of
from .names import class_label, graph_label, listed, predicted_values, printable, shorten
from .reason import reason_sentences
from .wording import part_mention, wording_of

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = [
    "CHANGES",
    "DEPENDS",
    "MOST_EFFECTS",
    "MOST_PAIRS",
    "PAIRS",
    "as_texts",
    "chances",
    "column_words",
    "edge_words",
    "effect_column_words",
    "effect_rows",
    "effects_of",
    "fact_words",
    "headline",
    "moved_words",
    "network_words",
    "pair_rows",
    "predicted",
    "reason_lines",
    "support_words",
]

CHANGES, DEPENDS = "What changes the prediction", "What else depends on it"
PAIRS = "Pairs whose joint effect differs from the sum of their effects"
MOST_EFFECTS, MOST_PAIRS = 8, 3
"""The maximum numbers of significant effects and of pairs that are listed."""
_WORDS = ("original", "perturbed", "kept", "changed")
_EITHER = 0.1
"""If the share of a direction is this close to one half, the data do not determine it."""
_NAME = 20
_MOST_NAMES = 8


def reason_lines(explanation: Explanation) -> list[str]:
    """Return the sentences of the reason for the prediction, in words for a manager."""
    return as_texts(explanation, reason_sentences(explanation))


def predicted(explanation: Explanation) -> str:
    """Return a sentence with the predicted class or value and its probability."""
    likely = explanation.probability
    chance = "" if likely is None else f" with probability {likely:.3f}"
    return f"{headline(explanation, _name(explanation.target), chance)}."


def headline(explanation: Explanation, target: str, chance: str = "") -> str:
    """Return what was predicted: a class, one of several labels, or a value.

    Args:
        explanation: the explanation to describe.
        target: the name of the target.
        chance: text about the probability of the explained class, placed after it.
    """
    graph = "The graph" if explanation.position is None else f"Graph {graph_label(explanation)}"
    named = {"graph": graph, "edge": f"The pair {target}", "node": f"Node {target}"}
    subject = named[explanation.task]
    explained, predicted = explanation.explained_class, explanation.predicted_class
    if explained is None or predicted is None:
        return f"{subject} has {predicted_values(explanation)}"
    negation, quality = _quality(explanation, predicted)
    is_predicted = f"is predicted {negation}to {quality}"
    if explained == predicted:
        return f"{subject} {is_predicted}{chance}"
    return (
        f"{subject} could {''.join(_quality(explanation, explained))}{chance}, but {is_predicted}"
    )


def _quality(explanation: Explanation, number: int) -> tuple[str, str]:
    """Return ``"not "`` if a label is absent, and a phrase for the class or label."""
    if explanation.settings.model.output is None:
        return "", f"be of class {printable(explanation.class_name(number))}"
    return "" if number == 1 else "not ", f"have label {printable(explanation.class_name(1))}"


def as_texts(explanation: Explanation, sentences: Iterable[Sentence]) -> list[str]:
    """Return sentences as text, with parts named as the user would type them."""

    def name(number: int) -> str:
        return shorten(part_mention(explanation, number, typed=True), _NAME)

    return [plain(each, name) for each in sentences]


def effects_of(explanation: Explanation, nodes: Collection[VariableId]) -> list[str]:
    """Return a sentence about the effect of each of these parts, strongest first."""
    measure = measure_of(explanation)
    every = shown_effects(explanation, significant=False)
    chosen = [effect_sentence(each, measure) for each in every if each.effect.node in nodes]
    return as_texts(explanation, chosen)


def effect_rows(explanation: Explanation) -> Iterator[list[str]]:
    """Yield a table of the strongest significant effects, starting with its header."""
    measure = measure_of(explanation)
    found = shown_effects(explanation, most=MOST_EFFECTS)
    noun = wording_of(explanation.settings).noun
    is_class = explanation.explained_class is not None
    way = "evidence" if is_class else "direction"
    yield [noun, "effect", "95% interval", way, "strength", "p"]
    for each in found:
        evidence = evidence_word(each.direction, explanation)
        yield [_name(each.effect.node) + each.target_note, *each.numbers(measure, evidence)]


def effect_column_words(explanation: Explanation) -> str:
    """Explain the columns of :func:`effect_rows`."""
    words = wording_of(explanation.settings)
    perturbed = f"the {words.noun} is {words.perturbed}"
    said = effect_columns(perturbed, measure_of(explanation), _evidence_words(explanation))
    return f"{said} {unclear_words(explanation.effects)}".rstrip()


def _evidence_words(explanation: Explanation) -> str:
    if explanation.explained_class is None:
        return ""
    explained = class_label(explanation, explanation.explained_class)
    return f"evidence: for {explained} if the effect is below 0, against it if above; "


def pair_rows(
    explanation: Explanation, name: Callable[[VariableId], str] | None = None
) -> Iterator[list[str]]:
    """Yield a table of the pairs that interact, starting with its header.

    Args:
        explanation: the explanation to describe.
        name: returns the name of a part; None for the name that a user would type.
    """
    measure, name = measure_of(explanation), name or _name
    yield ["pair", "joint effect", "sum of effects", "difference", "95% interval"]
    for pair in explanation.effects.pairs[:MOST_PAIRS]:
        yield [
            " and ".join(map(name, explanation.names.of(pair.nodes))),
            measure.signed(pair.joint),
            measure.signed(pair.joint - pair.excess),
            measure.signed(pair.excess),
            measure.interval(pair.low, pair.high),
        ]


def network_words(explanation: Explanation) -> Iterator[str]:
    """Describe the network: its parts, which of them matter, and which strong ones are missing."""
    words = wording_of(explanation.settings)
    nodes, blanket = explanation.nodes, explanation.markov_blanket
    if explanation.held == 1:
        return
    if explanation.network is None:
        chosen = f"; the selected {words.plural} are {_names(nodes)}" if nodes else ""
        yield f"No network was learned (structure is None){chosen}."
        return
    if not nodes:
        other = "other " if words.noun == "node" else ""
        yield f"The prediction was not found to depend on any {other}{words.noun}."
        return
    numbers = [explanation.names.index(node) for node in nodes]
    (contained,) = as_texts(explanation, [named_parts(explanation, numbers)])
    directions = as_texts(explanation, direction_sentences(explanation, numbers))
    said = [f"The network contains {contained}.", *directions]
    if not blanket:
        said.append("In it, the prediction depends on none of them.")
    elif len(blanket) < len(nodes):
        said.append(f"Given {_names(blanket)}, the prediction is independent of the others.")
    elif len(nodes) > 1:
        said.append("The prediction depends on each of them even when the others are known.")
    idle = idle_nodes(explanation)
    if idle and blanket:
        one = "" if len(idle) == 1 else "any one of "
        said.append(
            f"Evidence about {one}{_names(idle)} alone does not change the probability that "
            f"the prediction is kept."
        )
    yield " ".join([*said, *as_texts(explanation, left_out_sentences(explanation))])


def edge_words(explanation: Explanation) -> Iterator[str]:
    """Yield sentences about how many resamples have each edge, and in which direction, if known."""
    found = explanation.edge_confidence
    if found is None or explanation.network is None:
        return
    arrow = "→" if found.learnt else "–"
    by_place: dict[bool, list[str]] = {True: [], False: []}
    for edge in found.edges(explanation.network):
        direction = "" if edge.direction is None else f" ({_direction(edge.direction)})"
        text = f"{_name(edge.parent)} {arrow} {_name(edge.child)} {edge.share:.0%}{direction}"
        by_place[edge.in_network].append(text)
    edges = "; ".join(by_place[True]) or "none"
    yield f"Edges, with the share of {found.resamples} resamples that have them: {edges}."
    if by_place[False]:
        yield f"Not in the network, but in many resamples: {'; '.join(by_place[False])}."


def _direction(share: float) -> str:
    """Return how often an edge has the direction that is drawn, in words.

    Examples:
        >>> _direction(0.5), _direction(0.9)
        ('either direction', 'in this direction in 90% of them')
    """
    if abs(share - 0.5) <= _EITHER:
        return "either direction"
    return f"in this direction in {share:.0%} of them"


def chances(explanation: Explanation) -> Iterator[list[str]]:
    """Yield a table of each part's dependence and conditional probabilities, header first.

    ``-`` marks evidence that never occurs, or that does not exist for a part without a prediction.
    """
    words = _WORDS if _has_predictions(explanation) else _WORDS[:2]
    facts = single_facts(explanation)
    ranked = {each.node: each for each in explanation.ranking if each.selected}

    def row(node: VariableId) -> list[str]:
        found = [facts.get((node, word)) for word in words]
        return ["-" if fact is None else f"{fact.holds:.1%}" for fact in found]

    noun = wording_of(explanation.settings).noun
    yield [noun, "log p", "V", *(f"if {word}" for word in words)]
    if _has_predictions(explanation):
        yield ["(the target)", "", "", *row(explanation.target)[:2], "", ""]
    for node in fact_nodes(explanation):
        evidence = [f"{ranked[node].log_p:.1f}", f"{ranked[node].effect_size:.2f}"]
        yield [_name(node), *evidence, *row(node)]


def _has_predictions(explanation: Explanation) -> bool:
    """Return whether some parts are nodes with predictions of their own."""
    network = explanation.network
    return network is not None and network.variable(explanation.target).perturbable


def column_words() -> str:
    """Explain the columns of :func:`chances`."""
    return (
        "log p: natural logarithm of the p-value of the independence test; V: Cramér's V, from 0 "
        "to 1."
    )


def fact_words(fact: Fact) -> str:
    """Return a fact as text: ``300 is kept and 301 is perturbed``.

    Examples:
        >>> fact_words(Fact(((300, "original"), (300, "kept")), holds=0.9, likelihood=0.5))
        '300 is original and kept'
    """
    known: dict[VariableId, list[str]] = {}
    for node, word in fact.known:
        known.setdefault(node, []).append(word)
    return " and ".join(f"{_name(node)} is {' and '.join(words)}" for node, words in known.items())


def moved_words(holds: float, base: float) -> str:
    """Return how evidence moves the probability that the prediction is kept.

    Examples:
        >>> moved_words(0.91, 0.853), moved_words(0.4, 0.853)
        ('raises it by 5.7 points', 'lowers it by 45.3 points')
    """
    return f"{'raises' if holds > base else 'lowers'} it by {100 * abs(holds - base):.1f} points"


def support_words(support: float, num_samples: int) -> str:
    """Return how often evidence occurs according to the network, from its support.

    Examples:
        >>> support_words(19.0, 50)
        'according to the network, this occurs in 38.0% of perturbed graphs, about 19 of 50 samples'
    """
    about = f"about {support:.0f}" if support >= 10 else f"about {support:.1f}"
    count = about if support >= 0.05 else "fewer than 0.1"
    share = support / num_samples
    return (
        f"according to the network, this occurs in {share:.1%} of perturbed graphs, {count} of "
        f"{num_samples} samples"
    )


def _name(node: VariableId) -> str:
    return shorten(printable(node), _NAME)


def _names(nodes: Sequence[VariableId]) -> str:
    names = [_name(node) for node in nodes[:_MOST_NAMES]]
    others = len(nodes) - len(names)
    return listed([*names, f"{others} more"] if others else names)
