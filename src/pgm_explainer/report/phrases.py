"""The phrases of a reason and a report: names, numbers and facts, from templates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import Formatter
from typing import TYPE_CHECKING, Any

from .effects import Mention, Sentence, count_unclear, level_words, plain
from .measure import Measure, figures, measure_of, percent, share_of, with_minus_signs
from .names import graph_label, label_of, printable, value_labels, variable_label
from .templates import templates_for
from .terms import describe_perturbed
from .wording import Wording, part_label, part_mention, wording_for, wording_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..explanation import Explanation, MinimalSet

__all__ = ["Phrases", "joined"]

_VALUE = re.compile(r"(?<= )-?[\d.,]*\d(?=(e[+-]\d+)? → )|(?<=→ )-?[\d.,]*\d")
"""A number in the values of a smallest change, such as both of ``age 31 → 1,064``."""
_MOST_CHANGED = 5
"""The most parts of a smallest change that are named."""


@dataclass(frozen=True)
class Phrases:
    """Fills the templates of an audience with what an explanation says."""

    explanation: Explanation
    templates: Mapping[str, str]
    in_percent: bool

    @classmethod
    def of(
        cls, explanation: Explanation, audience: str, templates: Mapping[str, str] | None
    ) -> Self:
        """Return the phrases for an audience.

        Raises:
            InputError: the audience, a template or one of its fields is unknown.
        """
        return cls(explanation, templates_for(audience, templates), audience == "manager")

    def say(self, template: str, **fields: str | Sentence) -> Sentence:
        """Fill a template; a field may be a sentence that mentions parts."""
        said: Sentence = []
        for text, name, _, _ in Formatter().parse(self.templates[template]):
            value = fields[name] if name is not None else ""
            said += [text, *(value if isinstance(value, list) else [value])]
        return [each for each in said if each]

    def fact(self, template: str) -> Sentence:
        """Fill a template with facts about the whole explanation."""
        return self.say(template, **self.facts)

    def text(self, template: str, **fields: str | Sentence) -> str:
        """Fill a template, and name the parts that it mentions."""
        return plain(self.say(template, **fields), self.mention)

    def number(self, text: str) -> str:
        """Return a number with the decimal point and the thousands separator of the templates."""
        marks = {".": self.text("decimal_point"), ",": self.text("thousands_separator")}
        return "".join(marks.get(each, each) for each in text)

    def percent(self, fraction: float) -> str:
        """Return a fraction in percent; one that is close to 0 or 1 is not rounded to it."""
        text = percent(fraction)
        for words, template in (("less than ", "less_than"), ("more than ", "more_than")):
            if text.startswith(words):
                return self.text(template, share=self.number(text.removeprefix(words)))
        return self.number(text)

    def share(self, fraction: float, count: int) -> str:
        """Return a share of a number of samples, as text that ``of them`` can follow."""
        text = share_of(fraction, count)
        if text in ("all", "none"):
            return self.text(f"share_{text}")
        if text.startswith("all but "):
            return self.text("share_all_but", number=text.removeprefix("all but "))
        return self.number(text)

    def signed(self, effect: float, measure: Measure) -> str:
        """Return an effect with its sign, without its unit."""
        return with_minus_signs(self.number(measure.signed(effect)))

    def with_unit(self, number: str, measure: Measure) -> Sentence:
        """Return a formatted number with its unit, if it has one."""
        return self.say("points", number=number) if measure.unit else [number]

    def noun(self, words: Wording) -> str:
        """Return what a part is called, such as ``edge``."""
        return self.text(f"noun_{words.noun}")

    def nouns(self, words: Wording) -> str:
        """Return what several parts are called."""
        return self.text(f"nouns_{words.noun}")

    def counted(self, count: int, words: Wording) -> Sentence:
        """Return a number of parts in words."""
        noun = self.noun(words) if count == 1 else self.nouns(words)
        return self.say("counted", number=str(count), noun=noun)

    def mention(self, number: int) -> str:
        """Return the name of a part as it follows its noun: ``3 of node 7`` after ``step``."""
        node, what = self._within(number)
        if node is None:
            return part_mention(self.explanation, number)
        noun = wording_for(self.explanation, number).noun
        name = printable(what).removeprefix(f"{noun} ")
        about = {"noun": self.text("noun_node"), "node": label_of(node)}
        return self.text("of_node", name=name, **about)

    def label(self, number: int) -> str:
        """Return what lists call a part: ``5``, ``2 – 3`` or ``node 7, step 3``."""
        node, what = self._within(number)
        noun = wording_for(self.explanation, number)
        if noun.noun not in ("feature", "step"):
            return part_label(self.explanation, number)
        name = printable(self.explanation.names[number] if node is None else what)
        bare = name.removeprefix(f"{noun.noun} ")
        if bare != name:  # a column or a step without a name has a number
            name = f"{self.noun(noun)} {bare}"
        if node is None:
            return name
        return self.text("in_node", name=name, node=self.node(node))

    def node(self, node: Any) -> str:
        """Return what a node is called within a label: ``node 7``, or its name."""
        if not isinstance(node, int):
            return label_of(node)
        return self.text("part", noun=self.text("noun_node"), name=str(node))

    def _within(self, number: int) -> tuple[Any, Any]:
        """Return the node and the column or step of a part that is within a node, else None."""
        name, label = self.explanation.names[number], self.explanation.part_labels.get(number)
        if not isinstance(label, tuple) or not isinstance(name, tuple) or len(name) != 2:
            return None, None
        within = wording_for(self.explanation, number).noun in ("feature", "step")
        return name if within else (None, None)

    def action(self, words: Wording, part: Sentence, own: bool = False) -> Sentence:
        """Return what is done to a part, such as ``replacing the data of node 3``."""
        if words.how:
            return self.say("removing", verb=self.text(f"verb_{words.how}"), part=part)
        if words.noun == "part":
            return self.say("altering", part=part)
        if words.noun == "feature":
            named = [each.number for each in part if isinstance(each, Mention)]
            labels = self.explanation.part_labels
            if any(isinstance(labels[number], tuple) for number in named or labels):
                return self.say("replacing_value", part=part)
            return self.say("replacing_column", part=part, nodes=self.say("all_nodes"))
        return self.say("replacing_own" if own else "replacing", part=part)

    def part(self, number: int, words: Wording | None = None) -> Sentence:
        """Return a part with its noun, such as ``node 3``."""
        noun = self.text("noun_node") if words is None else self.noun(words)
        return self.say("part", noun=noun, name=[Mention(number)])

    def change(self, found: MinimalSet) -> Sentence:
        """Return the sentence about a smallest change of the prediction."""
        words = wording_of(self.explanation.settings)
        about: dict[str, str | Sentence] = {"often": self._often(found), **self.about}
        about |= {"noun": self.noun(words), "nouns": self.nouns(words)}
        if not found.parts:
            return self.say("change_none", **about)
        numbers = [self.explanation.names.index(part) for part in found.parts]
        kinds: dict[Wording, list[Sentence]] = {}
        for number in numbers[:_MOST_CHANGED]:
            kind = wording_for(self.explanation, number)
            kinds.setdefault(kind, []).append(self.part(number, kind))
        last = self.templates["and"]
        more = len(numbers) - _MOST_CHANGED
        if more > 0:
            kinds[list(kinds)[-1]].append(self.say("more_parts", number=str(more)))
        actions = [self.action(kind, joined(parts, ", ", last)) for kind, parts in kinds.items()]
        example: Sentence = []
        changed = [pair for pair in zip(numbers, found.values, strict=False) if " → " in pair[1]]
        for number, said in changed[:_MOST_CHANGED]:
            value = _VALUE.sub(lambda found: self.number(found[0]), said)
            # The value of a feature names the feature.
            is_feature = wording_for(self.explanation, number).noun == "feature"
            named: Sentence = [value] if is_feature else [Mention(number), f": {value}"]
            example += [*(["; "] if example else []), *named]
        shown = self.say("change_example", example=example) if example else []
        action = joined(actions, ", ", last)
        return self.say("change", action=action, example=shown, **about)

    def _often(self, found: MinimalSet) -> Sentence:
        if found.low == found.high and found.probability == 1:
            return self.say("change_always")
        share, low, high = (
            self.number(f"{100 * each:.1f}%") for each in (found.probability, found.low, found.high)
        )
        template = "change_rarely" if found.is_rare else "change_often"
        if not found.probability:
            template = "change_never"
        within = self.say("change_range", low=low, high=high) if found.low < found.high else []
        return self.say(template, share=share, range=within)

    @cached_property
    def about(self) -> dict[str, str | Sentence]:
        """The explained class or value, and the quantity that effects are changes of."""
        explanation = self.explanation
        if explanation.explained_class is not None:
            outcome = self.class_words(explanation.explained_class)
            return {"outcome": outcome, "measured": self.say("measured", outcome=outcome)}
        if len(explanation.values) > 1:
            return {"outcome": self._values, "measured": self.say("measured_values")}
        named = explanation.settings.model.class_names is not None
        name = value_labels(explanation)[0] if named else self.text("noun_value")
        return {"outcome": self._values, "measured": self.say("measured_value", name=name)}

    def class_words(self, number: int) -> Sentence:
        """Return what a class is called."""
        name = self.explanation.class_name
        if self.explanation.settings.model.output is None:
            return self.say("class", name=printable(name(number)))
        return self.say("label" if number == 1 else "no_label", name=printable(name(1)))

    @cached_property
    def _values(self) -> Sentence:
        """What a regression predicts: ``the value 3.2``, or ``price 3.2 and tax 0.6``."""
        explanation, last = self.explanation, self.templates["and"]
        model = explanation.settings.model
        values: list[Sentence] = [[self.number(f"{value:.4g}")] for value in explanation.values]
        if model.class_names is not None:
            called = zip(value_labels(explanation), values, strict=True)
            return joined([[f"{name} ", *value] for name, value in called], ", ", last)
        said = self.say(
            "values" if len(values) > 1 else "one_value", values=joined(values, ", ", last)
        )
        if model.output is None:
            return said
        return self.say("values_of_output", values=said, output=str(model.output))

    @cached_property
    def facts(self) -> dict[str, str | Sentence]:
        """The fields of the templates about the whole explanation."""
        explanation, words = self.explanation, wording_of(self.explanation.settings)
        effects, samples = explanation.effects, explanation.settings.sampling.num_samples
        found, before, mean = int(effects.significant.sum()), *self._levels()
        clear = found - count_unclear(effects)
        stayed, predicted = explanation.class_stayed, explanation.predicted_class
        changed = f"done_{words.how}" if words.how else ""
        warned = {
            "warnings": "; ".join(explanation.warnings),
            "num_warnings": str(len(explanation.warnings)),
        }
        return {
            "target": self._target(),
            "predicted": [] if predicted is None else self.class_words(predicted),
            "probability": before,
            "mean": mean,
            "stayed": "" if stayed is None else self.share(stayed, samples),
            "held": self.share(explanation.held, samples),
            "samples": self.number(f"{samples:,}"),
            "found": str(found),
            "clear": self.say("clear", number=str(clear) if clear else self.text("share_none"))
            if clear < found
            else "",
            "counted": self.counted(len(effects) + effects.left_out, words),
            "noun": self.noun(words),
            "nouns": self.nouns(words),
            "changed": self.text(changed or ("altered" if words.noun == "part" else "replaced")),
            "unit": self.say("in_points") if measure_of(explanation).unit else "",
            "level": level_words(explanation.settings),
            "perturbed": _within(describe_perturbed(explanation.settings)),
            "values": self._values if predicted is None else "",
            "action": self.action(words, self.say("any", noun=self.noun(words))),
            **warned,
            "warned": self.say("warned", **warned) if explanation.warnings else "",
            **self.about,
        }

    def _target(self) -> Sentence:
        explanation = self.explanation
        if explanation.task == "node":
            return self.part(int(explanation.ends[0]))
        if explanation.task == "edge":
            return self.say("pair", name=variable_label(explanation, explanation.target))
        if explanation.position is not None and explanation.title:
            number, name = str(explanation.position), printable(explanation.title)
            return self.say("graph_named", number=number, name=name)
        if explanation.position is not None:
            return self.say("graph_of_many", name=graph_label(explanation))
        return self.say("graph")

    def _levels(self) -> tuple[str, str]:
        """Return the explained quantity without perturbation, and its mean over the samples."""
        explanation, mean = self.explanation, self.explanation.sample_mean
        if explanation.probability is None:
            before = f"{explanation.values[0]:.4g}" if len(explanation.values) == 1 else ""
            return self.number(before), self.number(f"{mean:.4g}")
        numbers = explanation.probability, mean
        if self.in_percent:
            first, second = map(self.percent, numbers)
            return first, second
        first, second = map(self.number, figures(*numbers))
        return first, second


def joined(clauses: Sequence[Sentence], comma: str, last: str | None = None) -> Sentence:
    """Return clauses with a comma, or another text, between them, and ``last`` before the last."""
    text: Sentence = []
    for at, clause in enumerate(clauses):
        link = last if last is not None and at == len(clauses) - 1 else comma
        text += [link, *clause] if at else clause
    return text


def _within(sentences: str) -> str:
    """Return sentences in the form that is used within brackets."""
    return sentences[0].lower() + sentences[1:].rstrip(".").replace(". Each", "; each")
