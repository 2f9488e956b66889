"""Every candidate's evidence as bars, with the line that separates the significant ones."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation

from ...selection import critical_log_p
from ..colours import BLUE, GREY, INK, SKY, VERMILLION
from ..names import label_of, shorten, variable_label
from .style import finish, legend, say, write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ...explanation import Explanation

__all__ = ["draw_ranking", "ranking_size"]

_MOST, _LEAST = 20, 5
_BELOW = 0.45
_TITLE = 60
_TO_DIGITS = -1 / np.log(10)
_CORRECTIONS = {"none": "", "benjamini_hochberg": ", Benjamini–Hochberg"}


def ranking_size(explanation: Explanation, *, max_shown: int = _MOST) -> tuple[float, float]:
    """Return the inches that a ranking needs to be read."""
    return 7.0, 2.5 + 0.26 * max(_LEAST, min(max_shown, len(explanation.ranking)))


def draw_ranking(explanation: Explanation, axes: Axes, *, max_shown: int = _MOST) -> None:
    """Draw the highest-ranked candidates' -log10 p, with the effect size and reach of each."""
    ranking = explanation.ranking
    if not len(ranking):
        say(axes, "There are no nodes to rank:\nno other node can influence the target.")
        finish(axes, "How strongly the prediction depends on each node")
        return
    shown = range(min(max_shown, len(ranking)))
    digits = ranking.log_p * _TO_DIGITS
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for at in shown:
        fill, hatch = _fill(bool(ranking.selected[at]), bool(ranking.significant[at]))
        axes.barh(at, digits[at], color=fill, hatch=hatch, edgecolor=INK, linewidth=0.6)
        beside = f" {ranking.effect_size[at]:.2f}" + (
            f", {ranking.reach[at]:.2f}" * ranking.weighed
        )
        write(axes, digits[at], at, beside, ha="left", size=8, path_effects=halo, zorder=3)
    _draw_line(axes, explanation, len(shown))
    _scale(axes, float(digits.max()), "effect size and reach" if ranking.weighed else "effect size")
    _name_rows(axes, [label_of(ranking.name(at)) for at in shown])
    hidden = ranking.num_candidates - len(shown)
    target = shorten(variable_label(explanation, explanation.target), 28)
    asked = f"How strongly the prediction of {target} depends on each node"
    more = f"\n({hidden} more are not drawn)" if hidden else ""
    title = textwrap.fill(asked, _TITLE) + more
    axes.set_title(title, size=10, color=INK, parse_math=False)
    _explain_marks(axes, explanation)


def _has_line(explanation: Explanation) -> bool:
    """Whether it is known what bars must exceed, and exceeding it would do.

    After a correction all candidates decide; of a prediction that never changed nothing does.
    """
    known = explanation.settings["correction"] == "none" or not explanation.ranking.left_out
    return known and explanation.held < 1


def _draw_line(axes: Axes, explanation: Explanation, shown: int) -> None:
    """Draw what each bar must exceed, from top to bottom."""
    if not _has_line(explanation):
        return
    settings = explanation.settings
    needed = critical_log_p(explanation.ranking, settings["significance"], settings["correction"])
    heights = np.arange(shown)[:, None] + (-0.5, 0.5)
    ends = np.repeat(needed[:shown] * _TO_DIGITS, 2)
    axes.plot(ends, heights.ravel(), color=VERMILLION, linestyle="--", linewidth=1.4)


def _fill(selected: bool, significant: bool) -> tuple[str, str]:
    if selected:
        return BLUE, ""
    return (SKY, "////") if significant else (GREY, "")


def _scale(axes: Axes, largest: float, beside: str) -> None:
    """Linear up to 1, then by powers of ten: evidence spans from nothing to hundreds of digits."""
    axes.set_xscale("symlog", linthresh=1, linscale=0.5)
    axes.set_xlim(0, max(10.0, largest * 2))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(f"evidence, -log10 p ({beside} beside the bar)", size=9, color=INK)


def _name_rows(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), [shorten(name, 28) for name in names], size=9)
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.set_ylim(max(_LEAST, len(names)) - 0.4, -0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _explain_marks(axes: Axes, explanation: Explanation) -> None:
    """Say what the fills that occur mean, and which line it is, if there is one."""
    ranking, settings = explanation.ranking, explanation.settings
    kinds = {
        "in the explanation": (True, True),
        "significant, not in it": (False, True),
        "not significant": (False, False),
    }
    entries: list[tuple[Artist, str]] = []
    for name, (selected, significant) in kinds.items():
        fill, hatch = _fill(selected, significant)
        found = (
            ranking.selected
            if selected
            else ~ranking.selected & (ranking.significant == significant)
        )
        if found.any():
            entries.append((Patch(facecolor=fill, hatch=hatch, edgecolor=INK), name))
    if _has_line(explanation):
        level = f"level {settings['significance']:g}{_CORRECTIONS[settings['correction']]}"
        entries.append((Line2D([], [], color=VERMILLION, linestyle="--"), level))
    # Below the axis and its label, by inches: a bar may be anywhere within, however many there are.
    below = ScaledTranslation(0, -_BELOW, axes.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0)}
    legend(axes, entries, **place, bbox_transform=axes.transAxes + below, ncols=2, frameon=False)
