"""Plots of an explanation: effects, features, neighbourhood, network and ranking."""

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
from ..strip import is_strip
from .effects import draw_effects, draw_features, effects_size, features_size
from .molecule import draw_molecule, read_atoms, read_molecule
from .neighbourhood import draw_neighbourhood
from .network import draw_network, network_size
from .ranking import draw_ranking, ranking_size
from .strip import draw_strip, strip_size
from .superpixels import draw_superpixels, plot_superpixels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...explanation import Explanation, FeatureEffects

__all__ = [
    "draw_effects",
    "draw_features",
    "draw_neighbourhood",
    "draw_network",
    "draw_ranking",
    "draw_strip",
    "draw_superpixels",
    "plot_explanation",
    "plot_features",
    "plot_superpixels",
]

_Plot: TypeAlias = "Callable[..., Figure]"

_COLOUR_BAR = 1.6
"""The height of a colour bar and its text, which the network beside it does not use."""
_SIDE = 6.5
"""The width and height of a neighbourhood, in inches."""


def plot_explanation(explanation: Explanation, kind: str = "both", **options: Any) -> Figure:
    """Draw an explanation; see :meth:`~pgm_explainer.Explanation.plot`."""
    if not is_explanation(explanation):
        raise InputError(f"expected an explanation to plot, not {explanation!r:.60}")
    draw = resolve(kind, "kind of plot", _KINDS)
    if draw is None:
        raise InputError(f"kind must be a name ({', '.join(_KINDS)}), not {kind!r}")
    unknown = [name for name in options if kind not in _OPTIONS.get(name, ())]
    if unknown:
        known = "; ".join(f"{name}, for {', '.join(of)}" for name, of in _OPTIONS.items())
        raise InputError(f"a plot of kind {kind!r} takes no {', '.join(unknown)}; there is {known}")
    if "max_shown" in options:
        options["max_shown"] = check_whole_number(options["max_shown"], "max_shown", at_least=1)
    return draw(explanation, **options)


def plot_features(
    features: FeatureEffects, *, explanation: Explanation | None = None, **options: Any
) -> Figure:
    """Draw the effects of single features; the option is ``max_shown``."""
    size = features_size(features, **options)
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    draw_features(features, axes, explanation=explanation, **options)
    return figure


def _features(explanation: Explanation, **options: Any) -> Figure:
    if explanation.features is None:
        raise InputError(
            "the explanation has no effects of features; explain with with_features=True"
        )
    return plot_features(explanation.features, explanation=explanation, **options)


def _both(explanation: Explanation, **options: Any) -> Figure:
    width, height = network_size(explanation)
    side, least = _around_size(explanation, **options)
    height += _COLOUR_BAR if is_strip(explanation) else 0.0
    figure, (left, right) = plt.subplots(
        1,
        2,
        figsize=(side + width, max(least, height)),
        width_ratios=(side, width),
        layout="constrained",
    )
    draw_network(explanation, right)
    _draw_around(explanation, left, **options)
    return figure


def _alone(draw: Callable[..., Any], size: Callable[..., tuple[float, float]]) -> _Plot:
    """Return a function that draws one plot in a figure of its own size."""

    def plot(explanation: Explanation, **options: Any) -> Figure:
        figure, axes = plt.subplots(figsize=size(explanation, **options), layout="constrained")
        draw(explanation, axes, **options)
        return figure

    return plot


def _around_size(
    explanation: Explanation, *, max_shown: int | None = None, **_: Any
) -> tuple[float, float]:
    limit = {} if max_shown is None else {"max_shown": max_shown}
    return strip_size(explanation, **limit) if is_strip(explanation) else (_SIDE, _SIDE)


def _draw_around(
    explanation: Explanation, axes: Axes, *, molecule: Any = None, atoms: Any = None, **options: Any
) -> None:
    """Draw the graph around the prediction, a molecule or, for parts without a place, a strip."""
    if is_strip(explanation):
        draw_strip(explanation, axes, **options)
        return
    symbols = None if atoms is None else read_atoms(explanation, atoms)
    if molecule is not None or symbols is not None:
        drawn = read_molecule(explanation, molecule, symbols)
        if drawn is not None:
            draw_molecule(explanation, axes, drawn)
            return
    draw_neighbourhood(explanation, axes, atoms=symbols, **options)


_KINDS: dict[str, _Plot] = {
    "both": _both,
    "effects": _alone(draw_effects, effects_size),
    "features": _features,
    "neighbourhood": _alone(_draw_around, _around_size),
    "network": _alone(draw_network, network_size),
    "ranking": _alone(draw_ranking, ranking_size),
}

_OPTIONS = {
    "max_shown": [kind for kind in _KINDS if kind != "network"],
    "molecule": ["both", "neighbourhood"],
    "atoms": ["both", "neighbourhood"],
}
"""The options of plots, and the kinds that have them."""
