"""Effects and dependence as they are shown: rows and sentences.

Text, notebook, page and plots all use these, so that they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import IntArray
from ..effects import Effect, Effects
from .measure import Measure, measure_of, p_value
from .names import listed
from .wording import Wording, part_mention, wording_for, wording_of

if TYPE_CHECKING:
    from ..explanation import Explanation, FeatureEffect, FeatureEffects
    from ..settings import Settings

__all__ = [
    "Mention",
    "Sentence",
    "ShownEffect",
    "ShownRow",
    "capitalised",
    "column_words",
    "count_unclear",
    "counted_caption",
    "dependence_sentence",
    "dependent_nodes",
    "direction_of",
    "direction_sentences",
    "effect_sentence",
    "effects_caption",
    "evidence_note",
    "evidence_word",
    "left_out_sentences",
    "level_words",
    "named_parts",
    "own_effects",
    "own_sentences",
    "plain",
    "shown_effects",
    "unclear_words",
    "widening_of",
]

_CORRECTIONS = {"none": "", "benjamini_hochberg": ", Benjamini–Hochberg"}
"""Names of the corrections for multiple tests, each after a comma."""
_MOST_NAMED = 8


@dataclass(frozen=True)
class Mention:
    """A part within a sentence, by its number; each output format shows its name differently."""

    number: int


Sentence = list[str | Mention]


def plain(sentence: Sentence, name: Callable[[int], str]) -> str:
    """Return a sentence as text, with parts named by ``name``."""
    return "".join(part if isinstance(part, str) else name(part.number) for part in sentence)


@dataclass(frozen=True)
class ShownRow:
    """The effect of a part, or of a feature.

    Attributes:
        number: the number of the part, or of the node that has the feature.
        effect: the effect of perturbing it.
        is_target: whether the prediction is about this node.
        words: the words for the part.
        widening: see :func:`widening_of`.
    """

    number: int
    effect: Any
    is_target: bool
    words: Wording
    widening: float = 1.0

    @property
    def direction(self) -> str:
        """``"falls"``, ``"rises"``, ``"both"`` if the sign is unclear; ``""`` if insignificant."""
        return direction_of(self.effect, self.widening)

    @property
    def target_note(self) -> str:
        """What follows the name of the target in a table."""
        return " (target)" if self.is_target else ""

    def numbers(self, measure: Measure, *between: str) -> list[str]:
        """Return the cells of a table: effect, interval, ``between``, strength and p-value."""
        effect = self.effect
        shown = measure.signed(effect.effect), measure.interval(effect.low, effect.high)
        return [*shown, *between, f"{effect.strength:.2f}", p_value(effect.log_p)]


class ShownEffect(ShownRow):
    """The effect of a part."""

    effect: Effect


def widening_of(effects: Effects | FeatureEffects) -> float:
    """Return the factor by which 95% intervals are widened before a direction is stated.

    If only the significant ones of many effects are reported, more than 5% of their intervals miss
    the true effect. The factor restores the 95% (Benjamini and Yekutieli, 2005).
    """
    found, of = int(effects.significant.sum()), len(effects) + effects.left_out
    return (
        float(scipy.special.ndtri(0.025 * found / of) / scipy.special.ndtri(0.025))
        if found
        else 1.0
    )


def direction_of(effect: Effect | FeatureEffect, widening: float) -> str:
    """Return the direction of an effect; see :attr:`ShownEffect.direction`."""
    if not effect.significant:
        return ""
    low = effect.effect - widening * (effect.effect - effect.low)
    high = effect.effect + widening * (effect.high - effect.effect)
    if low <= 0 <= high:
        return "both"
    return "falls" if effect.effect < 0 else "rises"


def count_unclear(effects: Effects | FeatureEffects) -> int:
    """Return how many significant effects have a direction that is not clear."""
    widening, effect = widening_of(effects), effects.effect
    low, high = (
        effect - widening * (effect - effects.low),
        effect + widening * (effects.high - effect),
    )
    return int((effects.significant & (low <= 0) & (high >= 0)).sum())


def unclear_words(effects: Effects | FeatureEffects) -> str:
    """Define a direction that is not clear; empty if all significant effects have a clear one."""
    if not count_unclear(effects):
        return ""
    factor = f"{widening_of(effects):.2f}"
    if factor == "1.00":  # nearly all effects are significant
        return "Direction not clear: the 95% interval contains 0."
    return (
        f"Direction not clear: the 95% interval contains 0 if it is widened by a factor of "
        f"{factor}, because the significant effects were selected from many."
    )


def level_words(settings: Settings) -> str:
    """Return the significance level and the correction for multiple tests."""
    judged = settings.significance
    return f"level {judged.significance:g}{_CORRECTIONS[judged.correction]}"


def shown_effects(
    explanation: Explanation, *, significant: bool = True, most: int | None = None
) -> list[ShownEffect]:
    """Return the effects, strongest first: only significant ones or all, at most ``most``."""
    effects = explanation.effects
    places = np.flatnonzero(effects.significant) if significant else np.arange(len(effects))
    return _shown(explanation, places[:most])


def own_effects(explanation: Explanation) -> list[ShownEffect]:
    """Return the effects of the nodes that the prediction is about, significant or not."""
    ends = np.isin(explanation.effects.nodes, explanation.ends)
    return _shown(explanation, np.flatnonzero(ends))


def _shown(explanation: Explanation, places: NDArray[np.intp]) -> list[ShownEffect]:
    effects, ends = explanation.effects, set(explanation.ends.tolist())
    numbers, widening = effects.nodes[places].tolist(), widening_of(effects)
    return [
        ShownEffect(number, effects[at], number in ends, wording_for(explanation, number), widening)
        for at, number in zip(places.tolist(), numbers, strict=True)
    ]


def dependent_nodes(explanation: Explanation) -> IntArray:
    """Return the parts that depend on the prediction but do not change it, by number.

    Their dependence is significant and their effect is not. The most dependent come first.
    """
    ranking, effects = explanation.ranking, explanation.effects
    causes = effects.nodes[effects.significant]
    return ranking.nodes[ranking.significant & ~np.isin(ranking.nodes, causes)]


def effect_sentence(shown: ShownEffect, measure: Measure) -> Sentence:
    """Return a sentence about the effect of a part."""
    words = shown.words
    subject = f"{words.perturbing.capitalize()} {words.noun} "
    return _fill("{}{} {}.", subject, Mention(shown.number), _predicate(shown, measure))


def evidence_word(direction: str, explanation: Explanation) -> str:
    """Return what the direction of an effect means; empty if it is not significant.

    A part whose perturbation lowers the probability of a class is evidence for that class.
    """
    if explanation.explained_class is not None:
        words = {"falls": "for", "rises": "against"}
    elif len(explanation.values) > 1:
        words = {"falls": "closer", "rises": "away"}
    else:
        words = {"falls": "lowers", "rises": "raises"}
    return {**words, "both": "direction not clear", "": ""}[direction]


def evidence_note(direction: str, explanation: Explanation) -> str:
    """Return the same as a note after a name: ``evidence against``."""
    word = evidence_word(direction, explanation)
    return f"evidence {word}" if word in ("for", "against") else word or "not significant"


def direction_sentences(explanation: Explanation, parts: Sequence[int]) -> Iterator[Sentence]:
    """Yield a sentence about the direction of the effects of some parts, if any is significant."""
    measure = measure_of(explanation)
    among = [each for each in shown_effects(explanation) if each.number in set(parts)]
    clauses: list[Sentence] = []
    for direction, verb in (
        ("falls", measure.falls),
        ("rises", measure.rises),
        ("both", f"changes {measure.what}, in a direction that is not clear"),
    ):
        chosen = [each for each in among if each.direction == direction]
        if chosen:
            subject = named_parts(explanation, [each.number for each in chosen])
            verbs = {each.words.perturbing for each in chosen}
            doing = verbs.pop() if len(verbs) == 1 else "perturbing"
            clauses.append(_fill("{} {} {}", doing, subject, verb))
    if clauses:
        yield capitalised([*_fill("; ".join(["{}"] * len(clauses)), *clauses), "."])


def effects_caption(explanation: Explanation) -> str:
    """Return how many parts change the prediction, at which level, and their order."""
    level, words = level_words(explanation.settings), wording_of(explanation.settings)
    what = f"{measure_of(explanation).what} ({level})"
    caption = counted_caption(explanation.effects, words, "", what)
    order = (
        " The strongest come first. Strength is the typical size of single changes, up or down, so "
        "mean effects of similar size may be in another order."
    )
    return caption + (order if explanation.effects.significant.sum() > 1 else "")


def counted_caption(
    effects: Effects | FeatureEffects, words: Wording, whose: str, what: str
) -> str:
    """Return how many of the tested parts, or features, have an effect on ``what``."""
    found, of = int(effects.significant.sum()), len(effects) + effects.left_out
    have = "has" if found <= 1 else "have"
    caption = (
        f"{found or 'None'} of {words.counted(of)}{whose} {have} a significant effect on {what}"
    )
    clear = found - count_unclear(effects)
    if clear < found:
        them = f"for {clear or 'none'} of them the direction is clear"
        caption += f"; {'its direction is not clear' if found == 1 else them}"
    return f"{caption}."


def column_words(perturbed: str, measure: Measure, evidence: str = "") -> str:
    """Explain the columns of a table of effects of what is ``perturbed``."""
    unit = f", in {measure.unit}" if measure.unit else ""
    return (
        f"effect: mean change when {perturbed}{unit}; {evidence}strength: size of the change in "
        f"either direction, relative to the strongest; p: p-value of the test for no effect."
    )


def own_sentences(explanation: Explanation) -> Iterator[Sentence]:
    """Yield a sentence if other parts have an effect but the target's own features have none."""
    own = own_effects(explanation)
    idle = [each.number for each in own if not each.effect.significant]
    if idle and explanation.effects.significant.any():
        itself: Sentence = ["the target itself"]
        subject = itself if explanation.task == "node" else _listed(map(_mention, idle))
        yield _fill("Perturbing {} has no significant effect.", subject)


