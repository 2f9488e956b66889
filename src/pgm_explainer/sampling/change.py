"""The paper's I(.): did a prediction change significantly, or by how many levels?

An indicator first measures how severe a change is, then grades it: 0 for *kept*, 1 and up for
*changed*. Grading is separate because one rule (the top fraction) needs all samples together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..arrays import (
    FloatArray,
    IntArray,
    as_array,
    call_own,
    check_fraction,
    is_number,
    own_name,
    resolve,
)
from ..choices import Choice, Described, UserDefined
from ..errors import InputError
from .indicators import CheckedChange, check_levels

__all__ = [
    "CHANGES",
    "CHANGE_TYPES",
    "Absolute",
    "Change",
    "CustomChange",
    "Deviation",
    "Fall",
    "Flip",
    "LargeFall",
    "LargeMove",
    "Levels",
    "TopDeviation",
    "TopFraction",
    "as_change",
    "check_change_fits",
]

Grades = NDArray[np.uint8]
_LARGE = 0.95
_NOISE = 1e-6


class Change(Choice, Protocol):
    """How much a prediction changed, in levels; level 0 means that it holds."""

    @property
    def name(self) -> str: ...

    @property
    def levels(self) -> int:
        """Number of levels, *kept* included."""
        ...

    @property
    def needs_all_samples(self) -> bool:
        """Whether grading one sample takes knowing the others."""
        ...

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        """Measure ``[B, V]`` how much the explained classes ``[V]`` changed.

        Args:
            before: probabilities (or values) ``[V, C]`` on the unperturbed features.
            after: the same ``[B, V, C]`` in some samples.
            classes: the class that is explained, as a rule the predicted one.
        """
        ...

    def grade(self, severity: FloatArray) -> Grades:
        """Turn severities ``[n, V]`` into levels ``[n, V]``."""
        ...


def _fall(before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
    """By how much the probability of the explained class fell."""
    at = np.arange(len(classes))
    return np.asarray(before[at, classes] - after[..., at, classes])


def _check_positive(value: float, what: str) -> None:
    if not is_number(value) or not 0 < value < np.inf:
        raise InputError(f"{what} must be a number above 0, not {value!r}")


@dataclass(frozen=True)
class Levels(Described):
    """Falls of the predicted class's probability, graded by how many thresholds they pass."""

    thresholds: Sequence[float] = (0.05, 0.3)
    name: str = field(default="levels", init=False)
    needs_all_samples: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.thresholds, Sequence) or isinstance(self.thresholds, str):
            raise InputError(f"levels takes a list of thresholds, not {self.thresholds!r}")
        if len(self.thresholds) > 7:
            raise InputError(
                f"levels takes at most 7 thresholds, not {len(self.thresholds):,}: "
                f"{self.thresholds!r:.200}"
            )
        object.__setattr__(self, "thresholds", tuple(self.thresholds))
        for threshold in self.thresholds:
            check_fraction(threshold, "each threshold of levels")
        ascending = sorted(set(self.thresholds)) == list(self.thresholds)
        if not self.thresholds or not ascending:
            raise InputError(
                f"levels takes one to seven thresholds in ascending order, not {self.thresholds}"
            )

    @property
    def levels(self) -> int:
        return len(self.thresholds) + 1

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return _fall(before, after, classes)

    def grade(self, severity: FloatArray) -> Grades:
        grades = np.zeros(severity.shape, np.uint8)
        for threshold in self.thresholds:
            grades += severity > threshold
        return grades


@dataclass(frozen=True)
class Fall(Described):
    """Changed: the probability of the predicted class fell by more than a threshold."""

    threshold: float = 0.05
    name: str = field(default="fall", init=False)
    levels: int = field(default=2, init=False)
    needs_all_samples: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        check_fraction(self.threshold, f"the threshold of {self.name}")

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return _fall(before, after, classes)

    def grade(self, severity: FloatArray) -> Grades:
        return (severity > self.threshold).astype(np.uint8)


