"""Bootstrap intervals of means, resampling raters and items independently (Owen, 2007)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

__all__ = ["Interval", "arm_means", "mean_differences"]


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95% interval."""

    estimate: float
    low: float
    high: float


def arm_means(
    scores: pd.DataFrame, arms: Sequence[str], seed: int, draws: int = 4000
) -> dict[str, Interval]:
    """Return the mean score of each arm.

    Args:
        scores: ``rater``, ``item``, ``arm`` and ``score``.
    """
    weighted = _draws(scores, arms, seed, draws)
    return {arm: _interval(each) for arm, each in weighted.items()}


def mean_differences(
    scores: pd.DataFrame, arms: Sequence[str], against: str, seed: int, draws: int = 4000
) -> dict[str, Interval]:
    """Return the difference of the mean of each arm from that of another, paired by resample."""
    weighted = _draws(scores, [against, *arms], seed, draws)
    return {arm: _interval(weighted[arm] - weighted[against]) for arm in arms}


def _draws(
    scores: pd.DataFrame, arms: Sequence[str], seed: int, draws: int
) -> dict[str, NDArray[np.float64]]:
    """Return the mean of each arm: first of the data, then of each resample."""
    raters, at_rater = np.unique(scores.rater.to_numpy(), return_inverse=True)
    items, at_item = np.unique(scores["item"].to_numpy(str), return_inverse=True)
    rng = default_rng(SeedSequence(seed, spawn_key=(5000,)))
    of_raters = _counts(rng, len(raters), draws)
    of_items = _counts(rng, len(items), draws)
    found = {}
    for arm in dict.fromkeys(arms):
        chosen = scores.arm.to_numpy() == arm
        sums, counts = np.zeros((2, len(raters), len(items)))
        cells = at_rater[chosen], at_item[chosen]
        np.add.at(sums, cells, scores.score.to_numpy()[chosen])
        np.add.at(counts, cells, 1)
        total = np.einsum("br,ri,bi->b", of_raters, sums, of_items, optimize=True)
        size = np.einsum("br,ri,bi->b", of_raters, counts, of_items, optimize=True)
        with np.errstate(invalid="ignore"):
            found[arm] = total / size
    return found


def _counts(rng: np.random.Generator, size: int, draws: int) -> NDArray[np.float64]:
    """Return how often each is drawn in each resample; the first row is the data themselves."""
    drawn = rng.multinomial(size, np.full(size, 1 / size), draws)
    return np.vstack((np.ones(size), drawn)).astype(float)


def _interval(values: NDArray[np.float64]) -> Interval:
    low, high = np.nanquantile(values[1:], (0.025, 0.975))
    return Interval(float(values[0]), float(low), float(high))
