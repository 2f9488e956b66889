"""Settings of version 4 of the JSON format, in which choices were texts such as ``fall(0.05)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...choices import Recorded
from ...errors import FileError, InputError
from ...querying import TASKS
from ...sampling import CHANGE_TYPES, PERTURBATIONS, WITH_RANDOM, Change, RandomWhereConstant
from ...selection import TESTS
from ...settings import Settings
from ...significance import CORRECTIONS
from ...storage.checked import Checked
from ...structure import SCORES, SEARCHES
from .settings_file import make_settings

__all__ = ["change_from_text", "settings_from_version4"]

_NEEDED: dict[str, Callable[[Checked], Any]] = {
    "task": lambda task: task.one_of(tuple(TASKS)),
    "num_samples": lambda count: count.whole_number(at_least=1),
    "perturbation": Checked.text,
    "perturb_probability": Checked.fraction,
    "change": Checked.text,
    "seed": Checked.large_number,
    "significance": Checked.fraction,
    "correction": lambda correction: correction.one_of(tuple(CORRECTIONS)),
    "output": lambda output: output.or_none(Checked.whole_number),
    "class_names": lambda names: names.or_none(Checked.texts),
}
_CHOICES: dict[str, Any] = {"test": TESTS, "score": SCORES, "structure": SEARCHES}


def settings_from_version4(settings: Checked) -> Settings:
    """Return the settings of a version 4 document; missing options have their defaults.

    Raises:
        FileError: a required option is missing, or an option cannot be used.
    """
    known = dict(settings.entries())
    for name, check in _NEEDED.items():
        if name not in known:
            raise FileError(f"{settings.place} has no field {name!r}: the file is incomplete")
        check(known[name])
    options = {name: value.plain() for name, value in known.items()}
    options["change"] = change_from_text(options["change"]) or Recorded(options["change"])
    options["perturbation"] = _perturbation(options["perturbation"], options.get("features"))
    options["hops"] = options.get("hops") or None  # 0 stood for a model without layers
    options.setdefault("structure", "auto")
    for name, choices in _CHOICES.items():
        if isinstance(options.get(name), str) and options[name] not in choices:
            options[name] = Recorded(options[name])
    return make_settings(options, settings)


def change_from_text(text: str) -> Change | None:
    """Return the change that a text such as ``fall(0.05)`` denotes; None if there is none.

    Examples:
        >>> change_from_text("fall(0.05)").threshold
        0.05
    """
    name, _, numbers = text.partition("(")
    make = CHANGE_TYPES.get(name)
    if make is None or bool(numbers) != text.endswith(")"):
        return None
    try:
        values = [float(number) for number in numbers.removesuffix(")").split(",") if numbers]
        return make(values) if name == "levels" and values else make(*values)
    except (InputError, TypeError, ValueError):
        return None  # a user-defined change with a similar name


def _perturbation(name: str, features: Any) -> Any:
    if name in WITH_RANDOM:
        chosen = tuple(features) if isinstance(features, list) else None
        return RandomWhereConstant(WITH_RANDOM[name], chosen)
    return PERTURBATIONS.get(name, Recorded(name))
