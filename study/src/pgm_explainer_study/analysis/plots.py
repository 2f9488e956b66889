"""The plots of a report, as PNG."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..study_file import Scale
from .bootstrap import Interval

__all__ = ["plot_intervals", "plot_scores"]

_BLUE, _INK = "#0072b2", "#222222"


def plot_scores(
    scores: pd.DataFrame, names: Mapping[str, str], scale: Scale, mark: str | None
) -> bytes:
    """Draw the distribution of the scores of each arm, as the paper's figure does."""
    figure = Figure(figsize=(8, 1.6 * len(names) + 0.6), layout="constrained")
    grid = figure.subplots(len(names), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    values = np.arange(scale.least, scale.most + 1)
    for axes, (arm, name) in zip(grid, names.items(), strict=True):
        given = scores.score[scores.arm == arm].to_numpy()
        shares = np.array([(given == value).mean() if len(given) else 0 for value in values])
        axes.bar(values, 100 * shares, color=_BLUE, width=0.85)
        axes.set_ylabel("% of scores")
        axes.set_title(f"{name}: {len(given)} scores", loc="left", size=10, color=_INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xticks(values)
    grid[-1].set_xlabel(f"score ({scale.least} = {scale.low}, {scale.most} = {scale.high})")
    return _png(figure, mark)


def plot_intervals(
    found: Mapping[str, Interval], names: Mapping[str, str], title: str, mark: str | None
) -> bytes:
    """Draw estimates with their intervals, a row for each arm."""
    figure = Figure(figsize=(8, 0.5 * len(found) + 1.1), layout="constrained")
    axes: Any = figure.subplots()
    for at, each in enumerate(found.values()):
        axes.plot([each.low, each.high], [at, at], color=_BLUE, linewidth=2)
        axes.plot(each.estimate, at, "o", color=_BLUE)
    axes.set_yticks(range(len(found)), [names[arm] for arm in found])
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlabel(f"{title} (95% intervals)")
    axes.spines[["top", "right"]].set_visible(False)
    return _png(figure, mark)


def _png(figure: Figure, mark: str | None) -> bytes:
    if mark:
        figure.text(
            0.5,
            0.5,
            mark.upper(),
            rotation=18,
            ha="center",
            va="center",
            size=26,
            color="#d00000",
            alpha=0.35,
            weight="bold",
        )
    data = BytesIO()
    with mpl.rc_context({"text.parse_math": False}):
        figure.savefig(data, format="png", dpi=110)
    return data.getvalue()
