"""A study as a file: JSON with a version, checked in full when it is read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pgm_explainer import FileError

from .checked import Checked, read_json
from .files import write_text
from .scenes import Scene, read_scene, scene_to_dict

__all__ = [
    "Arm",
    "Choice",
    "Design",
    "Exclusions",
    "Forecast",
    "Item",
    "Scale",
    "Study",
    "Texts",
    "load_study",
    "read_study",
    "save_study",
    "study_to_dict",
]

FORMAT, VERSION = "pgm-explainer-study", 1
_ITEMS, _ARMS, _LONG, _OPTIONS = 2000, 12, 20_000, 20


@dataclass(frozen=True)
class Arm:
    """One of the compared explainers.

    Attributes:
        id: its short name in data and reports; never shown to raters.
        name: its name in reports.
        kind: ``"explainer"``, ``"random"`` or ``"none"``, which highlights nothing and is shown in
            forecasts only.
    """

    id: str
    name: str
    kind: str = "explainer"


@dataclass(frozen=True)
class Scale:
    """The rating question, and its scale of whole numbers with a label at each end."""

    question: str
    least: int
    most: int
    low: str
    high: str


@dataclass(frozen=True)
class Choice:
    """A multiple-choice question about the instructions; ``hint`` follows a wrong answer."""

    question: str
    options: tuple[str, ...]
    correct: int
    hint: str


@dataclass(frozen=True)
class Forecast:
    """What will the model say if a part is changed? The same part for every arm.

    Attributes:
        probe: the part that is marked as changed.
        options: the possible answers.
        correct: the answer of the model itself.
    """

    probe: int
    question: str
    options: tuple[str, ...]
    correct: int


@dataclass(frozen=True)
class Item:
    """A prediction: what it is, its picture, and what each arm highlights in it."""

    id: str
    caption: str
    scene: Scene
    highlights: dict[str, tuple[int, ...]]
    forecast: Forecast | None = None


@dataclass(frozen=True)
class Design:
    """How many trials a rater gets.

    Attributes:
        arms_per_item: in how many arms each rater rates each item.
        repeats: rating trials that are shown a second time.
        attention: trials that say which answer to give.
    """

    arms_per_item: int
    repeats: int
    attention: int


@dataclass(frozen=True)
class Exclusions:
    """Rules, fixed before the study, by which raters are left out of the analysis.

    Attributes:
        least_answered: minimum share of trials answered.
        check_attempts: a question about the instructions must be right within this many attempts.
        attention_failures: maximum number of failed attention checks.
        least_median_ms: minimum median time per rating.
        same_answer: maximum share of ratings that are the same number.
    """

    least_answered: float = 0.9
    check_attempts: int = 2
    attention_failures: int = 1
    least_median_ms: int = 700
    same_answer: float = 0.95


@dataclass(frozen=True)
class Texts:
    """What raters read; plain text, in which empty lines separate paragraphs."""

    intro: str
    consent: str
    rating: str
    forecast: str
    thanks: str


@dataclass(frozen=True)
class Study:
    """Everything about a study except its answers."""

    title: str
    seed: int
    texts: Texts
    arms: tuple[Arm, ...]
    scale: Scale
    checks: tuple[Choice, ...]
    design: Design
    exclusions: Exclusions
    contrasts: tuple[tuple[str, str], ...]
    items: tuple[Item, ...]
    notes: str = field(default="")

    @property
    def rated_arms(self) -> tuple[Arm, ...]:
        """The arms that highlight something; only these can be rated."""
        return tuple(arm for arm in self.arms if arm.kind != "none")

    @property
    def code(self) -> str:
        """A hash of the contents, by which answers are matched to their study."""
        text = json.dumps(study_to_dict(self), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def study_to_dict(study: Study) -> dict[str, Any]:
    """Return a study as JSON values."""
    plain = asdict(replace(study, items=()))
    items = [
        {**asdict(replace(item, scene=None)), "scene": scene_to_dict(item.scene)}  # type: ignore[arg-type]
        for item in study.items
    ]
    return {"format": FORMAT, "version": VERSION, **plain, "items": items}


def save_study(study: Study, path: Path) -> None:
    """Write a study; it is checked first, so that what was written can be read."""
    document = json.loads(json.dumps(study_to_dict(study)))
    read_study(Checked(document, "study"))
    head = {name: value for name, value in document.items() if name != "items"}
    lines = json.dumps(head, indent=1, ensure_ascii=False)[:-2]  # readable, one line per item
    items = ",\n".join(json.dumps(item, ensure_ascii=False) for item in document["items"])
    write_text(path, f'{lines},\n "items": [\n{items}\n]}}\n')


def load_study(path: Path) -> Study:
    """Read a study from a file.

    Raises:
        FileError: it is missing, is not a study, or is invalid; the message says where.
    """
    return read_study(read_json(path, "a study made by pgm-explainer study make"))


def read_study(document: Checked) -> Study:
    """Read what :func:`study_to_dict` returns; every value is checked."""
    found = dict(document.entries())
    if "format" not in found or found["format"].value != FORMAT:
        raise FileError(f"{document.place} is not a study; make one: pgm-explainer study make")
    if "version" not in found or found["version"].value != VERSION:
        raise FileError(f"{document.place} has another version than {VERSION}; make it again")
    names = ("title", "seed", "texts", "arms", "scale", "checks", "design", "exclusions")
    f = document.fields("format", "version", *names, "contrasts", "items", "notes")
    arms = _arms(f["arms"])
    study = Study(
        f["title"].text(200, 1),
        f["seed"].whole(),
        Texts(**{n: t.text(_LONG) for n, t in f["texts"].fields(*Texts.__annotations__).items()}),
        arms,
        _scale(f["scale"]),
        tuple(_choice(each) for each in f["checks"].items(10)),
        _design(f["design"], sum(arm.kind != "none" for arm in arms)),
        _exclusions(f["exclusions"]),
        tuple(_contrast(each, arms) for each in f["contrasts"].items(60)),
        tuple(_item(each, arms) for each in f["items"].items(_ITEMS, 1)),
        f["notes"].text(_LONG),
    )
    _check_whole(study, document)
    return study


def _check_whole(study: Study, document: Checked) -> None:
    """Check that the parts of a study are consistent."""
    if len({item.id for item in study.items}) < len(study.items):
        raise FileError(f"{document.place}.items has two items with the same id")
    most = len(study.items) * study.design.arms_per_item
    if study.design.repeats > most // 2:
        raise FileError(
            f"{document.place}.design.repeats should be at most {most // 2}, half of "
            f"the {most} ratings, but it is {study.design.repeats}"
        )


def _arms(document: Checked) -> tuple[Arm, ...]:
    arms = []
    for each in document.items(_ARMS, 1):
        f = each.fields("id", "name", "kind")
        kind = f["kind"].one_of("explainer", "random", "none")
        arms.append(Arm(f["id"].identifier(), f["name"].text(60, 1), kind))
    if len({arm.id for arm in arms}) < len(arms) or all(arm.kind == "none" for arm in arms):
        document.refuse("arms with different ids, of which one highlights something")
    return tuple(arms)


def _scale(document: Checked) -> Scale:
    f = document.fields("question", "least", "most", "low", "high")
    least = f["least"].whole(-100, 100)
    most = f["most"].whole(least + 1, least + 20)
    return Scale(f["question"].text(500, 1), least, most, f["low"].text(), f["high"].text())


def _choice(document: Checked) -> Choice:
    f = document.fields("question", "options", "correct", "hint")
    options = tuple(each.text(200, 1) for each in f["options"].items(_OPTIONS, 2))
    correct = f["correct"].whole(0, len(options) - 1)
    return Choice(f["question"].text(500, 1), options, correct, f["hint"].text(1000))


def _design(document: Checked, rated: int) -> Design:
    f = document.fields("arms_per_item", "repeats", "attention")
    per_item = f["arms_per_item"].whole(1, rated)
    return Design(per_item, f["repeats"].whole(0, 1000), f["attention"].whole(0, 50))


def _exclusions(document: Checked) -> Exclusions:
    f = document.fields(*Exclusions.__annotations__)
    return Exclusions(
        f["least_answered"].number(),
        f["check_attempts"].whole(1, 10),
        f["attention_failures"].whole(0, 50),
        f["least_median_ms"].whole(0, 600_000),
        f["same_answer"].number(),
    )


def _contrast(document: Checked, arms: tuple[Arm, ...]) -> tuple[str, str]:
    first, second = document.items(2, 2)
    rated = [arm.id for arm in arms if arm.kind != "none"]
    pair = first.one_of(*rated), second.one_of(*rated)
    if pair[0] == pair[1]:
        document.refuse("two different arms")
    return pair


def _item(document: Checked, arms: tuple[Arm, ...]) -> Item:
    f = document.fields("id", "caption", "scene", "highlights", "forecast")
    scene = read_scene(f["scene"])
    last = scene.num_parts - 1
    highlights = {}
    for name, parts in f["highlights"].fields(*(arm.id for arm in arms)).items():
        found = tuple(part.whole(0, last) for part in parts.items(last + 1))
        kind = next(arm.kind for arm in arms if arm.id == name)
        if len(set(found)) < len(found) or (kind == "none") != (not found):
            parts.refuse("different parts; none at all in the arm without an explanation")
        highlights[name] = found
    forecast = f["forecast"].or_none(lambda each: _forecast(each, last))
    return Item(f["id"].identifier(), f["caption"].text(300), scene, highlights, forecast)


def _forecast(document: Checked, last: int) -> Forecast:
    f = document.fields("probe", "question", "options", "correct")
    options = tuple(each.text(200, 1) for each in f["options"].items(_OPTIONS, 2))
    correct = f["correct"].whole(0, len(options) - 1)
    return Forecast(f["probe"].whole(0, last), f["question"].text(500, 1), options, correct)