def dependence_sentence(explanation: Explanation) -> Sentence:
    """Return which parts depend on the prediction without changing it, or that none do."""
    words, parts = wording_of(explanation.settings), dependent_nodes(explanation).tolist()
    if not parts:
        other = "other " if explanation.effects.significant.any() else ""
        return [f"The prediction depends significantly on no {other}{words.noun}."]
    changes, them = ("changes", "it") if len(parts) == 1 else ("change", "them")
    moved = f"{changes} together with the prediction, but"
    if explanation.task != "node" or explanation.part_labels:
        # Parts without predictions are perturbed independently: only an effect can relate them.
        moved = "may be weakly related to the prediction, or only by chance:"
    subject = capitalised(named_parts(explanation, parts))
    perturbing = f"{words.perturbing} {them}"
    return _fill("{} {} {} has no significant effect.", subject, moved, perturbing)


def left_out_sentences(explanation: Explanation) -> Iterator[Sentence]:
    """Yield a sentence about the parts with strong effects that are not in the network, if any."""
    parts = [explanation.names.index(name) for name in explanation.left_out]
    if not parts or explanation.network is None:
        return
    one = len(parts) == 1
    subject = capitalised(named_parts(explanation, parts))
    have = "has a strong effect but is" if one else "have strong effects but are"
    most = str(explanation.settings.selection.max_nodes)
    yield _fill("{} {} not in the network (max_nodes is {}).", subject, have, most)


