"""Effects of parts and of single features as bars with their 95% intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from ..colours import FALLS, GREY, INK, RISES, UNCLEAR
from ..effects import ShownEffect, ShownRow, own_effects, shown_effects
from ..features import ShownFeature, node_words, shown_features
from ..measure import Measure, measure_of, plain_measure
from ..names import shorten, variable_label, width
from ..wording import part_label, wording_of
from .style import (
    Fill,
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
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...explanation import Explanation, FeatureEffects

__all__ = ["draw_effects", "draw_features", "effects_size", "features_size"]

_MOST = 20


def effects_size(explanation: Explanation, *, max_shown: int = _MOST) -> tuple[float, float]:
    """Return a figure size in inches that keeps the effects readable."""
    return rows_size(len(_chosen(explanation, max_shown)))


def draw_effects(explanation: Explanation, axes: Axes, *, max_shown: int = _MOST) -> None:
    """Draw the strongest effects, in the unit of the text, and always the target's own."""
    measure, words = measure_of(explanation), wording_of(explanation.settings)
    shown = _chosen(explanation, min(max_shown, rows_that_fit(axes)))
    if not shown:
        show_message(axes, f"There are no {words.plural} to perturb.")
        finish(axes, f"Effect of perturbing each {words.noun}")
        return
    _draw_bars(axes, shown, [_name(explanation, each) for each in shown], measure)
    hidden = len(explanation.effects) + explanation.effects.left_out - len(shown)
    perturbing = f"{words.perturbing} each {words.noun}"
    title_rows(axes, f"Effect of {perturbing} on {_prediction(explanation)}", hidden)


def features_size(
    features: FeatureEffects, *, max_shown: int = _MOST, **_: Any
) -> tuple[float, float]:
    """Return a figure size in inches that keeps the effects of features readable."""
    return rows_size(min(max_shown, len(features)))


def draw_features(
    features: FeatureEffects,
    axes: Axes,
    *,
    max_shown: int = _MOST,
    explanation: Explanation | None = None,
) -> None:
    """Draw the strongest effects of single features, the target's own first.

    Args:
        explanation: the explanation that they belong to, for its unit and its names.
    """
    most = min(max_shown, rows_that_fit(axes))
    shown = shown_features(features, significant=False, most=most)
    measure = (
        measure_of(explanation, features) if explanation is not None else plain_measure(features)
    )
    title = f"Effect of perturbing single features on {_prediction(explanation)}"
    if not shown:
        show_message(axes, "There are no features that a perturbation changes.")
        finish(axes, title)
        return
    _draw_bars(axes, shown, [_feature_name(each) for each in shown], measure)
    title_rows(axes, title, len(features) + features.left_out - len(shown))


def _draw_bars(
    axes: Axes,
    shown: Sequence[ShownRow],
    names: Sequence[str],
    measure: Measure,
) -> None:
    """Draw a bar with its interval for each effect, and a legend."""
    for at, each in enumerate(shown):
        effect, low, high = (
            measure.factor * number
            for number in (each.effect.effect, each.effect.low, each.effect.high)
        )
        bar(axes, at, effect, _FILLS[each.direction])
        whisker = [[effect - low], [high - effect]]
        axes.errorbar(effect, at, xerr=whisker, color=INK, linewidth=1.2, capsize=points(3))
    axes.axvline(0, color=INK, linewidth=0.8)
    unit = f", in {measure.unit}" if measure.unit else ""
    label_values(axes, f"effect on {measure.what}{unit}")
    name_rows(axes, names)
    kinds = {_FILLS[kind]: text for kind, text in measure.directions.items()}
    kinds[_FILLS[""]] = "not significant"
    interval = Line2D([], [], color=INK, marker="|"), "95% interval"
    explain_bars(axes, kinds, {_FILLS[each.direction] for each in shown}, interval)


def _prediction(explanation: Explanation | None) -> str:
    """Return the prediction in words."""
    if explanation is None:
        return "the prediction"
    return f"the prediction of {shorten(variable_label(explanation, explanation.target), 28)}"


def _chosen(explanation: Explanation, most: int) -> list[ShownEffect]:
    strongest = shown_effects(explanation, significant=False, most=most)
    return [*strongest, *(each for each in own_effects(explanation) if each not in strongest)]


def _name(explanation: Explanation, shown: ShownEffect) -> str:
    name = part_label(explanation, shown.number)
    return f"{shorten(name, 19)} (target)" if shown.is_target else name


def _feature_name(shown: ShownFeature) -> str:
    if shown.is_target:
        return f"{shorten(shown.feature, 19)} (target)"
    node = f" of {shorten(node_words(shown.effect.node), 13)}"
    return shorten(shown.feature, 28 - width(node)) + node


_FILLS: dict[str, Fill] = {
    "falls": (FALLS, "////"),
    "rises": (RISES, ""),
    "both": (UNCLEAR, "...."),
    "": (GREY, ""),
}
"""The fills of bars by direction; two are hatched to differ in greyscale print too."""
