"""Plots of an explanation: effects, neighbourhood, network and ranking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ...arrays import check_whole_number, resolve
from ...errors import InputError, PGMExplainerError

try:
    import matplotlib.pyplot as plt
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PGMExplainerError(
        f"plots need matplotlib: pip install 'pgm-explainer[plot]' ({error})"
    ) from error

from ..shown import is_explanation
from .effects import draw_effects, effects_size
from .neighbourhood import draw_neighbourhood
from .network import draw_network, network_size
from .ranking import draw_ranking, ranking_size
from .superpixels import draw_superpixels, plot_superpixels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...explanation import Explanation

__all__ = [
    "draw_effects",
    "draw_neighbourhood",
    "draw_network",
    "draw_ranking",
    "draw_superpixels",
    "plot_explanation",
    "plot_superpixels",
]

_Plot: TypeAlias = "Callable[..., Figure]"

_SIDE = 6.5
"""The width and height of a neighbourhood, in inches."""


def plot_explanation(explanation: Explanation, kind: str = "both", **options: Any) -> Figure:
    """Draw an explanation; see :meth:`~pgm_explainer.Explanation.plot`."""
    if not is_explanation(explanation):
        raise InputError(f"expected an explanation to plot, not {explanation!r:.60}")
    draw = resolve(kind, "kind of plot", _KINDS)
    if draw is None:
        raise InputError(f"kind must be a name ({', '.join(_KINDS)}), not {kind!r}")
    unknown = [name for name in options if name != "max_shown" or kind == "network"]
    if unknown:
        raise InputError(
            f"a plot of kind {kind!r} takes no {', '.join(unknown)}; there is max_shown, for "
            f"{', '.join(each for each in _KINDS if each != 'network')}"
        )
    if "max_shown" in options:
        options["max_shown"] = check_whole_number(options["max_shown"], "max_shown", at_least=1)
    return draw(explanation, **options)


def _both(explanation: Explanation, **options: Any) -> Figure:
    width, height = network_size(explanation)
    figure, (left, right) = plt.subplots(
        1,
        2,
        figsize=(_SIDE + width, max(_SIDE, height)),
        width_ratios=(_SIDE, width),
        layout="constrained",
    )
    draw_network(explanation, right)
    draw_neighbourhood(explanation, left, **options)
    return figure


def _alone(draw: Callable[..., Any], size: Callable[..., tuple[float, float]]) -> _Plot:
    """Return a function that draws one plot in a figure of its own size."""

    def plot(explanation: Explanation, **options: Any) -> Figure:
        figure, axes = plt.subplots(figsize=size(explanation, **options), layout="constrained")
        draw(explanation, axes, **options)
        return figure

    return plot


def _square(_: Explanation, **__: Any) -> tuple[float, float]:
    return _SIDE, _SIDE


_KINDS: dict[str, _Plot] = {
    "both": _both,
    "effects": _alone(draw_effects, effects_size),
    "neighbourhood": _alone(draw_neighbourhood, _square),
    "network": _alone(draw_network, network_size),
    "ranking": _alone(draw_ranking, ranking_size),
}
