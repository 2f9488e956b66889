"""What *held* and *perturbed* mean in an explanation, in a plain sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    read_change,
)
from .names import listed, printable

__all__ = ["describe_held", "describe_perturbed", "describe_terms"]

_NEW_FEATURES = {
    "mean": "their mean",
    "zero": "0",
    "max": "their largest values",
    "random": "0 or 1, each by a fair coin",
    "uniform": "what they were plus noise of up to half their range",
    "permute": "those of another node",
}
_RANDOM_TOO = " and random"
"""How the name of ``auto`` ends where nodes of one kind, not of all, have the same features."""


def describe_terms(settings: Mapping[str, Any]) -> str:
    """Say what held and perturbed mean, by the settings of an explanation."""
    return f"{describe_held(settings)} {describe_perturbed(settings)}"


def describe_held(settings: Mapping[str, Any]) -> str:
    """Say when a prediction counts as one that held.

    Args:
        settings: those of an explanation.

    Examples:
        >>> describe_held({"task": "graph", "change": "fall(0.05)"})
        'Held: the probability of its class did not fall by more than 0.05.'
    """
    word = "Held, or kept" if settings["task"] == "node" else "Held"
    change = read_change(str(settings["change"]))
    if change is None:
        return f"{word}: the change {printable(settings['change'])!r} says so."
    own = settings.get("explained_class") is None and settings.get("output") is None
    return f"{word}: {_held(change, 'its class' if own else 'the explained class')}."


def describe_perturbed(settings: Mapping[str, Any]) -> str:
    """Say what happens to a node that is perturbed, and how often.

    Args:
        settings: those of an explanation.

    Examples:
        >>> describe_perturbed({"perturbation": "zero", "perturb_probability": 0.1})
        "Perturbed: with probability 0.1 in each graph, a node's features became 0."
    """
    features = "features" if settings.get("features") is None else "chosen features"
    name = str(settings["perturbation"])
    usual = name.removesuffix(_RANDOM_TOO)
    new = _NEW_FEATURES.get(usual, f"what {printable(name)!r} makes of them")
    if usual in _NEW_FEATURES and usual != name:
        new += " or, where all are the same, 0 or 1 by a fair coin"
    often = f"with probability {settings['perturb_probability']:g} in each graph"
    return f"Perturbed: {often}, a node's {features} became {new}."


def _held(change: Change, its_class: str) -> str:
    """What is so when a prediction held; a kind of change comes before the one it is based on."""
    probability = f"the probability of {its_class}"
    match change:
        case LargeFall():
            verb = "move" if isinstance(change, LargeMove) else "fall"
            return (
                f"{probability} did not {verb} by more than {change.most:g}, nor by more than "
                f"{change.share:g} of its own large {verb}s (the 95th percentile of them)"
            )
        case Fall():
            verb = "move" if isinstance(change, Absolute) else "fall"
            return f"{probability} did not {verb} by more than {change.threshold:g}"
        case Levels():
            return f"{probability} did not fall by more than {_levels(change)}"
        case Flip():
            return f"{its_class} was the most likely one"
        case TopDeviation():
            return f"{_not_among(change)} a predicted value moved most"
        case TopFraction():
            return f"{_not_among(change)} {probability} fell most"
        case Deviation():
            return f"no predicted value moved by more than {change.tolerance:g}"
    return f"the change {printable(change.name)!r} says so"


def _levels(change: Levels) -> str:
    """The least fall that counts and, if there are more, what the levels are."""
    passed = [f"{each:g}" for each in change.thresholds]
    if len(passed) == 1:
        return passed[0]
    return f"{passed[0]}; its level of change is how many of {listed(passed)} the fall exceeds"


def _not_among(change: TopFraction) -> str:
    return f"the graph is not among those, about {100 * change.fraction:.3g}%, in which"
