"""How many raters and items a study needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import sqrt

import numpy as np
from scipy.stats import chi2, norm
from scipy.stats import t as student

from pgm_explainer import InputError

__all__ = ["Spread", "power", "power_table", "raters_needed"]

_MOST = 2000
_QUANTILES = 2000


@dataclass(frozen=True)
class Spread:
    """Standard deviations that matter to a difference of two arms, in points of the scale.

    Attributes:
        rater_arm: how much the difference varies from rater to rater, per arm.
        item_arm: how much it varies from item to item, per arm.
        error: the remaining variation of a rating.
    """

    rater_arm: float = 0.8
    item_arm: float = 1.0
    error: float = 2.0

    def __post_init__(self) -> None:
        for each in fields(self):
            if not 0 <= getattr(self, each.name) < 1e6:
                raise InputError(f"{each.name} must be a standard deviation of at least 0")
        if self.error == 0:
            raise InputError("error must be more than 0")


def power(
    effect: float,
    raters: int,
    items: int,
    spread: Spread,
    share: float = 1.0,
    comparisons: int = 1,
    level: float = 0.05,
) -> float:
    """Return the probability that a difference between two arms is found significant.

    The test is the t test of the report. Its degrees of freedom are the smaller of the numbers of
    raters and items, minus one. Raters' and items' own means cancel out if every rater rates
    every item in both arms, and nearly do so in a balanced design.

    Args:
        effect: the true difference, in points.
        share: the share of the arms in which each rater rates each item.
        comparisons: the number of planned contrasts; the level is divided by it, which is the first
            and hardest step of Holm's method.
    """
    if raters < 2 or items < 2 or not 0 < share <= 1 or not 0 < level < 1 or comparisons < 1:
        raise InputError("power needs two raters, two items, a share up to 1 and a level below 1")
    ratings = raters * items * share
    error = sqrt(
        2 * (spread.rater_arm**2 / raters + spread.item_arm**2 / items + spread.error**2 / ratings)
    )
    degrees = min(raters, items) - 1
    limit = float(student.isf(level / comparisons / 2, degrees))
    shift = abs(effect) / error
    # SciPy's noncentral t is not a number for large effects, so this averages the normal
    # distribution over the quantiles of the estimated standard error.
    quantiles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    bounds = limit * np.sqrt(chi2.ppf(quantiles, degrees) / degrees)
    return float(np.mean(norm.sf(bounds - shift) + norm.cdf(-bounds - shift)))


def raters_needed(
    wanted: float, effect: float, items: int, spread: Spread, **options: float
) -> int | None:
    """Return the smallest number of raters that reaches a power; None if no number does."""

    def reached(raters: int) -> bool:
        return power(effect, raters, items, spread, **options) >= wanted  # type: ignore[arg-type]

    if not reached(_MOST):
        return None
    low, high = 1, _MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def power_table(
    effect: float, raters: Sequence[int], items: Sequence[int], spread: Spread, **options: float
) -> list[list[str]]:
    """Return a table of powers, with a header: a row for each number of raters."""
    rows = [["raters", *(f"{count} items" for count in items)]]
    for people in raters:
        cells = (power(effect, people, count, spread, **options) for count in items)  # type: ignore[arg-type]
        rows.append([str(people), *(f"{cell:.2f}" for cell in cells)])
    return rows
