"""The figures of the faithfulness section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from ..colours import BLUE, GREY, INK, ORANGE, SKY, VERMILLION
from ..files import write_figure
from .cells import TRUTH
from .explainers import DEPENDENCE, EFFECTS, OURS
from .grid import EXPLAINERS, mean_of
from .sets import SETS

__all__ = ["draw_figures"]

_LINES = {
    TRUTH: (INK, "--", ""),
    EFFECTS: (BLUE, "-", "o"),
    DEPENDENCE: (ORANGE, "-", "s"),
    "SHAP": (SKY, "-", "^"),
    "occlusion (perturbed)": (VERMILLION, "-", "D"),
    "proximity": ("#888888", ":", "v"),
}
"""The explainers drawn by distance; lines of all of them would overlap."""
_MEASURE = "captured 5"
_NO_PASS = 0.3
"""Position on the logarithmic axis of explainers that do not call the model."""
_LETTER_WIDTH, _LABEL_HEIGHT = 0.045, 0.05
"""Size of labels, in powers of ten and in units of the vertical axis."""


def draw_figures(folder: Path, results: Mapping[str, Any]) -> dict[str, str]:
    """Draw the figures that have data; return their paths relative to the page."""
    truths, cells = results["truths"], results["cells"]
    drawn = {}
    present = {cell["data"] for cell in cells}
    if "marked" in present:
        drawn["causes"] = _by_distance([*truths, *cells], folder / "faithfulness-causes.png")
    if present:
        drawn["captured"] = _captured(cells, folder / "faithfulness-captured.png")
        drawn["passes"] = _passes(cells, folder / "faithfulness-passes.png")
    return {name: f"{folder.name}/{path.name}" for name, path in drawn.items()}


def _by_distance(cells: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Draw how often the cause is the top-ranked node, by its distance."""
    sets = [data for data in ("marked", "infection") if any(c["data"] == data for c in cells)]
    figure, panels = plt.subplots(
        1,
        len(sets),
        figsize=(4.6 * len(sets), 3.9),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for axes, data in zip(panels[0], sets, strict=True):
        for name, (colour, line, mark) in _LINES.items():
            points = [(d, mean_of(cells, name, data, "cause first", str(d))) for d in range(1, 5)]
            known = [(distance, np.mean(values)) for distance, values in points if values]
            if known:
                x, y = zip(*known, strict=True)
                axes.plot(x, y, line, color=colour, marker=mark or None, label=name, markersize=6)
        axes.set_title(
            {"marked": "The mark", "infection": "The infected source"}[data], size=11, color=INK
        )
        axes.set_xlabel("distance in hops")
        axes.set_xticks(range(1, 5))
        axes.set_ylim(-0.04, 1.04)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("share of targets whose top-ranked node it is")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    write_figure(path, figure, dpi=110)
    plt.close(figure)
    return path


def _captured(cells: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Draw the effect captured at 5 of every explainer on every set."""
    sets = [data for data in SETS if any(mean_of(cells, EFFECTS, data, _MEASURE))]
    names = [name for name in EXPLAINERS if any(mean_of(cells, name, d, _MEASURE) for d in sets)]
    shares = np.full((len(names), len(sets)), np.nan)
    for row, name in enumerate(names):
        for column, data in enumerate(sets):
            means = mean_of(cells, name, data, _MEASURE)
            shares[row, column] = np.mean(means) if means else np.nan
    figure, axes = plt.subplots(
        figsize=(2.6 + 0.52 * len(sets), 1.5 + 0.36 * len(names)), layout="constrained"
    )
    image = axes.imshow(shares, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(shares):
        if not np.isnan(value):
            ink = "white" if value < 0.55 else "black"
            text = f"{value:.2f}".removeprefix("0")
            axes.text(column, row, text, ha="center", va="center", color=ink, size=8)
    axes.set_xticks(range(len(sets)), sets, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("Effect captured by the first five nodes", size=11, color=INK)
    figure.colorbar(image, ax=axes, shrink=0.7)
    write_figure(path, figure, dpi=110)
    plt.close(figure)
    return path


def _passes(cells: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Draw the effect captured at 5, mean over sets, against the number of model calls."""
    figure, axes = plt.subplots(figsize=(7.4, 4.4), layout="constrained")
    points = {}
    for name in EXPLAINERS:
        means = [np.mean(found) for d in SETS if (found := mean_of(cells, name, d, _MEASURE))]
        rows = [row for cell in cells if cell["explainer"] == name for row in cell["rows"]]
        if means:
            passes = float(np.mean([row["passes"] for row in rows]))
            points[name] = (max(passes, _NO_PASS), float(np.mean(means)))
    for name, height in _label_heights(points).items():
        x, y = points[name]
        ours = name in OURS
        colour = BLUE if ours else "#777777"
        axes.plot(x, y, "o", color=colour, markersize=8 if ours else 6)
        axes.plot([x * 1.06, x * 1.3], [y, height], color=GREY, linewidth=0.8)
        axes.text(x * 1.35, height, name, size=8, color=INK, va="center")
    axes.set_xscale("log")
    axes.set_xticks([_NO_PASS, 1, 10, 100, 1000], ["none", "1", "10", "100", "1000"])
    axes.set_xlim(_NO_PASS / 1.5, 20_000)
    axes.set_ylim(0, 1.1)
    axes.grid(axis="y", color=GREY, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel("passes through the model for one target")
    axes.set_ylabel("effect captured at 5, mean of the sets")
    axes.spines[["top", "right"]].set_visible(False)
    write_figure(path, figure, dpi=110)
    plt.close(figure)
    return path


def _label_heights(points: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return the heights of the labels, moved down where they would overlap another label."""
    heights: dict[str, float] = {}
    for name in sorted(points, key=lambda each: -points[each][1]):
        x, height = points[name]
        near = []
        for other, its in heights.items():
            left = min(name, other, key=lambda each: points[each][0])
            if abs(np.log10(points[other][0] / x)) < _LETTER_WIDTH * len(left):
                near.append(its)
        heights[name] = min([height, *(other - _LABEL_HEIGHT for other in near)])
    return heights
