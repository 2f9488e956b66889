"""Change indicators, I(.) in the paper: whether a prediction changed, or by how many levels.

An indicator works in two steps. It first measures the severity of a change, a number. It then
converts the severity to a level: 0 for *kept*, 1 or more for *changed*. The second step is
separate, because some indicators need the severities of all samples for it.
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
    has_attributes,
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
    """A change indicator: decides how much a prediction changed; level 0 means *kept*."""

    @property
    def name(self) -> str: ...

    @property
    def levels(self) -> int:
        """The number of levels, including *kept*."""
        ...

    @property
    def needs_all_samples(self) -> bool:
        """Whether the level of a sample depends on the other samples."""
        ...

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        """Return the severity ``[B, V]`` of the change of each prediction in each sample.

        Args:
            before: probabilities (or values) ``[V, C]`` on the unperturbed features.
            after: the same on the perturbed features of some samples, ``[B, V, C]``.
            classes: the explained classes ``[V]``, by default the predicted ones.
        """
        ...

    def grade(self, severity: FloatArray) -> Grades:
        """Return the levels ``[n, V]`` of severities ``[n, V]``."""
        ...


def _fall(before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
    """Return by how much the probability of the explained class fell."""
    at = np.arange(len(classes))
    return np.asarray(before[at, classes] - after[..., at, classes])


def _check_positive(value: float, what: str) -> None:
    if not is_number(value) or not 0 < value < np.inf:
        raise InputError(f"{what} must be a number above 0, not {value!r}")


@dataclass(frozen=True)
class Levels(Described):
    """Several levels: the number of thresholds that the fall of the probability exceeds."""

    thresholds: Sequence[float] = (0.05, 0.3)
    name: str = field(default="levels", init=False)
    needs_all_samples: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.thresholds, Sequence) or isinstance(self.thresholds, str):
            raise InputError(f"levels takes a list of thresholds, not {self.thresholds!r}")
        try:
            count = len(self.thresholds)
        except Exception:  # a list of the user's own may raise anything
            raise InputError(
                f"the thresholds of levels cannot be read: {self.thresholds!r}"
            ) from None
        if count > 7:
            raise InputError(
                f"levels takes at most 7 thresholds, not {count:,}: {self.thresholds!r:.200}"
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
    """Changed: the probability of the explained class fell by more than a threshold."""

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
    """Changed: the explained class's probability rose or fell by more than a threshold."""

    name: str = field(default="absolute", init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return abs(_fall(before, after, classes))


@dataclass(frozen=True)
class Flip(Described):
    """Changed: the explained class is no longer the most likely one."""

    name: str = field(default="flip", init=False)
    levels: int = field(default=2, init=False)
    needs_all_samples: bool = field(default=False, init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return (after.argmax(axis=-1) != classes).astype(before.dtype)

    def grade(self, severity: FloatArray) -> Grades:
        return severity.astype(np.uint8)


@dataclass(frozen=True)
class TopFraction(Described):
    """Changed: the sample is in the given fraction with the largest falls of the probability.

    Falls of at most ``noise`` never count, so that a rounding error is not a change. If falls are
    tied at the threshold, either all or none of them count, whichever is closer to the fraction.
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
    """Changed: the probability of the explained class fell far, compared with the other samples.

    How far a probability can fall differs between predictions, so each prediction has its own
    threshold: ``share`` times the 95th percentile of its falls over all samples, but at most
    ``most``. Falls of at most ``noise`` never count.
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
    """Changed: the explained class's probability rose or fell far.

    How far is determined as in :class:`~pgm_explainer.LargeFall`.
    """

    name: str = field(default="large_move", init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return abs(_fall(before, after, classes))


@dataclass(frozen=True)
class Deviation(Described):
    """Changed: a predicted value rose or fell by more than a tolerance (for regression)."""

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
    """Changed: the sample is in the given fraction with the largest deviations (regression)."""

    fraction: float = 0.5
    name: str = field(default="top_deviation", init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        # Deviations are divided by the size of the value, so that the noise threshold is relative.
        size = abs(before).max(axis=-1)
        return abs(after - before).max(axis=-1) / np.where(size > 0, size, 1)

    def grade(self, severity: FloatArray) -> Grades:
        # If the value was close to 0, the noise threshold is relative to the largest deviation.
        return super().grade(severity / np.maximum(1, severity.max(axis=0)))


@dataclass(frozen=True)
class CustomChange(UserDefined):
    """A custom ``function(before [V, C], after [B, V, C]) -> levels [B, V]``."""

    function: Callable[[FloatArray, FloatArray], Any]
    levels: int = 2
    name: str = "custom"
    needs_all_samples: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        check_levels(self.levels)
        if not callable(self.function):
            raise InputError(
                f"a custom change must be a function (before, after) -> levels, "
                f"not {self.function!r}"
            )

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        called = f"the change {self.name!r}"
        usage = "(before [V, C], after [B, V, C]) -> levels [B, V]"
        levels = call_own(self.function, before, after, what=called, usage=usage)
        answer = as_array(levels, f"the output of {called}")
        if answer.shape != after.shape[:2]:
            raise InputError(
                f"the change {self.name!r} returned an array of shape {answer.shape}; "
                f"it must return one level per sample and node, {after.shape[:2]}"
            )
        whole = bool((answer == np.floor(answer)).all())
        if not (whole and answer.min() >= 0 and answer.max() < self.levels):
            raise InputError(
                f"the change {self.name!r} returned levels from {answer.min()} to {answer.max()}; "
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
"""The classes of the built-in indicators by name; ``deviation`` needs a parameter."""
_FOR_PROBABILITIES = (LargeFall, Fall, Flip, Levels)


def as_change(choice: Any, scores: str = "auto") -> Change:
    """Return the indicator for a name, an instance, a threshold or a custom function.

    A number is the threshold of :class:`Fall`, a list of numbers the thresholds of :class:`Levels`.
    ``auto`` is ``LargeFall()``, or ``TopDeviation()`` for a regression.
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
        raise InputError(
            f"change must be an instance, not the class {choice.__name__}; pass "
            f"{choice.__name__}(…)"
        )
    if type(choice) in (CustomChange, CheckedChange, *CHANGE_TYPES.values()):
        return cast(Change, choice)
    if has_attributes(choice, "severity", "grade"):
        return CheckedChange(choice)
    if callable(choice):
        return CustomChange(choice, name=own_name(choice, CHANGES))
    raise InputError(
        f"change must be a name, an indicator or a function, not {choice!r}; "
        f"names: auto, {', '.join(CHANGES)}"
    )


def check_change_fits(change: Change, scores: str) -> None:
    """Raise an InputError if a regression has a change indicator for probabilities."""
    about_falls = isinstance(change, TopFraction) and not isinstance(change, TopDeviation)
    if scores == "values" and (about_falls or isinstance(change, _FOR_PROBABILITIES)):
        raise InputError(
            f"the change {change.name!r} applies to probabilities only; for scores='values' use "
            f"Deviation(…) or 'top_deviation'"
        )
