"""Sentences that define *kept* and *perturbed* for an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..sampling import (
    Absolute,
    Change,
    Deviation,
    Fall,
    Flip,
    LargeFall,
    LargeMove,
    Levels,
    Perturbation,
    SamplingConfig,
    TopDeviation,
    TopFraction,
)
from ..sampling.perturbation import RandomWhereConstant
from ..settings import Settings
from .measure import figures, measure_of, share_of
from .names import class_label, listed, printable
from .wording import kind_names

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["describe_held", "describe_kept", "describe_perturbed", "describe_terms"]

_NEW_FEATURES = {
    "mean": "their mean",
    "zero": "0",
    "max": "their maximum",
    "min": "their minimum",
    "random": "0 or 1 with equal probability",
    "uniform": "their values plus uniform noise of up to half their range",
    "permute": "the features of another node",
    "substitute": (
        "the features of a random node (common ones are drawn less often than they occur), even if "
        "the edges do not permit them"
    ),
}


def describe_terms(settings: Settings) -> str:
    """Define kept and perturbed for the settings of an explanation."""
    return f"{describe_held(settings)} {describe_perturbed(settings)}"


_NOTICEABLE = 1e-4
"""If a threshold is below this, the text says that the probability did not fall at all."""


def describe_kept(explanation: Explanation) -> str:
    """Return when the prediction counts as kept, with the explanation's numbers, and how often.

    The network models this, not whether the predicted class stayed the same.
    """
    condition = _kept(explanation) or _held(
        explanation.settings.sampling.change, "the explained class"
    )
    samples = explanation.settings.sampling.num_samples
    often = share_of(explanation.held, samples)
    others = "; the same rule applies to the predictions of other nodes"
    has_others = explanation.settings.model.has_own_predictions and not explanation.part_labels
    return (
        f"In the network, “kept” means that {condition}. That was so in {often} of {samples:,} "
        f"samples{others if has_others else ''}."
    )


def _kept(explanation: Explanation) -> str:
    """Return the condition in numbers; empty if the change has none."""
    measure, change = measure_of(explanation), explanation.settings.sampling.change
    if isinstance(change, Flip) and explanation.explained_class is not None:
        return f"{class_label(explanation, explanation.explained_class)} was the most likely class"
    if not explanation.thresholds:
        return ""
    several = len(explanation.values) > 1 and explanation.probability is None
    by = explanation.thresholds[0]
    if several:
        return f"no predicted value changed by more than {by:.3g}"
    limits = (0.0, 1.0) if explanation.probability is not None else (-np.inf, np.inf)
    before = explanation.values[explanation.explained_class or 0]
    lowest = [before - each for each in explanation.thresholds]
    if isinstance(change, (LargeMove, Absolute, Deviation, TopDeviation)):
        low, high = max(lowest[0], limits[0]), min(before + by, limits[1])
        now, low_text, high_text = figures(before, low, high)
        return f"{measure.what} stayed between {low_text} and {high_text} ({now} unperturbed)"
    if lowest[0] <= 0:
        return f"{measure.what} did not fall by more than {by:.3g} (it cannot fall that far)"
    now, *below = figures(before, *lowest)
    kept = f"{measure.what} did not fall from {now} to below {below[0]}"
    if explanation.probability is not None and by < _NOTICEABLE:
        kept = f"{measure.what} did not fall at all ({figures(before)[0]} unperturbed)"
    if len(below) == 1:
        return kept
    return f"{kept}, and its level of change is how many of {listed(below)} it fell below"


def describe_held(settings: Settings) -> str:
    """Define when a prediction counts as kept.

    Examples:
        >>> from pgm_explainer.sampling import Fall, SamplingConfig
        >>> print(describe_held(Settings(sampling=SamplingConfig(change=Fall(0.05)))))
        A prediction was kept if the probability of its class did not fall by more than 0.05.
    """
    model = settings.model
    subject = "A prediction was kept" if model.has_own_predictions else "The prediction was kept"
    own = model.explained_class is None and model.output is None
    its_class = "its class" if own else "the explained class"
    return f"{subject} if {_held(settings.sampling.change, its_class)}."


def describe_perturbed(settings: Settings) -> str:
    """Define what happens to a perturbed part, and how often.

    Examples:
        >>> from pgm_explainer.sampling import SamplingConfig
        >>> describe_perturbed(Settings(sampling=SamplingConfig(perturbation="zero")))
        'Each node is perturbed with probability 0.1: its features are replaced by 0.'
        >>> describe_perturbed(Settings(sampling=SamplingConfig(parts="edges")))
        'Each edge is perturbed with probability 0.1: it is removed.'
    """
    names = kind_names(settings)
    parts: Any = settings.sampling.parts
    kinds = getattr(parts, "kinds", (parts,) * len(names))
    done = [_done(name, kind, settings.sampling) for name, kind in zip(names, kinds, strict=True)]
    often = [
        f"probability {settings.sampling.perturb_probability:g}",
        *["the same probability"] * (len(done) - 1),
    ]
    return " ".join(
        f"Each {what} is perturbed with {chance}: {change}."
        for (what, change), chance in zip(done, often, strict=True)
    )


_EDGE_CHANGES = {
    "remove": "it is removed",
    "rewire": "it gets the source of another edge, drawn at random",
    "attributes": "it gets the attributes of another edge, drawn at random",
}


def _done(name: str, kind: Any, sampling: SamplingConfig) -> tuple[str, str]:
    """Return what a part is, and what is done to a perturbed one."""
    features = "features" if sampling.features is None else "chosen features"
    by = f"replaced by {_new(sampling.perturbation)}"
    values = (
        by
        if sampling.perturbation.describe().name not in ("permute", "substitute")
        else "replaced by those of another node"
    )
    match name:
        case "nodes":
            return "node", f"its {features} are {by}"
        case "edges":
            return "edge", _EDGE_CHANGES[getattr(kind, "how", "remove")]
        case "features" if getattr(kind, "nodes", None) is not None:
            return "feature of each chosen node", f"its values are {values}"
        case "features":
            return "feature", f"its values in all nodes are {values}"
        case "time" if getattr(kind, "per_node", False):
            return "step of each node", f"the {features} of the node in it are {by}"
        case "time":
            return "step", f"the {features} of all nodes in it are {by}"
        case "groups of nodes":
            return "group", f"the {features} of its nodes are {by}"
        case "groups of edges":
            return "group", "its edges are removed"
        case "groups of features":
            return "group", f"its features of all nodes are {by}"
    return "part", f"it is changed as {printable(name)!r} defines"


def _new(perturbation: Perturbation) -> str:
    """Return what replaces the features of a perturbed node."""
    if isinstance(perturbation, RandomWhereConstant):
        return (
            f"{_new(perturbation.usual)} (for node types whose features do not vary, by "
            f"{_NEW_FEATURES['random']})"
        )
    what = perturbation.describe()
    return f"the result of {printable(what.name)!r}" if what.own else _NEW_FEATURES[what.name]


def _held(change: Change, its_class: str) -> str:
    """Return the condition for a kept prediction; subclasses come before their base class."""
    probability = f"the probability of {its_class}"
    match change:
        case LargeFall():
            verb = "change" if isinstance(change, LargeMove) else "fall"
            return (
                f"{probability} did not {verb} by more than the smaller of {float(change.most):g} "
                f"and {float(change.share):g} times the 95th percentile of its {verb}s"
            )
        case Fall():
            verb = "change" if isinstance(change, Absolute) else "fall"
            return f"{probability} did not {verb} by more than {float(change.threshold):g}"
        case Levels():
            return f"{probability} did not fall by more than {_levels(change)}"
        case Flip():
            return f"{its_class} was the most likely class"
        case TopDeviation():
            return f"{_not_among(change)} a predicted value changed most"
        case TopFraction():
            return f"{_not_among(change)} {probability} fell most"
        case Deviation():
            return f"no predicted value changed by more than {float(change.tolerance):g}"
    return f"{printable(change.name)!r} reports no change"


def _levels(change: Levels) -> str:
    """Return the smallest threshold and, if there are several, the meaning of the levels."""
    passed = [f"{float(each):g}" for each in change.thresholds]
    if len(passed) == 1:
        return passed[0]
    return f"{passed[0]}; its level of change is how many thresholds ({listed(passed)}) it exceeds"


def _not_among(change: TopFraction) -> str:
    return f"its sample was not among the roughly {100 * float(change.fraction):.3g}% in which"
