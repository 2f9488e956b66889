"""Plots of an explanation: effects, features, neighbourhood, network and ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from ...arrays import as_list, check_whole_number, is_number, resolve
from ...errors import InputError, PGMExplainerError
from ...limits import brief

try:
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
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
from .style import inches
from .superpixels import draw_superpixels, plot_superpixels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...explanation import Explanation, FeatureEffects

__all__ = [
    "draw_neighbourhood",
    "draw_network",
    "draw_superpixels",
    "plot_explanation",
    "plot_superpixels",
]

_Plot: TypeAlias = "Callable[..., Figure]"

_COLOUR_BAR = 1.6
"""The height of a colour bar and its text, which the network beside it does not use."""
_SIDE = 6.5
"""The width and height of a neighbourhood, in inches."""
_USUAL = (5.0, 3.5)
"""Plots with less width or height than this, in inches, have smaller text by default."""
_SMALLEST_FONT = 7.5
_SMALLEST, _LARGEST = 0.1, 1000
"""The limits of a side of a figure, in inches, and of the size of its text, in points."""


def plot_explanation(explanation: Explanation, kind: str = "both", **options: Any) -> Figure:
    """Draw an explanation; see :meth:`~pgm_explainer.Explanation.plot`.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> from pgm_explainer.report.plots import plot_explanation
        >>> plot_explanation(explanation, "effects", figsize=(4, 3)).get_size_inches().tolist()
        [4.0, 3.0]
    """
    if not is_explanation(explanation):
        raise InputError(f"expected an explanation to plot, not {brief(explanation)}")
    draw = resolve(kind, "kind of plot", _KINDS)
    if draw is None:
        raise InputError(f"kind must be a name ({', '.join(_KINDS)}), not {brief(kind)}")
    with _styled(kind, options):
        return draw(explanation, **options)


def plot_features(features: FeatureEffects, **options: Any) -> Figure:
    """Draw the effects of single features, with the options of a plot of this kind."""
    with _styled("features", options):
        return _draw_features(features, **options)


@contextmanager
def _styled(kind: str, options: dict[str, Any]) -> Iterator[None]:
    """Check the options of a plot, and draw with the font size among them."""
    unknown = [name for name in options if kind not in _OPTIONS.get(name, ())]
    if unknown:
        known = [name for name, of in _OPTIONS.items() if kind in of]
        raise InputError(
            f"a plot of kind {brief(kind)} takes no {', '.join(unknown)}; its options are "
            f"{', '.join(known)}{_hint(unknown)}"
        )
    if "max_shown" in options:
        options["max_shown"] = check_whole_number(options["max_shown"], "max_shown", at_least=1)
    place = _checked_place(options.get("figsize"), options.get("ax"))
    if place:
        options["figsize"] = place
    size = options.pop("font_size", None)
    if size is None:
        size = _usual_size(kind, options.get("figsize"), options.get("ax"))
    if size is None:  # rc_context would keep a notebook from showing its first plot
        yield
        return
    with mpl.rc_context({"font.size": _checked_size(size, "font_size")}):
        yield


def _usual_size(kind: str, figsize: Any, ax: Axes | None) -> float | None:
    """Return the font size of a small plot; None if matplotlib's size fits, or was set."""
    if mpl.rcParams["font.size"] != mpl.rcParamsDefault["font.size"]:
        return None
    if ax is None and figsize is None:
        return None
    width, height = inches(ax) if ax is not None else map(float, figsize)
    width = width / 2 if kind == "both" else width
    share = min(width / _USUAL[0], height / _USUAL[1])
    return None if share >= 1 else max(_SMALLEST_FONT, float(mpl.rcParams["font.size"]) * share)


def _hint(unknown: list[str]) -> str:
    """Return which kinds of plots have the options that this kind does not have."""
    if "ax" in unknown:
        return "; it has two axes, so draw 'neighbourhood' and 'network' into one each"
    elsewhere = [name for name in unknown if name in _OPTIONS]
    return "".join(f"; {name} is for {', '.join(_OPTIONS[name])}" for name in elsewhere)


def _checked_place(figsize: Any, ax: Any) -> tuple[float, ...]:
    """Return the size of a new figure, if one is given.

    Raises:
        InputError: a plot cannot be drawn there.
    """
    if ax is not None and not isinstance(ax, Axes):
        raise InputError(f"ax must be the axes of matplotlib to draw into, not {brief(ax)}")
    if figsize is None:
        return ()
    if ax is not None:
        raise InputError("figsize is the size of a new figure; axes given as ax have their own")
    sides = as_list(figsize)
    if sides is None or len(sides) != 2:
        raise InputError(f"figsize must be width and height in inches, not {brief(figsize)}")
    return tuple(_checked_size(side, "figsize") for side in sides)


def _checked_size(value: Any, name: str) -> float:
    if not is_number(value) or not _SMALLEST < value < _LARGEST:
        raise InputError(
            f"{name} must be a number between {_SMALLEST} and {_LARGEST}, not {brief(value)}"
        )
    return float(value)


def _both(
    explanation: Explanation, *, figsize: tuple[float, float] | None = None, **options: Any
) -> Figure:
    width, height = network_size(explanation)
    side, least = _around_size(explanation, **options)
    height += _COLOUR_BAR if is_strip(explanation) else 0.0
    figure, (left, right) = plt.subplots(
        1,
        2,
        figsize=(side + width, max(least, height)) if figsize is None else figsize,
        width_ratios=(side, width),
        layout="constrained",
    )
    draw_network(explanation, right)
    _draw_around(explanation, left, **options)
    return figure


def _alone(draw: Callable[..., Any], size: Callable[..., tuple[float, float]]) -> _Plot:
    """Return a function that draws one plot in a figure of a suitable size."""

    def plot(
        shown: Any,
        *,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Figure:
        if ax is None:
            inches = size(shown, **options) if figsize is None else figsize
            _, ax = plt.subplots(figsize=inches, layout="constrained")
        draw(shown, ax, **options)
        whole: Figure = ax.figure.canvas.figure  # not a part of the figure that ax may be in
        return whole

    return plot


_draw_features = _alone(draw_features, features_size)


def _features(explanation: Explanation, **options: Any) -> Figure:
    if explanation.features is None:
        raise InputError(
            "the explanation has no effects of features; explain with with_features=True"
        )
    return _draw_features(explanation.features, explanation=explanation, **options)


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
    "figsize": list(_KINDS),
    "font_size": list(_KINDS),
    "ax": [kind for kind in _KINDS if kind != "both"],
    "max_shown": [kind for kind in _KINDS if kind != "network"],
    "molecule": ["both", "neighbourhood"],
    "atoms": ["both", "neighbourhood"],
}
"""The options of plots, and the kinds that have them."""
