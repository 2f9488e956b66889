"""Means of the measurements, and tables with a row per explainer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..reproduce.markdown import mean_and_spread, table
from .cells import TRUTH
from .explainers import OURS, rivals_by_name

__all__ = ["EXPLAINERS", "Cells", "Column", "grid", "mean_of"]

EXPLAINERS = (*OURS, *rivals_by_name(0))
Cells = Sequence[Mapping[str, Any]]
Column = tuple[str, Callable[[str], Sequence[float]]]
"""The title of a column, and a function that returns an explainer's values, one per seed."""


def mean_of(
    cells: Cells,
    explainer: str,
    data: str,
    measure: str,
    kind: str | None = None,
    counts: Mapping[str, int] | None = None,
) -> list[float]:
    """Return the mean over targets for each seed; targets that cannot be measured do not count.

    Args:
        cells: the results of jobs.
        explainer, data, measure: which values to average.
        kind: a group of targets; None for all.
        counts: weights of the groups; None for equal weights of all targets.
    """
    means = []
    for cell in cells:
        if (cell["explainer"], cell["data"]) == (explainer, data):
            rows = [row for row in cell["rows"] if measure in row and kind in (None, row["kind"])]
            weights = None if counts is None else _weights([row["kind"] for row in rows], counts)
            values = [row[measure] for row in rows]
            means += [float(np.average(values, weights=weights))] if rows else []
    return means


def _weights(kinds: Sequence[str], counts: Mapping[str, int]) -> list[float]:
    """Return weights of the rows that give each group its total weight."""
    return [counts[kind] / kinds.count(kind) for kind in kinds]


def grid(title: str, columns: Sequence[Column], explainers: Sequence[str] = EXPLAINERS) -> str:
    """Return a table with the best value of each column in bold, not counting the truth."""
    means = {(name, what): list(of(name)) for name in explainers for what, of in columns}
    best = {
        what: max(
            (np.mean(means[name, what]) for name in explainers if _counts(name, means[name, what])),
            default=np.inf,
        )
        for what, _ in columns
    }
    rows = [[title, *(what for what, _ in columns)]]
    for name in explainers:
        shown = [_shown(name, means[name, what], float(best[what])) for what, _ in columns]
        rows += [[name, *shown]] if any(shown) else []
    return table(rows)


def _counts(name: str, values: Sequence[float]) -> bool:
    return name != TRUTH and len(values) > 0


def _shown(name: str, values: Sequence[float], best: float) -> str:
    text = mean_and_spread(values)
    is_best = _counts(name, values) and round(float(np.mean(values)), 3) >= round(best, 3)
    return f"**{text}**" if is_best else text
