"""Effects and dependence on the page: what changes the prediction, and what depends on it.

Every sentence is made here; the scripts only display it. A node in a sentence is a pair of its key
and its name, so that the page can highlight every occurrence of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...variables import VariableId
from ..contents import MOST_PAIRS, PAIRS, effect_column_words, pair_rows
from ..effects import (
    Mention,
    Sentence,
    ShownEffect,
    dependence_sentence,
    effects_caption,
    evidence_note,
    left_out_sentences,
    own_effects,
    shown_effects,
    unclear_words,
)
from ..features import (
    FEATURES,
    MOST_FEATURES,
    ShownFeature,
    feature_words,
    shown_features,
)
from ..measure import Measure, measure_of, percent, share_of, with_minus_signs
from ..names import label_of, variable_label
from ..reason import Writer
from ..wording import part_label, part_mention, wording_of

if TYPE_CHECKING:
    from ...explanation import Explanation

__all__ = [
    "dependence_part",
    "effects_part",
    "features_part",
    "figures_part",
    "lead_part",
    "network_effect",
    "node_key",
    "number",
]

_MOST_BARS = 12
_MOST_ROWS = 200


def lead_part(writer: Writer) -> list[list[Any]]:
    """Return the sentences under the headline: the reason."""
    return [_sentence(each, writer.mention) for each in writer.reason()]


def figures_part(explanation: Explanation) -> list[list[str]]:
    """Return the key figures, each with its caption."""
    likely, stayed = explanation.probability, explanation.class_stayed
    mean, samples = explanation.sample_mean, explanation.settings.sampling.num_samples
    shown, what = [], measure_of(explanation).what
    if likely is not None:
        shown.append([percent(likely), f"is {what}"])
    if stayed is not None:
        shown.append([share_of(stayed, samples), f"of {samples:,} perturbed graphs keep the class"])
    if likely is not None:
        shown.append([percent(mean), "is its mean probability in them"])
    elif len(explanation.values) == 1:
        shown.append([f"{explanation.values[0]:.4g}", f"is {what}"])
        shown.append([f"{mean:.4g}", f"is its mean in {samples:,} perturbed graphs"])
    return shown


def network_effect(explanation: Explanation, name: VariableId) -> dict[str, str]:
    """Return the direction of the effect of a variable of the network, and the effect in words."""
    if name == explanation.target and explanation.task != "node":
        return {}
    number = explanation.names.index(name)
    found = [each for each in shown_effects(explanation) if each.number == number]
    if not found:
        return {}
    (each,) = found
    measure = measure_of(explanation)
    return {
        "direction": each.direction,
        "evidence": evidence_note(each.direction, explanation),
        "effect": with_minus_signs(measure.signed(each.effect.effect))
        + (" points" if measure.unit else ""),
    }


def effects_part(explanation: Explanation) -> dict[str, Any]:
    """Return the effects: bars for the strongest, sentences, and a table of all."""
    measure, effects = measure_of(explanation), explanation.effects
    found = shown_effects(explanation, most=_MOST_BARS)
    bars = [*found, *(each for each in own_effects(explanation) if each not in found)]
    more = int(effects.significant.sum()) - sum(each.effect.significant for each in bars)
    listed = shown_effects(explanation, significant=False, most=_MOST_ROWS)
    unlisted = len(effects) + effects.left_out - len(listed)
    return {
        "caption": effects_caption(explanation),
        "column": _column(measure),
        "directions": measure.directions,
        "bars": [
            _bar(each, measure, part_label(explanation, each.number), explanation) for each in bars
        ],
        "unclear": unclear_words(effects),
        "more": f"… and {more} more: see all effects below." if more else "",
        "pairs": _pairs(explanation),
        "along": _sentence(dependence_sentence(explanation), partial(part_mention, explanation)),
        "leftOut": _sentences(left_out_sentences(explanation), explanation),
        "about": effect_column_words(explanation),
        "rows": [_row(each, measure, explanation) for each in listed],
        "unlisted": _unlisted(unlisted),
    }


def features_part(explanation: Explanation) -> dict[str, Any] | None:
    """Return the effects of single features as bars and a table; None if there are none."""
    features = explanation.features
    if features is None:
        return None
    measure = measure_of(explanation, features)
    caption, about = feature_words(explanation, features)
    found = shown_features(features, most=MOST_FEATURES)
    more = int(features.significant.sum()) - len(found)
    listed = shown_features(features, significant=False, most=_MOST_ROWS)
    unlisted = len(features) + features.left_out - len(listed)
    return {
        "title": FEATURES,
        "caption": caption,
        "column": _column(measure),
        "directions": measure.directions,
        "bars": [_bar(each, measure, each.label, explanation) for each in found],
        "unclear": unclear_words(features),
        "more": f"… and {more} more: see all features below." if more else "",
        "about": about,
        "rows": [_feature_row(each, measure) for each in listed],
        "unlisted": f"{unlisted:,} more features are not listed." if unlisted else "",
    }


def _feature_row(shown: ShownFeature, measure: Measure) -> list[Any]:
    node = label_of(shown.effect.node) + shown.target_note
    return _cells(shown, measure, shown.feature, node, with_minus_signs(shown.value))


def _column(measure: Measure) -> str:
    return f"effect in {measure.unit}" if measure.unit else "effect"


def _unlisted(count: int) -> str:
    return f"{count} more candidates are not listed." if count else ""


def _bar(
    shown: ShownEffect | ShownFeature, measure: Measure, name: str, explanation: Explanation
) -> dict[str, Any]:
    effect = shown.effect
    size, interval, *_ = map(with_minus_signs, shown.numbers(measure))
    return {
        "key": node_key(shown.number),
        "name": name,
        "target": shown.is_target,
        "direction": shown.direction,
        "note": evidence_note(shown.direction, explanation),
        "numbers": [number(each) for each in (effect.effect, effect.low, effect.high)],
        "effect": size,
        "interval": interval,
    }


def _pairs(explanation: Explanation) -> dict[str, Any] | None:
    """Return the pairs that interact as a table; None if there are none."""
    if not explanation.effects.pairs:
        return None
    head, *rows = pair_rows(explanation, lambda name: variable_label(explanation, name))
    keys = [" ".join(map(node_key, pair.nodes)) for pair in explanation.effects.pairs[:MOST_PAIRS]]
    return {
        "title": PAIRS,
        "head": head,
        "rows": [[name, *map(with_minus_signs, numbers)] for name, *numbers in rows],
        "keys": keys,
    }


def _row(shown: ShownEffect, measure: Measure, explanation: Explanation) -> list[Any]:
    name = part_label(explanation, shown.number) + shown.target_note
    return _cells(shown, measure, name)


def _cells(shown: ShownEffect | ShownFeature, measure: Measure, *names: str) -> list[Any]:
    """Return a row of a table of effects: its key, names and numbers, and what is significant."""
    effect, interval, *rest = shown.numbers(measure)
    found = "yes" if shown.effect.significant else ""
    return [
        node_key(shown.number),
        *names,
        with_minus_signs(effect),
        with_minus_signs(interval),
        *rest,
        found,
    ]


def dependence_part(explanation: Explanation) -> dict[str, Any]:
    """Return the ranking: a row for each of its first candidates, and the text above them."""
    ranking, words = explanation.ranking, wording_of(explanation.settings)
    columns = (ranking.statistic, ranking.log_p, ranking.effect_size)
    numbers = np.column_stack(columns)[:_MOST_ROWS].tolist()
    unlisted = ranking.num_candidates - len(numbers)
    return {
        "about": (
            f"All candidate {words.plural}, most dependent first. log p is the natural logarithm "
            f"of the p-value of the independence test: lower means stronger evidence of "
            f"dependence. Cramér's V is the strength of the dependence, from 0 to 1. "
            f"{_a(words.noun)} that depends on the prediction need not change it."
        ),
        "unlisted": _unlisted(unlisted),
        "rows": [
            [
                node_key(int(ranking.nodes[at])),
                part_label(explanation, int(ranking.nodes[at])),
                *map(number, row),
                int(ranking.dof[at]),
                bool(ranking.significant[at]),
                bool(ranking.selected[at]),
            ]
            for at, row in enumerate(numbers)
        ],
    }


def _a(noun: str) -> str:
    return f"{'An' if noun[0] in 'aeiou' else 'A'} {noun}"


def node_key(number: int) -> str:
    """Return the key shared by everything on the page that represents a part."""
    return f"n{number}"


def number(value: float) -> float | None:
    """Return a number that JSON can hold; None if it is not finite."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _sentence(sentence: Sentence, name: Callable[[int], str]) -> list[Any]:
    return [
        [node_key(part.number), name(part.number)] if isinstance(part, Mention) else part
        for part in sentence
    ]


def _sentences(sentences: Iterable[Sentence], explanation: Explanation) -> list[list[Any]]:
    return [_sentence(each, partial(part_mention, explanation)) for each in sentences]