@dataclass(frozen=True)
class Absolute(Fall):
    """Changed: the predicted class's probability moved by more than a threshold, either way."""

    name: str = field(default="absolute", init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return abs(_fall(before, after, classes))


@dataclass(frozen=True)
class Flip(Described):
    """Changed: another class than the explained one is the most likely."""

    name: str = field(default="flip", init=False)
    levels: int = field(default=2, init=False)
    needs_all_samples: bool = field(default=False, init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return (after.argmax(axis=-1) != classes).astype(before.dtype)

    def grade(self, severity: FloatArray) -> Grades:
        return severity.astype(np.uint8)


@dataclass(frozen=True)
class TopFraction(Described):
    """Changed: the samples in which the predicted class's probability fell most.

    Falls of no more than ``noise`` never count, so a prediction that holds throughout is not made
    to change by rounding. Samples that tie at the border go in or stay out together, whichever
    comes closer to the fraction.
    """

    fraction: float = 0.125
    noise: float = _NOISE
    name: str = field(default="top_fraction", init=False)
    levels: int = field(default=2, init=False)
    needs_all_samples: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        check_fraction(self.fraction, "the fraction of top_fraction")
        _check_positive(self.noise, "the noise of top_fraction")

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return _fall(before, after, classes)

    def grade(self, severity: FloatArray) -> Grades:
        noise = float(self.noise)
        falls = np.round(severity.astype(np.float64) / noise) * noise
        wanted = max(1, round(self.fraction * len(falls)))
        border = np.sort(falls, axis=0)[-wanted]
        tied_in, tied_out = falls >= border, falls > border
        miss_in = abs(tied_in.mean(axis=0) - self.fraction)
        miss_out = abs(tied_out.mean(axis=0) - self.fraction)
        chosen = np.where(miss_in <= miss_out, tied_in, tied_out)
        return (chosen & (falls > noise)).astype(np.uint8)


@dataclass(frozen=True)
class LargeFall(Described):
    """Changed: the predicted class's probability fell far, by the standard of its own falls.

    How far a prediction can be moved differs from node to node. What counts is a fall of more than
    ``share`` of the large ones (the 95th percentile of its own falls over all samples), and in any
    case one of more than ``most``. Falls of no more than ``noise`` never count.
    """

    share: float = 0.4
    most: float = 0.15
    noise: float = _NOISE
    name: str = field(default="large_fall", init=False)
    levels: int = field(default=2, init=False)
    needs_all_samples: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        check_fraction(self.share, f"the share of {self.name}")
        check_fraction(self.most, f"the most of {self.name}")
        _check_positive(self.noise, f"the noise of {self.name}")

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return _fall(before, after, classes)

    def grade(self, severity: FloatArray) -> Grades:
        noise, share, most = float(self.noise), float(self.share), float(self.most)
        falls = np.round(severity.astype(np.float64) / noise) * noise
        large = np.quantile(falls, _LARGE, axis=0)
        threshold = np.clip(share * large, noise, most)
        return (falls > threshold).astype(np.uint8)


@dataclass(frozen=True)
class LargeMove(LargeFall):
    """Changed: the predicted class's probability moved far, either way, by its own standard."""

    name: str = field(default="large_move", init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return abs(_fall(before, after, classes))


@dataclass(frozen=True)
class Deviation(Described):
    """Changed: a predicted value moved by more than a tolerance, either way (for regression)."""

    tolerance: float
    name: str = field(default="deviation", init=False)
    levels: int = field(default=2, init=False)
    needs_all_samples: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        _check_positive(self.tolerance, "the tolerance of deviation")

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return abs(after - before).max(axis=-1)

    def grade(self, severity: FloatArray) -> Grades:
        return (severity > self.tolerance).astype(np.uint8)


@dataclass(frozen=True)
class TopDeviation(TopFraction):
    """Changed: the samples in which a predicted value moved most, either way (for regression)."""

    fraction: float = 0.5
    name: str = field(default="top_deviation", init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        # In units of the value's own size, so that what counts as rounding does not depend on it.
        size = abs(before).max(axis=-1)
        return abs(after - before).max(axis=-1) / np.where(size > 0, size, 1)

    def grade(self, severity: FloatArray) -> Grades:
        # Of a value that was next to nothing, rounding is measured by where it went.
        return super().grade(severity / np.maximum(1, severity.max(axis=0)))


@dataclass(frozen=True)
class CustomChange(UserDefined):
    """A user's own ``function(before [V, C], after [B, V, C]) -> levels [B, V]``."""

    function: Callable[[FloatArray, FloatArray], Any]
    levels: int = 2
    name: str = "custom"
    needs_all_samples: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        check_levels(self.levels)
        if not callable(self.function):
            raise InputError(
                f"a change of your own is a function (before, after) -> levels, "
                f"not {self.function!r}"
            )

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        called = f"the change {self.name!r}"
        usage = "(before [V, C], after [B, V, C]) -> levels [B, V]"
        levels = call_own(self.function, before, after, what=called, usage=usage)
        answer = as_array(levels, f"{called}'s answer")
        if answer.shape != after.shape[:2]:
            raise InputError(
                f"the change {self.name!r} answered with shape {answer.shape}; "
                f"it must give one level per sample and node, {after.shape[:2]}"
            )
        whole = bool((answer == np.floor(answer)).all())
        if not (whole and answer.min() >= 0 and answer.max() < self.levels):
            raise InputError(
                f"the change {self.name!r} gave levels from {answer.min()} to {answer.max()}; "
                f"with levels={self.levels} they must be whole numbers from 0 to {self.levels - 1}"
            )
        return answer.astype(np.float64)

    def grade(self, severity: FloatArray) -> Grades:
        return severity.astype(np.uint8)


CHANGES: dict[str, Change] = {
    indicator.name: indicator
    for indicator in (
        LargeFall(),
        LargeMove(),
        Fall(),
        Flip(),
        Absolute(),
        TopFraction(),
        Levels(),
        TopDeviation(),
    )
}
CHANGE_TYPES: dict[str, Callable[..., Change]] = {
    **{name: type(change) for name, change in CHANGES.items()},
    "deviation": Deviation,
}
"""The built-in indicators by name, to be made with parameters; ``deviation`` has no default."""
_FOR_PROBABILITIES = (LargeFall, Fall, Flip, Levels)


def as_change(choice: Any, scores: str = "auto") -> Change:
    """Return the indicator meant by a name, an instance, a threshold or a user's own function.

    A number is the threshold of a fall, a list of numbers those of levels. ``auto`` is a large
    fall, by the standard of each prediction's own falls; for values it is the half of the samples
    in which they moved most.
    """
    is_regression = isinstance(scores, str) and scores == "values"
    auto: Change = TopDeviation() if is_regression else LargeFall()
    named = resolve(choice, "change", {"auto": auto, **CHANGES})
    if named is not None:
        return named
    if is_number(choice):
        check_fraction(choice, "change, the threshold of a fall,")
        return Fall(float(choice))
    if isinstance(choice, (tuple, list)):
        return Levels(choice)
    if isinstance(choice, type):
        raise InputError(f"change must be an indicator, such as {choice.__name__}(…), not a class")
    if type(choice) in (CustomChange, CheckedChange, *CHANGE_TYPES.values()):
        return cast(Change, choice)
    if hasattr(choice, "severity") and hasattr(choice, "grade"):
        return CheckedChange(choice)
    if callable(choice):
        return CustomChange(choice, name=own_name(choice, CHANGES))
    raise InputError(
        f"change must be a name, an indicator or a function, not {choice!r}; "
        f"names: auto, {', '.join(CHANGES)}"
    )


def check_change_fits(change: Change, scores: str) -> None:
    """Refuse an indicator of probabilities for a model that returns values."""
    about_falls = isinstance(change, TopFraction) and not isinstance(change, TopDeviation)
    if scores == "values" and (about_falls or isinstance(change, _FOR_PROBABILITIES)):
        raise InputError(
            f"the change {change.name!r} is about probabilities; for values use Deviation(…) "
            f"or 'top_deviation'"
        )
