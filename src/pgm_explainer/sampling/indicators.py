"""The built-in change indicators.

Most of them measure by how much the probability of the explained class fell. ``Deviation`` and
``TopDeviation`` measure how far a predicted value moved, for regressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray, as_list, check_fraction, is_number
from ..choices import Described
from ..errors import InputError
from ..limits import brief

__all__ = [
    "Absolute",
    "Deviation",
    "Fall",
    "Flip",
    "Grades",
    "Indicator",
    "LargeFall",
    "LargeMove",
    "Levels",
    "TopDeviation",
    "TopFraction",
]

Grades = NDArray[np.uint8]
_LARGE = 0.95
"""``LargeFall`` compares falls with this quantile of them."""
_NOISE = 1e-6
"""Smaller changes may be rounding errors of the model."""


def _fall(before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
    """Return by how much the probability of the explained class fell."""
    at = np.arange(len(classes))
    return np.asarray(before[at, classes] - after[..., at, classes])


def _each(severity: FloatArray, *thresholds: float) -> FloatArray:
    """Return the same thresholds for each prediction."""
    return np.tile(np.array(thresholds, dtype=np.float64), (severity.shape[1], 1))


def _check_positive(value: float, what: str) -> None:
    try:
        is_positive = is_number(value) and 0 < float(value) < np.inf
    except OverflowError:  # a whole number that is too large
        is_positive = False
    if not is_positive:
        raise InputError(f"{what} must be a number above 0, not {brief(value)}")


class Indicator(Described):
    """The base class of built-in indicators; by default they measure falls, in two levels.

    Attributes:
        needs_all_samples: see :class:`~pgm_explainer.Change`.
        for_values: whether the indicator is for the values of a regression, not for probabilities.
    """

    needs_all_samples = False
    for_values = False

    @property
    def levels(self) -> int:
        return 2

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return _fall(before, after, classes)


@dataclass(frozen=True)
class Levels(Indicator):
    """Several levels: the number of thresholds that the fall of the probability exceeds.

    Examples:
        >>> import numpy as np
        >>> before = np.array([[0.1, 0.9]])  # the probabilities of one prediction
        >>> after = np.array([[[0.4, 0.6]], [[0.6, 0.4]], [[0.12, 0.88]], [[0.02, 0.98]]])
        >>> from pgm_explainer import Levels
        >>> change = Levels([0.2, 0.4])
        >>> change.grade(change.severity(before, after, np.array([1]))).ravel().tolist()
        [1, 2, 0, 0]
    """

    thresholds: Sequence[float] = (0.05, 0.3)
    name: str = field(default="levels", init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.thresholds, Sequence) or isinstance(self.thresholds, str):
            raise InputError(f"levels takes a list of thresholds, not {brief(self.thresholds)}")
        try:
            count = len(self.thresholds)
        except Exception:  # a user-defined list may raise anything
            raise InputError(
                f"the thresholds of levels cannot be read: {brief(self.thresholds)}"
            ) from None
        if count > 7:
            raise InputError(
                f"levels takes at most 7 thresholds, not {count:,}: {brief(self.thresholds)}"
            )
        object.__setattr__(self, "thresholds", tuple(as_list(self.thresholds) or ()))
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

    def grade(self, severity: FloatArray) -> Grades:
        grades = np.zeros(severity.shape, np.uint8)
        for threshold in self.thresholds:
            grades += severity > threshold
        return grades

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        return _each(severity, *self.thresholds)


@dataclass(frozen=True)
class Fall(Indicator):
    """Changed: the probability of the explained class fell by more than a threshold.

    Examples:
        >>> import numpy as np
        >>> before = np.array([[0.1, 0.9]])  # the probabilities of one prediction
        >>> after = np.array([[[0.4, 0.6]], [[0.6, 0.4]], [[0.12, 0.88]], [[0.02, 0.98]]])
        >>> from pgm_explainer import Fall
        >>> change = Fall(0.2)
        >>> change.grade(change.severity(before, after, np.array([1]))).ravel().tolist()
        [1, 1, 0, 0]
    """

    threshold: float = 0.05
    name: str = field(default="fall", init=False)

    def __post_init__(self) -> None:
        check_fraction(self.threshold, f"the threshold of {self.name}")

    def grade(self, severity: FloatArray) -> Grades:
        return (severity > self.threshold).astype(np.uint8)

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        return _each(severity, self.threshold)


@dataclass(frozen=True)
class Absolute(Fall):
    """Changed: the explained class's probability rose or fell by more than a threshold.

    Examples:
        >>> import numpy as np
        >>> before = np.array([[0.1, 0.9]])  # the probabilities of one prediction
        >>> after = np.array([[[0.4, 0.6]], [[0.6, 0.4]], [[0.12, 0.88]], [[0.02, 0.98]]])
        >>> from pgm_explainer import Absolute
        >>> change = Absolute(0.2)
        >>> change.grade(change.severity(before, after, np.array([1]))).ravel().tolist()
        [1, 1, 0, 0]
    """

    name: str = field(default="absolute", init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return abs(_fall(before, after, classes))


@dataclass(frozen=True)
class Flip(Indicator):
    """Changed: the explained class is no longer the most likely one.

    Examples:
        >>> import numpy as np
        >>> before = np.array([[0.1, 0.9]])  # the probabilities of one prediction
        >>> after = np.array([[[0.4, 0.6]], [[0.6, 0.4]], [[0.12, 0.88]], [[0.02, 0.98]]])
        >>> from pgm_explainer import Flip
        >>> change = Flip()
        >>> change.grade(change.severity(before, after, np.array([1]))).ravel().tolist()
        [0, 1, 0, 0]
    """

    name: str = field(default="flip", init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return (after.argmax(axis=-1) != classes).astype(before.dtype)

    def grade(self, severity: FloatArray) -> Grades:
        return severity.astype(np.uint8)

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        return _each(severity)


def _rounded(severity: FloatArray, noise: float) -> FloatArray:
    """Return severities as multiples of ``noise``, so that rounding errors of a model are ties."""
    return np.round(severity.astype(np.float64) / float(noise)) * float(noise)


@dataclass(frozen=True)
class TopFraction(Indicator):
    """Changed: the sample is in the given fraction with the largest falls of the probability.

    Falls of at most ``noise`` never count, so that a rounding error is not a change. If falls are
    tied at the threshold, either all or none of them count, whichever is closer to the fraction.

    Examples:
        >>> import numpy as np
        >>> before = np.array([[0.1, 0.9]])  # the probabilities of one prediction
        >>> after = np.array([[[0.4, 0.6]], [[0.6, 0.4]], [[0.12, 0.88]], [[0.02, 0.98]]])
        >>> from pgm_explainer import TopFraction
        >>> change = TopFraction(0.25)
        >>> change.grade(change.severity(before, after, np.array([1]))).ravel().tolist()
        [0, 1, 0, 0]
    """

    fraction: float = 0.125
    noise: float = _NOISE
    name: str = field(default="top_fraction", init=False)

    needs_all_samples = True

    def __post_init__(self) -> None:
        check_fraction(self.fraction, "the fraction of top_fraction")
        _check_positive(self.noise, "the noise of top_fraction")

    def grade(self, severity: FloatArray) -> Grades:
        falls = _rounded(severity, self.noise)
        return (falls > self._threshold(falls)).astype(np.uint8)

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        # Halfway between the largest fall that counts as kept and the smallest that does not.
        falls = _rounded(severity, self.noise)
        threshold = self._threshold(falls)
        below = np.where(falls > threshold, -np.inf, falls).max(axis=0)
        above = np.where(falls > threshold, falls, np.inf).min(axis=0)
        between = np.isfinite(below) & np.isfinite(above)
        return np.where(between, (below + above) / 2, threshold)[:, None]

    def _threshold(self, falls: FloatArray) -> FloatArray:
        """Return the threshold ``[V]`` of rounded falls."""
        wanted, noise = max(1, round(self.fraction * len(falls))), float(self.noise)
        border = np.sort(falls, axis=0)[-wanted]
        below = np.minimum(border - noise / 2, np.nextafter(border, -np.inf))
        miss_in = abs((falls >= border).mean(axis=0) - self.fraction)
        miss_out = abs((falls > border).mean(axis=0) - self.fraction)
        return np.maximum(np.where(miss_in <= miss_out, below, border), noise)


@dataclass(frozen=True)
class LargeFall(Indicator):
    """Changed: the probability of the explained class fell far, compared with the other samples.

    How far a probability can fall differs between predictions, so each prediction has its own
    threshold: ``share`` times the 95th percentile of its falls over all samples, but at most
    ``most``. Falls of at most ``noise`` never count.

    Examples:
        >>> import numpy as np
        >>> before = np.array([[0.1, 0.9]])  # the probabilities of one prediction
        >>> after = np.array([[[0.4, 0.6]], [[0.6, 0.4]], [[0.12, 0.88]], [[0.02, 0.98]]])
        >>> from pgm_explainer import LargeFall
        >>> change = LargeFall(share=0.4, most=0.15)
        >>> change.grade(change.severity(before, after, np.array([1]))).ravel().tolist()
        [1, 1, 0, 0]
    """

    share: float = 0.4
    most: float = 0.15
    noise: float = _NOISE
    name: str = field(default="large_fall", init=False)

    needs_all_samples = True

    def __post_init__(self) -> None:
        check_fraction(self.share, f"the share of {self.name}")
        check_fraction(self.most, f"the largest threshold (most) of {self.name}")
        _check_positive(self.noise, f"the noise of {self.name}")

    def grade(self, severity: FloatArray) -> Grades:
        falls = _rounded(severity, self.noise)
        return (falls > self._threshold(falls)).astype(np.uint8)

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        return self._threshold(_rounded(severity, self.noise))[:, None]

    def _threshold(self, falls: FloatArray) -> FloatArray:
        large = np.quantile(falls, _LARGE, axis=0)
        return np.clip(float(self.share) * large, float(self.noise), float(self.most))


@dataclass(frozen=True)
class LargeMove(LargeFall):
    """Changed: the explained class's probability rose or fell far.

    How far is determined as in :class:`~pgm_explainer.LargeFall`.

    Examples:
        >>> import numpy as np
        >>> before = np.array([[0.1, 0.9]])  # the probabilities of one prediction
        >>> after = np.array([[[0.4, 0.6]], [[0.6, 0.4]], [[0.12, 0.88]], [[0.02, 0.98]]])
        >>> from pgm_explainer import LargeMove
        >>> change = LargeMove(share=0.2, most=0.05)
        >>> change.grade(change.severity(before, after, np.array([1]))).ravel().tolist()
        [1, 1, 0, 1]
    """

    name: str = field(default="large_move", init=False)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return abs(_fall(before, after, classes))


@dataclass(frozen=True)
class Deviation(Indicator):
    """Changed: a predicted value rose or fell by more than a tolerance (for regression).

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import Deviation
        >>> change = Deviation(10)  # in the unit of the predicted value
        >>> before, after = np.array([[50.0]]), np.array([[[65.0]], [[47.0]]])
        >>> change.grade(change.severity(before, after, np.array([0]))).ravel().tolist()
        [1, 0]
    """

    tolerance: float
    name: str = field(default="deviation", init=False)

    for_values = True

    def __post_init__(self) -> None:
        _check_positive(self.tolerance, "the tolerance of deviation")

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        return abs(after - before).max(axis=-1)

    def grade(self, severity: FloatArray) -> Grades:
        return (severity > self.tolerance).astype(np.uint8)

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        return _each(severity, self.tolerance)


@dataclass(frozen=True)
class TopDeviation(TopFraction):
    """Changed: the sample is in the given fraction with the largest deviations (regression).

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import TopDeviation
        >>> change = TopDeviation(0.5)  # the half of the samples that moved most
        >>> before, after = np.array([[50.0]]), np.array([[[65.0]], [[47.0]], [[52.0]], [[20.0]]])
        >>> change.grade(change.severity(before, after, np.array([0]))).ravel().tolist()
        [1, 0, 0, 1]
    """

    fraction: float = 0.5
    name: str = field(default="top_deviation", init=False)

    for_values = True

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        # Deviations are divided by the size of the value, so that the noise threshold is relative.
        return abs(after - before).max(axis=-1) / _size(before)

    def grade(self, severity: FloatArray) -> Grades:
        return super().grade(severity / _largest(severity))

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        scale = _largest(severity)
        return super().thresholds_of(severity / scale, before) * (scale * _size(before))[:, None]


def _size(before: FloatArray) -> FloatArray:
    """Return the size ``[V]`` of predicted values; 1 for a value of 0."""
    size = abs(before).max(axis=-1)
    return np.where(size > 0, size, 1)


def _largest(severity: FloatArray) -> FloatArray:
    """Return the unit of noise: the largest relative deviation of each prediction, at least 1."""
    return np.maximum(1, severity.max(axis=0))
