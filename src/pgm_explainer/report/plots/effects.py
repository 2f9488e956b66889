"""Every part's effect as a bar with its 95% interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..colours import FALLS, GREY, INK, RISES
from ..effects import ShownEffect, own_effects, shown_effects
from ..measure import Measure, measure_of
from ..names import shorten, variable_label
from ..wording import part_label, wording_of
from .style import (
    finish,
    label_values,
    legend_below,
    name_rows,
    points,
    rows_size,
    rows_that_fit,
    say,
    title_rows,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ...explanation import Explanation

__all__ = ["draw_effects", "effects_size"]

_MOST = 20


def effects_size(explanation: Explanation, *, max_shown: int = _MOST) -> tuple[float, float]:
    """Return a figure size in inches that keeps the effects readable."""
    return rows_size(len(_chosen(explanation, max_shown)))


def draw_effects(explanation: Explanation, axes: Axes, *, max_shown: int = _MOST) -> None:
    """Draw the strongest effects, in the unit of the text, and always the target's own."""
    measure, words = measure_of(explanation), wording_of(explanation.settings)
    shown = _chosen(explanation, min(max_shown, rows_that_fit(axes)))
    if not shown:
        say(axes, f"There are no {words.plural} to perturb.")
        finish(axes, f"Effect of perturbing each {words.noun}")
        return
    for at, each in enumerate(shown):
        effect, low, high = (
            measure.factor * number
            for number in (each.effect.effect, each.effect.low, each.effect.high)
        )
        fill, hatch = _fill(each)
        axes.barh(at, effect, color=fill, hatch=hatch, edgecolor=INK, linewidth=0.6)
        whisker = [[effect - low], [high - effect]]
        axes.errorbar(effect, at, xerr=whisker, color=INK, linewidth=1.2, capsize=points(3))
    axes.axvline(0, color=INK, linewidth=0.8)
    unit = f", in {measure.unit}" if measure.unit else ""
    label_values(axes, f"effect on {measure.what}{unit}")
    name_rows(axes, [_name(explanation, each) for each in shown])
    hidden = len(explanation.effects) + explanation.effects.left_out - len(shown)
    target = shorten(variable_label(explanation, explanation.target), 28)
    perturbing = f"{words.perturbing} each {words.noun}"
    title_rows(axes, f"Effect of {perturbing} on the prediction of {target}", hidden)
    _explain_marks(axes, shown, measure)


def _chosen(explanation: Explanation, most: int) -> list[ShownEffect]:
    strongest = shown_effects(explanation, significant=False, most=most)
    return [*strongest, *(each for each in own_effects(explanation) if each not in strongest)]


def _name(explanation: Explanation, shown: ShownEffect) -> str:
    name = part_label(explanation, shown.number)
    return f"{shorten(name, 19)} (target)" if shown.is_target else name


def _fill(shown: ShownEffect) -> tuple[str, str]:
    """Return colour and pattern; falls are hatched to differ in greyscale print too."""
    if not shown.effect.significant:
        return GREY, ""
    return (FALLS, "////") if shown.effect.effect < 0 else (RISES, "")


def _explain_marks(axes: Axes, shown: list[ShownEffect], measure: Measure) -> None:
    """Add a legend of the fills that occur."""
    kinds = {
        (FALLS, "////"): measure.falls,
        (RISES, ""): measure.rises,
        (GREY, ""): "not significant",
    }
    there = {_fill(each) for each in shown}
    entries: list[tuple[Artist, str]] = [
        (Patch(facecolor=fill, hatch=hatch, edgecolor=INK), name)
        for (fill, hatch), name in kinds.items()
        if (fill, hatch) in there
    ]
    entries.append((Line2D([], [], color=INK, marker="|"), "95% interval"))
    legend_below(axes, entries)
