"""What *changed*, *held* and *perturbed* mean, which the settings of an explanation decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from ..sampling import (
    Absolute,
    Change,
    Deviation,
    Fall,
    Flip,
    LargeFall,
    LargeMove,
    Levels,
    TopDeviation,
    TopFraction,
    as_change,
)
from .names import printable

__all__ = ["meaning"]

_DONE = {
    "mean": "were replaced by their mean",
    "zero": "were set to zero",
    "max": "were set to the largest there are",
    "random": "were replaced by zeros and ones at random",
    "uniform": "were moved at random, by up to half of their range",
    "permute": "were replaced by those of another node at random",
}
_CHANCE = "the probability of its class"


def meaning(settings: Mapping[str, Any]) -> str:
    """Say what the words of an explanation mean, by the settings it was made with.

    Examples:
        >>> for sentence in meaning({"change": "flip", "perturbation": "zero"}).split(". "):
        ...     print(sentence)
        A prediction changed if another class was the most likely; else it held, or was kept
        A node was perturbed if its features were set to zero; else it was original.
    """
    change, perturbation = str(settings["change"]), str(settings["perturbation"])
    features = "features" if settings.get("features") is None else "chosen features"
    return (
        f"A prediction changed {_changed(change, str(settings.get('scores')))}; else it held, or "
        f"was kept. A node was perturbed if its {features} {_perturbed(perturbation)}; else it was "
        f"original."
    )


def _changed(written: str, scores: str) -> str:
    """When a prediction counts as changed."""
    try:
        return _indicated(as_change(written, scores))
    except InputError:  # a user's own, of which there is but the name
        return f"if {printable(written)} said so"


def _indicated(change: Change) -> str:
    """The same by the indicator; the special ones come before those they are made from."""
    match change:
        case LargeMove():
            return f"if {_CHANCE} moved{_large(change, 'moves')}"
        case LargeFall():
            return f"if {_CHANCE} fell{_large(change, 'falls')}"
        case Levels():
            return f"if {_CHANCE} fell by more than {_graded(change)}"
        case Absolute():
            return f"if {_CHANCE} moved by more than {change.threshold:g}, up or down"
        case Fall():
            return f"if {_CHANCE} fell by more than {change.threshold:g}"
        case Flip():
            return "if another class was the most likely"
        case TopDeviation():
            return f"in the {100 * change.fraction:g}% of samples in which its value moved most"
        case TopFraction():
            return f"in the {100 * change.fraction:g}% of samples in which {_CHANCE} fell most"
        case Deviation():
            return f"if its value moved by more than {change.tolerance:g}, up or down"
    return f"if {printable(change.name)} said so"


def _large(change: LargeFall, own: str) -> str:
    way = ", up or down," if isinstance(change, LargeMove) else ""
    return (
        f"{way} by more than {change.most:g}, or by more than {change.share:g} of its own large "
        f"{own} (their 95th percentile)"
    )


def _graded(change: Levels) -> str:
    first, *others = change.thresholds
    further = [f"changed {level}: {each:g}" for level, each in enumerate(others, start=2)]
    return f"{first:g}" + (f" ({', '.join(further)})" if further else "")


def _perturbed(name: str) -> str:
    """What was done to the features of a perturbed node."""
    usual = name.removesuffix(" and random")
    if usual not in _DONE:
        return f"were replaced by {printable(name)}"
    return _DONE[usual] + (", or by zeros and ones where all are alike" if usual != name else "")
