"""What *held* and *perturbed* mean in an explanation, in a plain sentence each."""

from __future__ import annotations

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
    RandomWhereConstant,
    TopDeviation,
    TopFraction,
)
from ..settings import Settings
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


def describe_terms(settings: Settings) -> str:
    """Say what held and perturbed mean, by the settings of an explanation."""
    return f"{describe_held(settings)} {describe_perturbed(settings)}"


def describe_held(settings: Settings) -> str:
    """Say when a prediction counts as one that held.

    Examples:
        >>> from pgm_explainer.sampling import Fall, SamplingConfig
        >>> describe_held(Settings(sampling=SamplingConfig(change=Fall(0.05))))
        'Held, or kept: the probability of its class did not fall by more than 0.05.'
    """
    model = settings.model
    word = "Held, or kept" if model.task == "node" else "Held"
    own = model.explained_class is None and model.output is None
    its_class = "its class" if own else "the explained class"
    return f"{word}: {_held(settings.sampling.change, its_class)}."


def describe_perturbed(settings: Settings) -> str:
    """Say what happens to a node that is perturbed, and how often.

    Examples:
        >>> from pgm_explainer.sampling import SamplingConfig
        >>> describe_perturbed(Settings(sampling=SamplingConfig(perturbation="zero")))
        "Perturbed: with probability 0.1 in each graph, a node's features became 0."
    """
    sampling = settings.sampling
    features = "features" if sampling.features is None else "chosen features"
    often = f"with probability {sampling.perturb_probability:g} in each graph"
    return f"Perturbed: {often}, a node's {features} became {_new(sampling.perturbation)}."


def _new(perturbation: Perturbation) -> str:
    """What the features of a perturbed node become."""
    if isinstance(perturbation, RandomWhereConstant):
        return f"{_new(perturbation.usual)} or, where all are the same, 0 or 1 by a fair coin"
    what = perturbation.describe()
    return f"what {printable(what.name)!r} makes of them" if what.own else _NEW_FEATURES[what.name]


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
