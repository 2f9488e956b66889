"""The effects of features or time steps as a strip of coloured cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from ..colours import FALLS, INK, RISES, UNCLEAR
from ..measure import Measure, measure_of, with_minus_signs
from ..names import shorten
from ..strip import Strip, strip_of
from ..wording import wording_of
from .style import (
    fits,
    inches,
    label_values,
    name_rows,
    points,
    rows_that_fit,
    title_rows,
    write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...explanation import Explanation

__all__ = ["draw_strip", "strip_size"]

_MOST_ROWS, _MOST_COLUMNS = 20, 40
_MOST_NUMBERS = 60
"""Up to this many cells show their effects as numbers; if there are more, only the signs."""
_MOST_NAMES, _MOST_LETTERS = 24, 60
_CELLS, _CELL, _NUMBER = 0.6, 9.0, 6
"""The share of the width that cells take, the minimum width of a cell in points, and that of a cell
with a number in letters."""
_EFFECTS = LinearSegmentedColormap.from_list("effects", [FALLS, "white", RISES])


def strip_size(explanation: Explanation, *, max_shown: int = _MOST_COLUMNS) -> tuple[float, float]:
    """Return a figure size in inches that keeps a strip readable."""
    strip = _strip(explanation, max_shown)
    return max(6.5, 0.34 * len(strip.columns) + 2), 2.4 + 0.3 * len(strip.rows)


def draw_strip(explanation: Explanation, axes: Axes, *, max_shown: int = _MOST_COLUMNS) -> None:
    """Draw a cell for each effect, coloured by its direction and size; insignificant are empty.

    Parts of the network have a thick outline. Of many nodes, steps or features, those with the
    strongest effects are drawn, at most ``max_shown`` columns.
    """
    width, _ = inches(axes)
    columns = min(max_shown, int(_CELLS * width / (points(_CELL) / 72)))
    strip, measure = _strip(explanation, columns, rows_that_fit(axes)), measure_of(explanation)
    values = np.full((len(strip.rows), len(strip.columns)), np.nan)
    for at, each in strip.cells.items():
        if each.direction in ("falls", "rises"):
            values[at] = measure.factor * each.effect.effect
    largest = float(np.nanmax(abs(values), initial=0.0)) or 1.0
    drawn = axes.imshow(values, cmap=_EFFECTS, vmin=-largest, vmax=largest, aspect="auto")
    _draw_cells(axes, explanation, strip, measure, values / largest)
    _name_sides(axes, strip, wording_of(explanation.settings).noun)
    bar = axes.figure.colorbar(drawn, ax=axes, location="bottom", aspect=40, shrink=0.8)
    unit = f", in {measure.unit}" if measure.unit else ""
    label_values(
        bar.ax,
        f"effect on {measure.what}{unit} (white: not significant; grey: direction not clear)",
        width,
    )
    bar.ax.tick_params(labelsize=points(9))
    title_rows(axes, strip.title, strip.hidden)


def _strip(explanation: Explanation, columns: int, rows: int = _MOST_ROWS) -> Strip:
    return strip_of(explanation, min(_MOST_ROWS, rows, columns), columns)


def _draw_cells(
    axes: Axes, explanation: Explanation, strip: Strip, measure: Measure, shades: Any
) -> None:
    """Draw outlines, and numbers or signs, so that directions differ in greyscale too."""
    letters = _CELLS * fits(inches(axes)[0], points(7)) / len(strip.columns)
    numbers = len(strip.cells) <= _MOST_NUMBERS and letters >= _NUMBER
    selected = set(explanation.ranking.selected_nodes.tolist())
    for (row, column), each in strip.cells.items():
        thick = each.number in selected
        line: dict[str, Any] = {
            "edgecolor": INK,
            "linewidth": 2.2 if thick else 0.3,
            "zorder": 3 if thick else 2,
        }
        unclear = each.direction == "both"
        line |= {"facecolor": UNCLEAR, "fill": unclear}
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **line))
        if each.effect.significant:
            sign = "−" if each.effect.effect < 0 else "+"
            text = with_minus_signs(measure.signed(each.effect.effect)) if numbers else sign
            colour = "white" if unclear or abs(shades[row, column]) > 0.6 else "black"
            write(axes, column, row, text, size=points(7), color=colour, zorder=4)


def _name_sides(axes: Axes, strip: Strip, noun: str) -> None:
    letters = _CELLS * fits(inches(axes)[0], points(8))
    most = max(1, min(_MOST_NAMES, int(letters / 2)))
    every = -(-len(strip.columns) // most)
    shown = range(0, len(strip.columns), every)
    turned = max(len(strip.columns[at]) for at in shown) * len(shown) > min(_MOST_LETTERS, letters)
    names = [shorten(strip.columns[at], 16) for at in shown]
    axes.set_xticks(list(shown), names, size=points(8), rotation=45 if turned else 0)
    for label in axes.get_xticklabels():
        label.set(parse_math=False, ha="right" if turned else "center")
    axes.set_xlabel(noun, size=points(9), color=INK)
    rows = list(strip.rows)
    if strip.target_row is not None:
        rows[strip.target_row] = f"{shorten(rows[strip.target_row], 19)} (target)"
    name_rows(axes, rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(-0.5, len(strip.columns) - 0.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
