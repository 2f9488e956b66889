"""The written reason for a prediction: a few sentences with their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..printing import value_text
from .effects import (
    Sentence,
    ShownEffect,
    capitalised,
    direction_of,
    own_effects,
    plain,
    shown_effects,
    widening_of,
)
from .measure import Measure, measure_of, p_value
from .names import printable
from .phrases import Phrases, joined
from .wording import wording_for

if TYPE_CHECKING:
    from ..explanation import Explanation, FeatureEffect

__all__ = ["Writer", "reason_sentences", "reason_text"]

_MOST_FOR, _MOST_AGAINST, _MOST_FEATURES = 3, 2, 2
"""The maximum numbers of parts named for and against, and of features of the target."""
_TRIVIAL = 0.02
"""Effects below this share of the largest are not named."""
_PAIR = 0.01
"""Smaller differences from the sum of two effects on a probability are not stated."""
_NEGLIGIBLE = 0.001
"""Smaller changes of a probability do not get their own sentences."""


def reason_text(
    explanation: Explanation, audience: str = "manager", templates: Mapping[str, str] | None = None
) -> str:
    """Return the sentences of :func:`reason_sentences` as one text."""
    said = reason_sentences(explanation, audience, templates)
    mention = Writer.of(explanation, audience, templates).mention
    return " ".join(plain(each, mention) for each in said)


def reason_sentences(
    explanation: Explanation, audience: str = "manager", templates: Mapping[str, str] | None = None
) -> list[Sentence]:
    """Return why the model predicts this, in three to six sentences.

    In order: the prediction; the target's own features, if they were explained; the parts that
    make the prediction more likely, and less likely; a smallest change of the prediction, if one
    was searched for; what was tried; how certain this is.

    Raises:
        InputError: the audience, a template or one of its fields is unknown.
    """
    return Writer.of(explanation, audience, templates).reason()


@dataclass(frozen=True)
class _StatedEffect:
    """An effect to be stated.

    Attributes:
        effect: its numbers, with ``effect``, ``low``, ``high`` and ``significant``.
        action: what is done, such as ``replacing the data of node 3``.
        again: the same after an action of the same kind, such as ``node 3``.
        kind: the kind of action.
        measure: the format of its numbers.
        widening: see :func:`~pgm_explainer.report.effects.widening_of`.
    """

    effect: Any
    action: Sentence
    again: Sentence
    kind: Any
    measure: Measure
    widening: float

    @property
    def direction(self) -> str:
        """The template of the clause about it."""
        return _clause_of(direction_of(self.effect, self.widening))


_Directed = TypeVar("_Directed", _StatedEffect, ShownEffect)


@dataclass(frozen=True)
class Writer(Phrases):
    """Writes the sentences of a reason."""

    def reason(self) -> list[Sentence]:
        """Return the sentences of a reason, each with a capital letter."""
        return [capitalised(sentence) for sentence in self.sentences()]

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences of a reason."""
        yield self.fact(self.opening)
        if self._hardly_moves:
            yield self.fact("hardly")
        else:
            yield from self._effects()
        if self.explanation.smallest_change is not None:
            yield self.change(self.explanation.smallest_change)
        yield self.fact(self._tried)
        found = self.explanation.effects.significant.any()
        yield self.fact("sure" if found else "sure_none")

    def _effects(self) -> Iterator[Sentence]:
        """Yield what changes the prediction: the target's own features, then parts.

        A feature of another node is named if its effect is larger than all of these.
        """
        features, said = self._features(), self._said_features()
        clauses = [
            self.say(
                f"feature_{self._verdict(direction)}", effects=self._clause(group), **self.about
            )
            for direction, group in said
        ]
        if clauses:
            yield self.say("effects", effects=joined(clauses, "; "), **self.about)
        *others, last = self._parts(own_none=not features)
        yield from [*others, self._with_pair(last)]

    def _said_features(self) -> list[tuple[str, list[_StatedEffect]]]:
        """Return the features that are named, by direction: the target's own, then another's."""
        features = self._features()
        said = list(_worth_naming(_by_direction(features)).items())
        largest = max((abs(each.effect.effect) for each in features), default=0.0)
        said += [
            (each.direction, [each])
            for each in self._features(own=False)[:1]
            if each.direction != "varies" and abs(each.effect.effect) > largest
        ]
        return said

    def named_features(self) -> list[FeatureEffect]:
        """Return the features that the sentences name."""
        return [each.effect for _, group in self._said_features() for each in group]

    def _with_pair(self, sentence: Sentence) -> Sentence:
        """Return a sentence with the strongest pair whose joint effect is not the sum of both."""
        pairs, is_class = (
            self.explanation.effects.pairs,
            self.explanation.explained_class is not None,
        )
        worth = [each for each in pairs if abs(each.excess) >= _PAIR or not is_class]
        if not worth or (not is_class and len(self.explanation.values) > 1):
            return sentence
        pair, measure = worth[0], measure_of(self.explanation)
        first, second = (
            self.part(each, wording_for(self.explanation, each)) for each in pair.nodes
        )
        said = self.say(
            "together",
            low=self.signed(pair.low, measure),
            high=self.signed(pair.high, measure),
            first=first,
            second=second,
            measured=self.about["measured"],
            joint=self.with_unit(self.signed(pair.joint, measure), measure),
            sum=self.signed(pair.joint - pair.excess, measure),
        )
        *before, end = sentence
        if not isinstance(end, str) or not end.endswith("."):
            return [*sentence, *said]
        return [*before, end.removesuffix("."), *said, "."]

    @property
    def _hardly_moves(self) -> bool:
        """Whether there are significant effects, but all of them are negligible."""
        effects = self.explanation.effects
        if self.explanation.explained_class is None or not effects.significant.any():
            return False
        largest = np.max(abs(np.concatenate((effects.low, effects.high))), initial=0.0)
        return bool(largest < _NEGLIGIBLE)

    @property
    def opening(self) -> str:
        """The template of the first sentence."""
        explained, predicted = self.explanation.explained_class, self.explanation.predicted_class
        if explained is None:
            return "value"
        return "predicted" if explained == predicted else "not_predicted"

    @property
    def _tried(self) -> str:
        if self.explanation.class_stayed is not None:
            return "checked"
        return "checked_value" if len(self.explanation.values) == 1 else "checked_values"

    def _features(self, own: bool = True) -> list[_StatedEffect]:
        """Return the strongest features of the target, or of other nodes, if they are known.

        In a graph task, all nodes are the target's.
        """
        table = self.explanation.features
        ends = set(self.explanation.names.of(self.explanation.ends.tolist()))
        found = [
            each
            for each in table or ()
            if each.significant and (each.node in ends or not ends) == own and self._matters(each)
        ]
        found.sort(key=lambda each: -abs(each.effect))
        stated, widening = [], 1.0 if table is None else widening_of(table)
        for each in found[:_MOST_FEATURES]:
            number = self.explanation.names.index(each.node)
            feature = self._feature(each)
            action = self.say("replacing_feature", feature=feature, part=self.part(number))
            measure = measure_of(self.explanation, table)
            stated.append(
                _StatedEffect(each, action, feature, ("feature", number), measure, widening)
            )
        return stated

    def _matters(self, effect: Any) -> bool:
        """Return whether a reader would care about an effect."""
        is_class = self.explanation.explained_class is not None
        return not is_class or max(abs(effect.low), abs(effect.high)) >= _NEGLIGIBLE

    def _feature(self, found: FeatureEffect) -> Sentence:
        """Return the name of a feature with its value, if that is known, and how common it is."""
        name, value = printable(found.feature), self.number(value_text(found.value))
        named = not isinstance(found.feature, int)
        feature = self.say("named_feature" if named else "feature", name=[name])
        if not value:
            return feature
        nodes = self.say("all_nodes")
        if self.explanation.names.typed and isinstance(found.node, tuple):
            nodes = self.say("all_nodes_of_type", name=printable(found.node[0]))
        about: dict[str, str | Sentence] = {"feature": feature, "value": value, "nodes": nodes}
        if np.isnan(found.mean):
            return self.say("feature_category", share=self.percent(found.share), **about)
        return self.say("feature_value", mean=self.number(value_text(found.mean)), **about)

    def _parts(self, own_none: bool) -> Iterator[Sentence]:
        """Yield what supports the prediction, and what opposes it; the target itself comes first.

        An effect without a clear direction is stated only if it is larger than all clear ones.
        """
        own = own_effects(self.explanation)
        found = shown_effects(self.explanation)
        if not found:
            yield self.fact("none")
            return
        idle = [each for each in own if not each.effect.significant]
        if idle and own_none:
            again = [self.part(each.number) for each in idle]
            part = joined(again, ", ", self.templates["or"])
            yield self.say(
                "own_none", action=self.action(idle[0].words, part, len(idle) == 1), **self.about
            )
        for direction, group in self.named_parts().items():
            stated = [
                _StatedEffect(
                    each.effect,
                    self.action(each.words, self.part(each.number, each.words), each.is_target),
                    self.part(each.number, each.words),
                    each.words,
                    measure_of(self.explanation),
                    each.widening,
                )
                for each in group
            ]
            effects, cause = self._clause(stated), self._cause(group)
            yield self.say(self._verdict(direction), effects=effects, cause=cause, **self.about)

    def _cause(self, group: Sequence[ShownEffect]) -> Sentence:
        """Return what makes a class more or less likely: the original data, or a part."""
        words = group[0].words
        if words.how != "remove" or any(each.words != words for each in group):
            return self.say("cause_data")
        nouns = {"noun": self.noun(words), "nouns": self.nouns(words)}
        return self.say("cause_part" if len(group) == 1 else "cause_parts", **nouns)

    def named_parts(self) -> dict[str, list[ShownEffect]]:
        """Return the parts that the sentences name, by direction; the target itself comes first."""
        # Strength counts changes in both directions; a reader expects the numbers in order.
        ordered = sorted(
            shown_effects(self.explanation),
            key=lambda each: (not each.is_target, -abs(each.effect.effect)),
        )
        groups = _worth_naming(_by_direction(ordered))
        return {
            direction: group[: _MOST_AGAINST if direction == "raises" else _MOST_FOR]
            for direction, group in groups.items()
        }

    def _verdict(self, direction: str) -> str:
        known = {"lowers": "supports", "raises": "opposes"}
        is_class = self.explanation.explained_class is not None
        return known.get(direction, "effects") if is_class else "effects"

    def _clause(self, group: Sequence[_StatedEffect]) -> Sentence:
        """Return effects in the same direction: the first in full, the others in short."""
        first, *others = group
        clauses = [self._numbers(self._verb(first.direction), first, first.action)]
        for each in others if first.direction != "varies" else ():
            action = each.again if each.kind == first.kind else each.action
            clauses.append(self._numbers("more", each, action))
        return joined(clauses, ", ", self.templates["and"])

    def _verb(self, direction: str) -> str:
        if self.explanation.explained_class is None and len(self.explanation.values) > 1:
            return {"lowers": "closer", "raises": "further"}.get(direction, direction)
        return direction

    def _numbers(self, template: str, stated: _StatedEffect, action: Sentence) -> Sentence:
        measure, effect = stated.measure, stated.effect
        number = self.number(measure.size(effect.effect))
        low, high = sorted((abs(effect.low), abs(effect.high)))
        p = self.number(p_value(effect.log_p))
        return self.say(
            template,
            action=action,
            size=self.with_unit(number, measure),
            number=number,
            mean=self.with_unit(self.signed(effect.effect, measure), measure),
            low=self.number(measure.size(low)),
            high=self.number(measure.size(high)),
            p=p.replace("<", "p < ") if p.startswith("<") else f"p = {p}",
            **self.about,
        )


