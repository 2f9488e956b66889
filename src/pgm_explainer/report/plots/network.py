"""The network in layers, with a probability for each variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from ..colours import CHANGED, INK, KEPT, VERMILLION
from ..facts import own_chance
from ..layers import Point, Route, place_network
from ..names import shorten, variable_label
from .style import finish, fits, inches, points, show_message, wrapped, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...explanation import Explanation
    from ...sampling import VariableId

__all__ = ["draw_network", "network_size"]

_ACROSS, _DOWN = 1.5, 1.1
"""Inches from one variable to the next, and from one layer to the next."""
_WIDTH, _HEIGHT = 0.84, 0.56
"""A variable's box, in those units."""
_BOLD = 1.15
"""How much wider bold letters are."""
_TWO_LINES, _LOW = 0.9, 0.5
"""The height, as a share of the full one, above which a box has space for two lines of the name,
and below which it has space for the name and the bar only."""
_STYLES = {
    (False, True): "-|>",
    (True, False): "<|-",
    (True, True): "<|-|>",
    (False, False): "-",
}
"""The arrowheads of an edge, by whether it has one at its upper and its lower end."""
_LEAST = (3, 2)
"""The minimum size of the drawing, in variables and layers."""


def network_size(explanation: Explanation) -> tuple[float, float]:
    """Return a figure size in inches that keeps the network readable."""
    across, down = _LEAST
    if explanation.network is not None:
        low, high = _extent(*place_network(explanation.network))
        across, down = high - low
    return _ACROSS * across + 0.3, _DOWN * down + 0.5


def draw_network(explanation: Explanation, axes: Axes) -> None:
    """Draw the variables in layers, with the target highlighted and a probability for each.

    The bar of a node shows the probability that its own prediction is kept or, if nodes have no
    predictions, that it is not perturbed; the bar of the target, that the prediction is kept.

    Examples:
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> axes = Figure().subplots()
        >>> from pgm_explainer.report.plots import draw_network
        >>> draw_network(explainer.explain(1), axes)
        >>> len(axes.texts) > 0
        True
    """
    network = explanation.network
    if network is None:
        why = "the prediction never changed" if explanation.held == 1 else "structure is None"
        show_message(axes, f"There is no network:\n{why}.")
        finish(axes, "Network")
        return
    at, routes = place_network(network)
    low, high = _extent(at, routes)
    width, height = inches(axes)
    across, down = high - low
    scale = min(1.0, width / (_ACROSS * across)), min(1.0, height / (_DOWN * down + 0.5))
    confidence = explanation.edge_confidence
    for route in routes:
        share = None if confidence is None else confidence.share(*route.ends)
        axes.add_patch(_arrow(route, min(scale), share))
        if share is not None:
            _label(axes, route, f"{share:.0%}", scale)
    for node, centre in at.items():
        _draw_variable(axes, explanation, node, centre, scale)
    chance = f"{explanation.query():.1%}"
    axes.update_datalim([low, high])
    axes.margins(0)
    if min(scale) == 1:
        axes.set_aspect(_DOWN / _ACROSS, adjustable="datalim")
    finish(axes, f"{network.title}: the prediction is kept with probability {chance}")


