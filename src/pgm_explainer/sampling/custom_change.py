"""Custom change indicators, and the validation of their outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray, as_array, call_own, check_string, check_whole_number
from ..choices import UserDefined
from ..errors import InputError
from ..limits import brief

__all__ = ["CheckedChange", "CustomChange"]

_MOST_LEVELS = 100
"""A state, which combines the level with whether the node was perturbed, must fit into a byte."""


def _check_levels(levels: Any) -> int:
    """Return a valid number of levels."""
    number = check_whole_number(levels, "the number of levels of a change", at_least=2)
    if number > _MOST_LEVELS:
        raise InputError(f"a change has at most {_MOST_LEVELS} levels, not {number}")
    return number


@dataclass(frozen=True)
class CheckedChange(UserDefined):
    """A custom indicator with the attributes and methods of a ``Change``.

    Raises:
        InputError: an attribute is missing; when used, the indicator fails or returns a wrong
            shape, invalid levels or anything but numbers.
    """

    indicator: Any

    def __post_init__(self) -> None:
        wanted = ("name", "levels", "needs_all_samples")
        missing = [name for name in wanted if not hasattr(self.indicator, name)]
        if missing:
            raise InputError(
                f"a custom change needs the attributes {', '.join(wanted)}; "
                f"{brief(self.indicator)} has no {', '.join(missing)}"
            )
        _check_levels(self.indicator.levels)
        if not isinstance(self.indicator.needs_all_samples, bool):
            raise InputError(
                f"needs_all_samples of the change {brief(self.name)} must be True or False, "
                f"not {brief(self.indicator.needs_all_samples)}"
            )

    @property
    def name(self) -> str:
        return str(self.indicator.name)

    @property
    def levels(self) -> int:
        return int(self.indicator.levels)

    @property
    def needs_all_samples(self) -> bool:
        return bool(self.indicator.needs_all_samples)

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        usage = "severity(before [V, C], after [B, V, C], classes [V]) -> numbers [B, V]"
        called = f"the change {self.name!r}"
        answer = call_own(self.indicator.severity, before, after, classes, what=called, usage=usage)
        return _numbers(answer, after.shape[:2], called)

    def grade(self, severity: FloatArray) -> NDArray[np.uint8]:
        usage = "grade(severity [n, V]) -> levels [n, V]"
        called = f"the change {self.name!r}"
        answer = call_own(self.indicator.grade, severity, what=called, usage=usage)
        levels = _numbers(answer, severity.shape, called)
        if not np.isin(levels, np.arange(self.levels)).all():
            raise InputError(
                f"{called} returned levels from {levels.min()} to {levels.max()}; with "
                f"levels={self.levels} they must be whole numbers from 0 to {self.levels - 1}"
            )
        return levels.astype(np.uint8)

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        return np.empty((severity.shape[1], 0))


@dataclass(frozen=True)
class CustomChange(UserDefined):
    """A custom ``function(before [V, C], after [B, V, C]) -> levels [B, V]``.

    Examples:
        >>> import numpy as np
        >>> before = np.array([[0.1, 0.9]])  # the probabilities of one prediction
        >>> after = np.array([[[0.4, 0.6]], [[0.6, 0.4]], [[0.12, 0.88]], [[0.02, 0.98]]])
        >>> from pgm_explainer.sampling import CustomChange
        >>> change = CustomChange(lambda before, after: after.max(axis=-1) < 0.7, name="unsure")
        >>> change.grade(change.severity(before, after, np.array([1]))).ravel().tolist()
        [1, 1, 0, 0]
    """

    function: Callable[[FloatArray, FloatArray], Any]
    levels: int = 2
    name: str = "custom"
    needs_all_samples: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        _check_levels(self.levels)
        check_string(self.name, "the name of a change")
        if not callable(self.function):
            raise InputError(
                f"a custom change must be a function (before, after) -> levels, "
                f"not {brief(self.function)}"
            )

    def severity(self, before: FloatArray, after: FloatArray, classes: IntArray) -> FloatArray:
        called = f"the change {self.name!r}"
        usage = "(before [V, C], after [B, V, C]) -> levels [B, V]"
        levels = call_own(self.function, before, after, what=called, usage=usage)
        answer = as_array(levels, f"the output of {called}")
        if answer.shape != after.shape[:2]:
            raise InputError(
                f"the change {brief(self.name)} returned an array of shape {answer.shape}; "
                f"it must return one level per sample and node, {after.shape[:2]}"
            )
        whole = bool((answer == np.floor(answer)).all())
        if not (whole and answer.min() >= 0 and answer.max() < self.levels):
            raise InputError(
                f"the change {brief(self.name)} returned levels from {answer.min()} to "
                f"{answer.max()}; "
                f"with levels={self.levels} they must be whole numbers from 0 to {self.levels - 1}"
            )
        return answer.astype(np.float64)

    def grade(self, severity: FloatArray) -> NDArray[np.uint8]:
        return severity.astype(np.uint8)

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        return np.empty((severity.shape[1], 0))


def _numbers(answer: Any, shape: tuple[int, ...], called: str) -> FloatArray:
    numbers = as_array(answer, f"the output of {called}")
    if numbers.shape != shape or not np.isfinite(numbers).all():
        raise InputError(
            f"{called} returned an array of shape {numbers.shape}; it must return one finite "
            f"number for each sample and prediction, {shape}"
        )
    return numbers