def _by_direction(effects: Sequence[_Directed]) -> dict[str, list[_Directed]]:
    """Return effects by direction: first those that lower, then those that raise, then others."""
    groups: dict[str, list[_Directed]] = {"lowers": [], "raises": [], "varies": []}
    for each in effects:
        groups[_clause_of(direction_of(each.effect, each.widening))].append(each)
    return {direction: group for direction, group in groups.items() if group}


def _worth_naming(groups: dict[str, list[_Directed]]) -> dict[str, list[_Directed]]:
    """Return the effects that the reason states.

    Effects much smaller than the largest are left out. Effects without a clear direction are named
    if the largest of them is larger than all others.
    """
    sizes = {
        direction: max(abs(each.effect.effect) for each in group)
        for direction, group in groups.items()
    }
    unclear, clear = sizes.pop("varies", 0.0), max(sizes.values(), default=0.0)
    least = _TRIVIAL * max(unclear, clear)
    named = {
        direction: [each for each in group if abs(each.effect.effect) >= least]
        for direction, group in groups.items()
        if direction != "varies" or unclear > clear or not sizes
    }
    return {direction: group for direction, group in named.items() if group}


def _clause_of(direction: str) -> str:
    """Return the name of the template for effects in a direction."""
    return {"falls": "lowers", "rises": "raises"}.get(direction, "varies")
