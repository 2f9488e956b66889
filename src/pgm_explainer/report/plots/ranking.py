"""The evidence for each candidate as bars, with the threshold of significance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ...selection.ranking import critical_log_p
from ..colours import BLUE, GREY, SKY, VERMILLION
from ..effects import level_words
from ..names import shorten, variable_label
from ..wording import part_label, wording_of
from .style import (
    bar,
    explain_bars,
    finish,
    label_values,
    name_rows,
    points,
    rows_size,
    rows_that_fit,
    show_message,
    title_rows,
    write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...explanation import Explanation

__all__ = ["draw_ranking", "ranking_size"]

_MOST = 20
_TO_DIGITS = -1 / np.log(10)
_CHOSEN, _FOUND, _WEAK = (BLUE, ""), (SKY, "////"), (GREY, "")
_MEANINGS = {
    _CHOSEN: "chosen for the network",
    _FOUND: "significant, not chosen",
    _WEAK: "not significant",
}
"""The fills of bars."""


def ranking_size(explanation: Explanation, *, max_shown: int = _MOST) -> tuple[float, float]:
    """Return a figure size in inches that keeps the ranking readable."""
    return rows_size(min(max_shown, len(explanation.ranking)))


def draw_ranking(explanation: Explanation, axes: Axes, *, max_shown: int = _MOST) -> None:
    """Draw -log10 p of the highest-ranked candidates, with Cramér's V of each."""
    ranking, words = explanation.ranking, wording_of(explanation.settings)
    if not len(ranking):
        other = f"no {'other ' if words.noun == 'node' else ''}{words.noun}"
        show_message(
            axes, f"There are no {words.plural} to rank:\n{other} can influence the target."
        )
        finish(axes, f"How strongly the prediction depends on each {words.noun}")
        return
    shown = range(min(max_shown, rows_that_fit(axes), len(ranking)))
    digits = ranking.log_p * _TO_DIGITS
    flags = zip(ranking.selected.tolist(), ranking.significant.tolist(), strict=True)
    fills = [_CHOSEN if selected else _FOUND if found else _WEAK for selected, found in flags]
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for at in shown:
        bar(axes, at, digits[at], fills[at])
        beside = f" {ranking.effect_size[at]:.2f}"
        write(axes, digits[at], at, beside, ha="left", size=points(8), path_effects=halo, zorder=3)
    _draw_line(axes, explanation)
    _scale(axes, float(digits.max()))
    name_rows(
        axes, [part_label(explanation, part) for part in ranking.nodes[: len(shown)].tolist()]
    )
    hidden = ranking.num_candidates - len(shown)
    target = shorten(variable_label(explanation, explanation.target), 28)
    title = f"How strongly the prediction of {target} depends on each {words.noun}"
    title_rows(axes, title, hidden)
    line = (
        Line2D([], [], color=VERMILLION, linestyle="--"),
        level_words(explanation.settings),
    )
    explain_bars(axes, _MEANINGS, fills, *([line] if _has_line(explanation) else []))


def _has_line(explanation: Explanation) -> bool:
    """Return whether there is a known threshold that a bar could exceed.

    A corrected threshold depends on all candidates, and a prediction that never changed has none.
    """
    known = (
        explanation.settings.significance.correction == "none" or not explanation.ranking.left_out
    )
    return known and explanation.held < 1


def _draw_line(axes: Axes, explanation: Explanation) -> None:
    """Draw the threshold of significance, from top to bottom."""
    if not _has_line(explanation):
        return
    judged = explanation.settings.significance
    needed = critical_log_p(explanation.ranking, judged.significance, judged.correction)
    axes.axvline(needed * _TO_DIGITS, color=VERMILLION, linestyle="--", linewidth=1.4)


def _scale(axes: Axes, largest: float) -> None:
    """Linear up to 1, then logarithmic: evidence ranges from 0 to hundreds of digits."""
    axes.set_xscale("symlog", linthresh=1, linscale=0.5)
    axes.set_xlim(0, max(10.0, largest * 2))
    axes.xaxis.set_major_formatter("{x:g}")
    label_values(axes, "evidence, -log10 p (Cramér's V beside the bar)")