def named_parts(explanation: Explanation, parts: Sequence[int]) -> Sentence:
    """Return parts with their nouns: ``edges (0, 1) and (1, 2)``, or ``node 3 and edge (0, 1)``."""
    words = [wording_for(explanation, part) for part in parts]
    if len(set(words)) > 1 or any(" of node " in part_mention(explanation, part) for part in parts):
        named = [
            _fill(f"{its.noun} {{}}", Mention(part)) for its, part in zip(words, parts, strict=True)
        ]
        return _listed(named)
    noun = words[0].noun if len(parts) == 1 else words[0].plural
    return _fill(f"{noun} {{}}", _listed(map(_mention, parts)))


def _mention(number: int) -> Sentence:
    return [Mention(int(number))]


def capitalised(sentence: Sentence) -> Sentence:
    """Return a sentence with a capital letter, and adjacent texts joined."""
    joined: Sentence = []
    for each in sentence:
        if isinstance(each, str) and joined and isinstance(joined[-1], str):
            joined[-1] += each
        else:
            joined.append(each)
    if joined and isinstance(joined[0], str):
        joined[0] = joined[0][:1].upper() + joined[0][1:]
    return joined


def _predicate(shown: ShownEffect, measure: Measure) -> str:
    """Return what perturbing a part does, as a predicate without a subject."""
    effect = shown.effect
    if shown.direction in ("falls", "rises"):
        verb = measure.falls if effect.effect < 0 else measure.rises
        nearest, furthest = sorted((abs(effect.low), abs(effect.high)))
        interval = f"{measure.size(nearest)} to {measure.size(furthest)}"
        return (
            f"{verb} by {measure.with_unit(measure.size(effect.effect))} (95% interval {interval})"
        )
    average = measure.with_unit(measure.signed(effect.effect))
    interval = measure.interval(effect.low, effect.high)
    verb = "changes" if shown.direction else "does not significantly change"
    ways = ", in a direction that is not clear" if shown.direction else ""
    return f"{verb} {measure.what}{ways} ({average} on average, 95% interval {interval})"


def _fill(template: str, *parts: Sentence | Mention | str) -> Sentence:
    """Fill each ``{}`` of a template."""
    sentence: Sentence = []
    for text, part in zip(template.split("{}"), [*parts, ""], strict=True):
        sentence += [text, *(part if isinstance(part, list) else [part])]
    return [part for part in sentence if part]


def _listed(names: Iterable[Sentence]) -> Sentence:
    """List names as ``a, b and c``; of many, the first eight and the number of others."""
    every = list(names)
    named = every[:_MOST_NAMED]
    if len(every) > len(named):
        named.append([f"{len(every) - len(named)} more"])
    return _fill(listed(["{}"] * len(named)), *named)
