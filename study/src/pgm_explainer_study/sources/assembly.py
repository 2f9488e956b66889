"""What all studies share: control arms, texts, checks of understanding."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numpy.random import SeedSequence, default_rng

from pgm_explainer import InputError

from ..checked import Checked
from ..scenes import GraphScene, Scene
from ..study_file import (
    Arm,
    Choice,
    Design,
    Exclusions,
    Forecast,
    Item,
    Scale,
    Study,
    Texts,
    read_study,
    study_to_dict,
)

__all__ = ["Case", "assemble", "free_parts", "identifier"]

RANDOM, NONE = Arm("random", "random", "random"), Arm("none", "no explanation", "none")

_CONSENT = """\
You can take part if you are at least 18 years old. Taking part is voluntary. You can stop at any \
time by closing this page, without giving a reason.

We store your answers, the time that each answer took, and when you began and answered. We do not \
ask for your name, and store neither your network address nor anything about your device. An \
identifier from a recruiting service is stored only in a form from which it cannot be read.

[Researchers: add who you are, the purpose, the pay, the ethics approval, how long data are kept, \
whether they will be published, and whom to contact. See docs/human-study.md.]"""
_THANKS = "Thank you. Your answers have been saved."


@dataclass(frozen=True)
class Case:
    """A prediction and what explainers found, before control arms are added.

    Attributes:
        found: for each explainer the parts it found, most important first.
        candidates: the parts that the random arm chooses from.
    """

    id: str
    caption: str
    scene: Scene
    found: Mapping[str, Sequence[int]]
    candidates: Sequence[int]
    forecast: Forecast | None = None


def assemble(
    title: str,
    cases: Sequence[Case],
    names: Mapping[str, str],
    options: argparse.Namespace,
    *,
    things: str,
    intro: str,
    change: str,
    notes: str,
) -> Study:
    """Return a study of these cases.

    Every arm highlights the same number of parts of an item: as many as the explainer that found
    the fewest, and at most ``options.parts``.

    Args:
        names: the name of each explainer, by its short name.
        options: ``seed``, ``design`` (``"default"``: with the control arms, or ``"paper"``),
            ``parts``, ``arms_per_item``, ``repeats`` and ``attention``.
        things: the parts as raters call them, such as ``"regions"``.
        change: what happens to the marked part of a forecast, for the instructions.
    """
    if not cases:
        raise InputError("the study would have no items")
    paper = options.design == "paper"
    explainers = tuple(Arm(each, name) for each, name in names.items())
    arms = explainers if paper else (*explainers, RANDOM, NONE)
    items = tuple(
        _item(case, number, arms, options, with_forecast=not paper)
        for number, case in enumerate(cases)
    )
    rated = [arm.id for arm in arms if arm.kind != "none"]
    per_item = options.arms_per_item or (len(rated) if paper else min(3, len(rated)))
    ratings = len(items) * per_item
    repeats = _or(options.repeats, 0 if paper else min(6, ratings // 4))
    attention = _or(options.attention, 0 if paper else min(3, ratings // 8))
    study = Study(
        title=title,
        seed=options.seed,
        texts=_texts(intro, things, change, any(item.forecast for item in items)),
        arms=arms,
        scale=Scale(
            f"How important are the highlighted {things} to the model's prediction?",
            0,
            10,
            "not important at all",
            "extremely important",
        ),
        checks=() if paper else _checks(things),
        design=Design(per_item, repeats, attention),
        exclusions=Exclusions(),
        contrasts=tuple((rated[0], other) for other in rated[1:]),
        items=items,
        notes=notes,
    )
    return read_study(Checked(json.loads(json.dumps(study_to_dict(study))), "the new study"))


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def _item(
    case: Case, number: int, arms: Sequence[Arm], options: argparse.Namespace, with_forecast: bool
) -> Item:
    count = min(options.parts, *(len(found) for found in case.found.values()))
    if count == 0:
        raise InputError(f"an explainer found nothing in {case.id}; leave this prediction out")
    highlights = {name: tuple(found[:count]) for name, found in case.found.items()}
    seed = SeedSequence(options.seed, spawn_key=(1000, number))
    chosen = default_rng(seed).choice(list(case.candidates), count, replace=False)
    controls = {RANDOM.id: tuple(int(each) for each in chosen), NONE.id: ()}
    highlights |= {arm.id: controls[arm.id] for arm in arms if arm.id in controls}
    forecast = case.forecast if with_forecast else None
    return Item(case.id, case.caption, case.scene, highlights, forecast)


def _texts(intro: str, things: str, change: str, forecasts: bool) -> Texts:
    rating = (
        f"Some {things} are highlighted in orange. Rate how important you think the highlighted "
        f"{things} are to what the model predicted, from 0 to 10. There is no right or wrong "
        f"answer, and the same picture can come with other {things} highlighted. Now and then a "
        f"question asks you to choose a certain number."
    )
    forecast = (
        f"In some pictures, {things} that may matter to the model are highlighted in orange. One "
        f"of the {things} has a dashed blue mark. Imagine that {change}. What will the model say?"
    )
    return Texts(intro, _CONSENT, rating, forecast if forecasts else "", _THANKS)


def _checks(things: str) -> tuple[Choice, ...]:
    return (
        Choice(
            f"What do the {things} highlighted in orange show?",
            (
                f"{things.capitalize()} that someone says mattered to the model's prediction",
                f"{things.capitalize()} that I should remember",
                "Mistakes in the picture",
            ),
            0,
            "They are an explanation: what is said to have mattered to the model's prediction.",
        ),
        Choice(
            "What do you rate?",
            (
                "How much I like the picture",
                f"How important the highlighted {things} are to the model's prediction",
                "How certain I am that the model is right",
            ),
            1,
            f"You rate how important the highlighted {things} are to the model's prediction.",
        ),
    )


def identifier(text: str) -> str:
    """Return a short name derived from a text.

    Examples:
        >>> identifier("PGM-Explainer (ours)")
        'pgm-explainer-ours'
    """
    words = "".join(each if each.isascii() and each.isalnum() else " " for each in text.lower())
    return "-".join(words.split())[:40] or "arm"


def free_parts(scene: GraphScene) -> list[int]:
    """Return the nodes of a neighbourhood without its targets."""
    return [node for node in range(len(scene.positions)) if node not in scene.targets]
