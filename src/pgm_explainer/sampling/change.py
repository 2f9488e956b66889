"""Change indicators, I(.) in the paper: whether a prediction changed, or by how many levels.

An indicator works in two steps. It first measures the severity of a change, a number. It then
converts the severity to a level: 0 for *kept*, 1 or more for *changed*. The second step is
separate, because some indicators need the severities of all samples for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

from ..arrays import (
    FloatArray,
    IntArray,
    check_fraction,
    has_attributes,
    is_number,
    own_name,
    resolve,
)
from ..choices import Choice
from ..errors import InputError
from ..limits import brief
from .custom_change import CheckedChange, CustomChange
from .indicators import (
    Absolute,
    Deviation,
    Fall,
    Flip,
    Grades,
    Indicator,
    LargeFall,
    LargeMove,
    Levels,
    TopDeviation,
    TopFraction,
)

__all__ = ["CHANGES", "CHANGE_TYPES", "Change", "as_change", "check_change_fits"]


class Change(Choice, Protocol):
    """A change indicator: decides how much a prediction changed; level 0 means *kept*.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> def halved(before, after):  # a change of your own
        ...     return after.max(axis=-1) < before.max(axis=-1) / 2
        >>> explainer = PGMExplainer(
        ...     lambda x: path @ x, x, np.array(path.nonzero()), num_layers=1, change=halved
        ... )
        >>> explainer.settings.sampling.change.name
        'halved'
    """

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

    def thresholds_of(self, severity: FloatArray, before: FloatArray) -> FloatArray:
        """Return how much each prediction must change to count as changed, ``[V, levels - 1]``.

        The unit is that of the model's probabilities or values. An indicator that does not compare
        a change with a threshold returns none, ``[V, 0]``.

        Args:
            severity: the severities of all samples ``[n, V]``; without rows if the indicator does
                not need them.
            before: as in :meth:`severity`.
        """
        ...


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


def as_change(choice: Any, scores: str = "auto") -> Change:
    """Return the indicator for a name, an instance, a threshold or a custom function.

    A number is the threshold of :class:`Fall`, a list of numbers the thresholds of :class:`Levels`.
    ``auto`` is ``LargeFall()``, or ``TopDeviation()`` for a regression.

    Examples:
        >>> from pgm_explainer.sampling import as_change
        >>> as_change("flip").name, as_change(0.1).name, as_change([0.1, 0.3]).name
        ('flip', 'fall', 'levels')
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
        f"change must be a name, an indicator or a function, not {brief(choice)}; "
        f"names: auto, {', '.join(CHANGES)}"
    )


def check_change_fits(change: Change, scores: str) -> None:
    """Raise an InputError if a regression has a change indicator for probabilities."""
    if scores == "values" and isinstance(change, Indicator) and not change.for_values:
        raise InputError(
            f"the change {brief(change.name)} applies to probabilities only; for scores='values' "
            f"use Deviation(…) or 'top_deviation'"
        )
