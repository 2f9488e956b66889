"""Settings as plain JSON values, and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from math import isfinite
from numbers import Integral
from typing import Any

from ...arrays import is_number
from ...choices import Description, Recorded
from ...errors import FileError, InputError
from ...limits import brief
from ...model_config import ModelConfig
from ...network import NetworkConfig
from ...sampling import PERTURBATIONS, SamplingConfig
from ...sampling.change import CHANGE_TYPES
from ...sampling.parts import PART_KINDS, Mixed
from ...sampling.perturbation import WITH_RANDOM, RandomWhereConstant
from ...selection import TESTS, SelectionConfig
from ...settings import CHOICES, Settings
from ...significance import SignificanceConfig
from ...storage.checked import Checked
from ...structure import (
    SCORES,
    SEARCHES,
    BDeuScore,
    BDsScore,
    FNMLScore,
    HeldOutScore,
    PenalisedLikelihood,
    QNMLScore,
)
from ...structure.graph_searches import DEPENDENCY_SEARCHES, MARKOV_SEARCHES
from ...structure.search import NamedSearch

__all__ = ["settings_from_dict", "settings_to_dict"]

Maker = Callable[[str], Callable[..., Any] | None]
"""Returns what creates a choice of a name, or None if the name is unknown."""

_CONFIGS: dict[str, Any] = {
    "model": ModelConfig,
    "sampling": SamplingConfig,
    "significance": SignificanceConfig,
    "selection": SelectionConfig,
    "network": NetworkConfig,
}


def settings_to_dict(settings: Settings) -> dict[str, Any]:
    """Return the options by name as plain values, choices as a name with parameters.

    Raises:
        InputError: a value cannot be represented in JSON.
    """
    return {
        name: _plain_choice(value.describe())
        if name in CHOICES and value is not None
        else _plain(value)
        for name, value in settings.options().items()
    }


def _plain_choice(choice: Description) -> dict[str, Any]:
    own = {"own": True} if choice.own else {}
    return {"name": choice.name, **{k: _plain(v) for k, v in choice.parameters.items()}, **own}


def _plain(value: Any) -> Any:
    if isinstance(value, Description):
        return _plain_choice(value)
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if is_number(value) and isfinite(value):
        return int(value) if isinstance(value, Integral) else float(value)
    raise InputError(
        f"the setting {brief(value)} cannot be saved; use finite numbers, strings and lists"
    )


def settings_from_dict(settings: Checked) -> Settings:
    """Return the settings that :func:`settings_to_dict` wrote.

    Raises:
        FileError: an option is missing, unknown, or has a value that cannot be used.
    """
    names = {key: list(config.__dataclass_fields__) for key, config in _CONFIGS.items()}
    if dict(settings.entries()).get("structure", settings).value is None:  # there is no network
        names["network"] = ["structure"]
    fields = settings.fields(*chain.from_iterable(names.values()))
    options = {name: each.plain() for name, each in fields.items() if name not in CHOICES}
    fields["features"].or_none(lambda listed: [each.whole_number() for each in listed.items()])
    makers: dict[str, Maker] = {
        **_MAKERS,
        "perturbation": partial(_perturbation, options["features"]),
        "structure": partial(_search, options.get("family")),
    }
    for name in fields:
        if name == "parts":
            options[name] = _read_parts(fields[name])
        elif name in CHOICES:
            options[name] = fields[name].or_none(partial(_read, make=makers[name]))
    try:
        configs = {
            key: _CONFIGS[key](**{name: options[name] for name in its})
            for key, its in names.items()
            if key != "network" or options["structure"] is not None
        }
        return Settings(**{"network": None, **configs})
    except InputError as error:
        raise FileError(f"{settings.place} cannot be used: {error}") from None


def _read(choice: Checked, make: Maker) -> Any:
    """Return a choice from its name and parameters; a user-defined one has only its name."""
    parameters = dict(choice.entries())
    if "name" not in parameters:
        raise FileError(f"{choice.place} has no field 'name': the file is incomplete")
    name = parameters.pop("name").text()
    if "own" in parameters and parameters.pop("own").flag():
        return Recorded(name)
    maker = make(name)
    if maker is None:
        raise FileError(f"{choice.place}.name is {brief(name)}, which is unknown to this version")
    try:
        written = {key: value.plain() for key, value in parameters.items()}
        made = maker(**written)
    except TypeError:
        known = ", ".join(parameters) or "none"
        raise FileError(
            f"{choice.place} has other parameters than {brief(name)}: {known}"
        ) from None
    except InputError as error:
        raise FileError(f"{choice.place} cannot be used: {error}") from None
    expected = {key: _plain(value) for key, value in made.describe().parameters.items()}
    missing = set(expected).difference(written)
    if missing:
        raise FileError(f"{choice.place} has no field {brief(min(missing))}: it is incomplete")
    if expected != written:
        raise FileError(f"{choice.place} has {brief(written)} in place of {brief(expected)}")
    return made


def _perturbation(features: Any, name: str) -> Callable[..., Any] | None:
    if name in WITH_RANDOM:
        chosen = tuple(features) if isinstance(features, list) else None
        return lambda: RandomWhereConstant(WITH_RANDOM[name], chosen)
    return (lambda: PERTURBATIONS[name]) if name in PERTURBATIONS else None


def _search(family: Any, name: str) -> Callable[..., Any] | None:
    """Return the function that creates a search of a family."""
    if family == "markov":
        return type(MARKOV_SEARCHES[name]) if name in MARKOV_SEARCHES else None
    if family == "dependency":
        return (lambda: DEPENDENCY_SEARCHES[name]) if name in DEPENDENCY_SEARCHES else None
    kind = type(SEARCHES.get(name))
    if kind is NamedSearch:
        return partial(NamedSearch, name)
    return kind if name in SEARCHES else None


def _score(name: str) -> Callable[..., Any]:
    kind = type(SCORES.get(name))
    if kind in (BDsScore, FNMLScore, HeldOutScore, QNMLScore):
        return kind

    def make(**parameters: Any) -> Any:
        kind = BDeuScore if "equivalent_samples" in parameters else PenalisedLikelihood
        return kind(name=name, **parameters)

    return make


def _parts(name: str) -> Callable[..., Any] | None:
    return type(PART_KINDS[name]) if name in PART_KINDS else None


def _read_parts(parts: Checked) -> Any:
    """Return a kind of parts, or several kinds."""
    fields = dict(parts.entries())
    if "kinds" not in fields:
        return _read(parts, _parts)
    parts.fields("name", "kinds")
    try:
        return Mixed(tuple(_read(kind, _parts) for kind in fields["kinds"].items()))
    except InputError as error:
        raise FileError(f"{parts.place} cannot be used: {error}") from None


_MAKERS: dict[str, Maker] = {
    "change": CHANGE_TYPES.get,
    "test": lambda name: (lambda: TESTS[name]) if name in TESTS else None,
    "score": _score,
}
