"""What *held*, *changed* and *perturbed* mean, which the settings of an explanation decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from ..sampling.change import (
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
    "permute": "were replaced by those of another node, at random",
}
_WHERE_ALIKE = ", or by zeros and ones where all nodes are alike"


def meaning(settings: Mapping[str, Any]) -> str:
    """Say what the words of an explanation mean, by the settings it was made with.

    Examples:
        >>> meaning({"change": "fall(0.05)", "perturbation": "zero"})
        'Held, or kept: the probability of its class fell by no more than 0.05. Changed: it fell by
        more. Perturbed: its features were set to zero. Original: they were not.'
    """
    held, changed = _change(settings)
    features = "features" if settings.get("features") is None else "chosen features"
    done = _perturbation(str(settings["perturbation"]))
    return (
        f"Held, or kept: {held}. Changed: {changed}. "
        f"Perturbed: its {features} {done}. Original: they were not."
    )


def _change(settings: Mapping[str, Any]) -> tuple[str, str]:
    """What it is to have held, and to have changed."""
    written = str(settings["change"])
    try:
        change = as_change(written, str(settings.get("scores")))
    except InputError:  # a user's own, of which there is but the name
        return f"{printable(written)} says so", f"{printable(written)} says so"
    return _indicated(change)


def _indicated(change: Change) -> tuple[str, str]:
    """The same of a built-in indicator; the special ones come before those they are made from."""
    probability = "the probability of its class"
    match change:
        case LargeFall():
            move = "move" if isinstance(change, LargeMove) else "fall"
            either_way = " either way" if isinstance(change, LargeMove) else ""
            held = (
                f"{probability} did not {move}{either_way} by more than {change.most:g}, nor by "
                f"more than {change.share:g} of its own large {move}s (their 95th percentile)"
            )
            return held, "it did"
        case Levels():
            first, *others = change.thresholds
            held = f"{probability} fell by no more than {first:g}"
            if not others:
                return held, "it fell by more"
            further = ", ".join(
                f"{level} if by more than {each:g}" for level, each in enumerate(others, start=2)
            )
            return held, f"it fell by more (level 1; {further})"
        case Absolute():
            return f"{probability} moved by no more than {change.threshold:g}", "it moved by more"
        case Fall():
            return f"{probability} fell by no more than {change.threshold:g}", "it fell by more"
        case Flip():
            return "its class was still the most likely", "another class was"
        case TopDeviation():
            moved = f"the {100 * change.fraction:g}% of samples in which its value moved most"
            return f"not among {moved}", "among them"
        case TopFraction():
            fell = f"the {100 * change.fraction:g}% of samples in which {probability} fell most"
            return f"not among {fell}", "among them"
        case Deviation():
            return f"its value moved by no more than {change.tolerance:g}", "it moved by more"
    return f"{printable(change.name)} says so", f"{printable(change.name)} says so"


def _perturbation(name: str) -> str:
    """What was done to the features of a perturbed node."""
    usual = name.removesuffix(" and random")
    if usual not in _DONE:
        return f"were replaced by {printable(name)}"
    return _DONE[usual] + (_WHERE_ALIKE if usual != name else "")
