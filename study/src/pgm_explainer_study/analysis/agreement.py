"""Krippendorff's alpha: how far raters agree beyond chance (Krippendorff, 2011)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pgm_explainer import InputError

__all__ = ["krippendorff_alpha"]

Matrix = NDArray[np.float64]


def krippendorff_alpha(scores: pd.DataFrame, level: str = "ordinal") -> float:
    """Return alpha of the ``score`` of each ``unit`` by several raters.

    1 is perfect agreement and 0 that of chance. NaN if nothing varies or no unit has two scores.

    Args:
        scores: ``unit`` and ``score``, a row for each rating; missing ratings have no row.
        level: ``"nominal"``, ``"ordinal"`` or ``"interval"``.
    """
    if level not in _DISTANCES:
        raise InputError(f"level must be one of {', '.join(_DISTANCES)}, not {level!r}")
    values, at = np.unique(scores.score.to_numpy(float), return_inverse=True)
    units, of = np.unique(scores.unit.to_numpy(str), return_inverse=True)
    counts = np.zeros((len(units), len(values)))
    np.add.at(counts, (of, at), 1)
    counts = counts[counts.sum(axis=1) > 1]
    if len(counts) == 0:
        return float("nan")
    each = 1 / (counts.sum(axis=1) - 1)
    coincidences = np.einsum("uv,uw,u->vw", counts, counts, each) - np.diag(counts.T @ each)
    totals = coincidences.sum(axis=1)
    distances = _DISTANCES[level](values, totals)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    chance = float((expected * distances).sum())
    return float("nan") if chance == 0 else 1 - float((coincidences * distances).sum()) / chance


def _nominal(values: Matrix, _totals: Matrix) -> Matrix:
    return 1 - np.eye(len(values))


def _ordinal(_values: Matrix, totals: Matrix) -> Matrix:
    """Distances in ranks: the number of values between two, half of the ends included."""
    middle = np.cumsum(totals) - totals / 2
    return (middle[:, None] - middle[None]) ** 2


def _interval(values: Matrix, _totals: Matrix) -> Matrix:
    return (values[:, None] - values[None]) ** 2


_DISTANCES: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}
