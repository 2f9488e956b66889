"""An explanation as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .contents import (
    CHANGES,
    DEPENDS,
    MOST_EFFECTS,
    MOST_PAIRS,
    PAIRS,
    as_texts,
    chances,
    column_words,
    edge_words,
    effect_column_words,
    effect_rows,
    fact_words,
    moved_words,
    network_words,
    pair_rows,
    reason_lines,
)
from .effects import dependence_sentence, effects_caption, own_sentences
from .facts import fact_nodes, informative_facts
from .features import FEATURES, MOST_FEATURES, feature_rows, feature_words
from .measure import measure_of
from .names import aligned, pad, printable, width
from .terms import describe_kept, describe_terms
from .wording import wording_of

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["describe", "paragraph"]

_LINE = 88


def describe(explanation: Explanation) -> str:
    """Describe the prediction, its causes, what else depends on it, and the network."""
    reason = "\n".join(map(paragraph, reason_lines(explanation)))
    blocks = [reason, _changes(explanation)]
    (along,) = as_texts(explanation, [dependence_sentence(explanation)])
    blocks += [*_pairs(explanation), *_features(explanation), paragraph(f"{DEPENDS}: {along}")]
    blocks += [paragraph(text) for text in network_words(explanation)]
    if explanation.network is not None:
        blocks += [
            paragraph(describe_kept(explanation)),
            *_table(explanation),
            *_facts(explanation),
        ]
        network = explanation.network
        title = "Network" if network.family == "bayesian" else network.title
        blocks.append(paragraph(f"{title}: {printable(network.factorisation)}", 3))
        blocks += [paragraph(text, 8) for text in edge_words(explanation)]
    blocks.append(paragraph(describe_terms(explanation.settings)))
    blocks += [paragraph(f"Warning: {warning}.") for warning in explanation.warnings]
    return "\n\n".join(blocks)


def _changes(explanation: Explanation) -> str:
    lines = [paragraph(f"{CHANGES}: {effects_caption(explanation)}")]
    found = int(explanation.effects.significant.sum())
    if found:
        lines += aligned(list(effect_rows(explanation)))
        if found > MOST_EFFECTS:
            lines.append(f"… and {found - MOST_EFFECTS} more: see explanation.effects")
        lines.append(paragraph(effect_column_words(explanation)))
    lines += map(paragraph, as_texts(explanation, own_sentences(explanation)))
    return "\n".join(lines)


def _pairs(explanation: Explanation) -> Iterator[str]:
    if explanation.effects.pairs:
        more = len(explanation.effects.pairs) - MOST_PAIRS
        left_out = [f"… and {more} more: see explanation.effects.pairs"] if more > 0 else []
        yield "\n".join([f"{PAIRS}:", *aligned(list(pair_rows(explanation))), *left_out])


def _features(explanation: Explanation) -> Iterator[str]:
    features = explanation.features
    if features is None:
        return
    caption, columns = feature_words(explanation, features)
    lines, found = [paragraph(f"{FEATURES}: {caption}")], int(features.significant.sum())
    if found:
        lines += aligned(list(feature_rows(features, measure_of(explanation, features))))
        if found > MOST_FEATURES:
            lines.append(f"… and {found - MOST_FEATURES} more: see explanation.features")
        lines.append(paragraph(columns))
    yield "\n".join(lines)


def _table(explanation: Explanation) -> Iterator[str]:
    if not explanation.nodes:
        return
    title = (
        f"Probability that the prediction is kept according to the network "
        f"({explanation.query():.1%} without evidence), given evidence about {_about(explanation)}:"
    )
    left_out = len(explanation.nodes) - len(fact_nodes(explanation))
    more = [f"… and {left_out} more: see explanation.ranking"] if left_out else []
    yield "\n".join(
        [
            paragraph(title),
            *aligned(list(chances(explanation))),
            *more,
            paragraph(column_words()),
        ]
    )


def _about(explanation: Explanation) -> str:
    """Return what evidence is about."""
    if explanation.part_labels:
        return f"one {wording_of(explanation.settings).noun}"
    own = explanation.settings.model.has_own_predictions
    return "one node's features or own prediction" if own else "one node's features"


def _facts(explanation: Explanation) -> Iterator[str]:
    facts = informative_facts(explanation, most=1)
    if facts:
        base = explanation.query()
        rows = [
            [f"{fact.holds:.1%}", f"{fact_words(fact)} ({moved_words(fact.holds, base)})"]
            for fact in facts
        ]
        columns = max(width(row[0]) for row in rows)
        lines = [f"{pad(chance, columns + 2)}  if {words}" for chance, words in rows]
        pairs = any(len(fact.known) > 1 for fact in facts)
        together = ", single and in pairs" if pairs else ""
        yield "\n".join([f"Most informative evidence{together}:", *lines])


def paragraph(text: str, lines: int | None = None) -> str:
    """Wrap a text to 88 columns, and to at most ``lines`` lines if given."""
    return textwrap.fill(
        text,
        _LINE,
        max_lines=lines,
        placeholder=" …",
        break_long_words=False,
        break_on_hyphens=False,
    )