def _extent(
    at: Mapping[VariableId, Point], routes: Sequence[Route]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower left and upper right corner of the drawing, which has a minimum size."""
    points = np.array([*at.values(), *(point for route in routes for point in route.points)])
    low, high = points.min(axis=0) - 0.5, points.max(axis=0) + 0.5
    missing = np.maximum(np.array(_LEAST) - (high - low), 0) / 2
    return low - missing, high + missing


def _label(axes: Axes, route: Route, text: str, scale: tuple[float, float]) -> None:
    """Write the confidence of an edge where it passes a layer, or else halfway."""
    (x, y), (to_x, to_y) = route.points[:2]
    if len(route.points) > 2:  # many edges may leave a variable, but they pass layers apart
        (x, y), (to_x, to_y) = route.points[1], route.points[1]
    style: dict[str, Any] = {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.8}}
    size = min(points(7), 7 * scale[1])
    write(axes, (x + to_x) / 2, (y + to_y) / 2, text, size=size, zorder=1.5, **style)


def _arrow(route: Route, scale: float, share: float | None = None) -> FancyArrowPatch:
    """Draw an edge straight down through the layers between, with its arrowheads if it has any.

    If its confidence is known, an edge with higher confidence is thicker.
    """
    wide = 1.2 if share is None else 0.6 + 2.2 * share
    half = _HEIGHT / 2
    stops = [(x, y + side) for x, y in route.points for side in (half, -half)][1:-1]
    vertices, codes = [stops[0]], [Path.MOVETO]
    for at, (start, end) in enumerate(pairwise(stops)):
        middle = (start[1] + end[1]) / 2
        if at % 2:  # passing a layer
            vertices.append(end)
            codes.append(Path.LINETO)
        else:
            vertices += [(start[0], middle), (end[0], middle), end]
            codes += [Path.CURVE4] * 3
    return FancyArrowPatch(
        path=Path(vertices, codes),
        arrowstyle=_STYLES[route.tips],
        mutation_scale=max(7, 13 * scale),
        color=INK,
        linewidth=max(0.8 * wide / 1.2, wide * scale),
        zorder=1,
    )


def _draw_variable(
    axes: Axes,
    explanation: Explanation,
    node: VariableId,
    centre: Point,
    scale: tuple[float, float],
) -> None:
    """Draw a box with the name, and a bar split by the probability of the word beside it.

    Args:
        scale: the width and height of the box, as shares of its full size. In a small box, text is
            smaller, names are cut, and the word or the number are left out if they do not fit.
    """
    x, y = centre
    left, bottom = x - _WIDTH / 2, y - _HEIGHT / 2
    is_target = node == explanation.target
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom),
            _WIDTH,
            _HEIGHT,
            boxstyle="round,pad=0,rounding_size=0.06",
            mutation_aspect=_ACROSS / _DOWN,
            facecolor="#FFF6EC" if is_target else "white",
            edgecolor=VERMILLION if is_target else INK,
            linewidth=(3.2 if is_target else 1.2) * max(min(scale), 0.5),
            zorder=2,
        )
    )
    lines = 2 if scale[1] > _TWO_LINES else 1
    is_low = scale[1] < _LOW
    size = min(points(8), scale[1] * (14 if is_low else 8 if lines == 2 else 10.5))
    letters = min(14, fits(_WIDTH * _ACROSS * scale[0], _BOLD * size))
    name, (share, word) = variable_label(explanation, node), own_chance(explanation, node)
    style: dict[str, Any] = {"weight": "bold", "linespacing": 0.95, "zorder": 4}
    if is_low:
        write(axes, x, y + 0.06, shorten(name, letters), size=size, **style)
    else:
        said = f"{word} {share:.0%}"
        said = said if len(said) <= letters + 1 else f"{share:.0%}"
        short = wrapped(name, letters) if lines == 2 else shorten(name, letters)
        write(axes, x, y + 0.12, short, size=size, **style)
        write(axes, x, bottom + 0.2, said, size=0.94 * size, zorder=4)
    inset = 0.05
    _bar(axes, left + inset, bottom + 0.05, _WIDTH - 2 * inset, share)


def _bar(axes: Axes, left: float, bottom: float, width: float, share: float) -> None:
    height = 0.07
    full: dict[str, Any] = {"zorder": 3, "linewidth": 0.6, "edgecolor": INK}
    # Plain and hatched, so that the two parts differ without colour too.
    axes.add_patch(
        Rectangle((left, bottom), width, height, facecolor=CHANGED, hatch="//////", **full)
    )
    axes.add_patch(Rectangle((left, bottom), width * share, height, facecolor=KEPT, **full))
