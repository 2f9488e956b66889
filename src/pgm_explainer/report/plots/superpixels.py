"""An image in superpixels, with the ones that explain its class outlined and numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from ...arrays import IntArray, as_array, as_list, check_whole_number
from ...errors import InputError
from ...limits import brief
from ..colours import ORANGE, SKY
from ..shown import is_explanation
from .style import finish, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...explanation import Explanation

__all__ = ["draw_superpixels", "plot_superpixels"]

_PANEL = 2.6

Found: TypeAlias = "Explanation | Sequence[int]"


def plot_superpixels(image: Any, segments: Any, found: Mapping[str, Found]) -> Figure:
    """Draw an image, its superpixels, and the results of one or several explainers side by side.

    Args:
        image: ``[H, W]`` or ``[H, W, 3]``.
        segments: ``[H, W]``, the node that each pixel belongs to.
        found: for each title an explanation, or nodes, the most important first.

    Raises:
        InputError: the segments do not fit the image, or lack a node that was found.

    Examples:
        >>> image, segments = np.eye(4), np.arange(16).reshape(4, 4) // 4
        >>> figure = plot_superpixels(image, segments, {"PGM": [2, 0]})
        >>> [axes.get_title() for axes in figure.axes]
        ['image', 'superpixels', 'PGM']
        >>> plt.close(figure)
    """
    if not isinstance(found, Mapping):
        raise InputError(
            f"found must map titles to explanations or lists of nodes, not {brief(found)}"
        )
    wrong = [title for title in found if not isinstance(title, str)]
    if wrong:
        raise InputError(f"the titles in found must be strings, not {brief(wrong[0])}")
    panels = {"image": None, "superpixels": (), **found}
    size = (_PANEL * len(panels), _PANEL + 0.3)
    figure, grid = plt.subplots(1, len(panels), figsize=size, squeeze=False, layout="constrained")
    for axes, (title, nodes) in zip(grid[0], panels.items(), strict=True):
        draw_superpixels(axes, image, segments, nodes, title=title)
    return figure


def draw_superpixels(
    axes: Axes, image: Any, segments: Any, found: Found | None = None, *, title: str = ""
) -> None:
    """Draw one image; if ``found`` is given, with its superpixels and those found marked.

    Args:
        axes: where to draw.
        image: ``[H, W]`` or ``[H, W, 3]``.
        segments: ``[H, W]``, the node that each pixel belongs to.
        found: an explanation, or nodes, the most important first; None to mark nothing.
        title: the title of the axes.

    Examples:
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from pgm_explainer.report.plots import draw_superpixels
        >>> axes = Figure().subplots()
        >>> segments = np.array([[0, 0, 1], [0, 1, 1]])  # the superpixel of each pixel
        >>> draw_superpixels(axes, segments / 2.0, segments, [1], title="a digit")
        >>> axes.get_title()
        'a digit'
    """
    picture, labels = _checked(image, segments)
    axes.imshow(picture, cmap="gray", interpolation="nearest")
    finish(axes, title)
    if found is None:
        return
    _outline(axes, _borders(labels), SKY, 0.5)
    nodes = _nodes(found)
    for rank, node in enumerate(nodes, start=1):
        inside = labels == node
        if not inside.any():
            raise InputError(f"no pixel belongs to node {node}: segments holds the nodes' numbers")
        # A frame around the image, so that a superpixel at the edge is outlined there too.
        _outline(axes, _borders(np.pad(inside, 1)) - 1, ORANGE, 2.2)
        y, x = _middle(inside)
        halo = [withStroke(linewidth=2.5, foreground="black")]
        style: dict[str, Any] = {"size": 11, "weight": "bold", "path_effects": halo, "zorder": 4}
        write(axes, float(x), float(y), str(rank), color="white", **style)


def _checked(image: Any, segments: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    picture, labels = as_array(image, "image"), as_array(segments, "segments")
    if labels.ndim != 2 or picture.ndim not in (2, 3) or picture.shape[:2] != labels.shape:
        raise InputError(
            f"segments must be [H, W], one node for each pixel of the image; the image is "
            f"{picture.shape}, segments {labels.shape}"
        )
    return picture, labels


def _nodes(found: Found) -> list[int]:
    if is_explanation(found):
        return [found.names.index(name) for name in found.nodes]
    nodes = as_list(found)
    if nodes is None or isinstance(found, str):
        raise InputError(f"the nodes to mark must be an explanation or a list, not {brief(found)}")
    return [check_whole_number(node, "a node to mark", at_least=0) for node in nodes]


def _borders(labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return the lines ``[n, 2, 2]`` (x, y) between neighbouring pixels with different labels."""
    rows, columns = np.nonzero(labels[:, 1:] != labels[:, :-1])
    upright = [[columns + 0.5, rows - 0.5], [columns + 0.5, rows + 0.5]]
    rows, columns = np.nonzero(labels[1:] != labels[:-1])
    level = [[columns - 0.5, rows + 0.5], [columns + 0.5, rows + 0.5]]
    return np.concatenate([np.array(each).transpose(2, 0, 1) for each in (upright, level)])


def _outline(axes: Axes, lines: NDArray[np.float64], colour: str, line: float) -> None:
    # A light line on a dark one is visible on any image, in greyscale print too.
    for each, points, order in (("black", line + 1.2, 2), (colour, line, 3)):
        axes.add_collection(
            LineCollection(
                list(lines), colors=each, linewidths=points, zorder=order, capstyle="round"
            )
        )


def _middle(inside: NDArray[np.bool_]) -> IntArray:
    """Return the pixel of a superpixel nearest to its centre, which may itself lie outside."""
    pixels = np.argwhere(inside)
    distance = ((pixels - pixels.mean(axis=0)) ** 2).sum(axis=1)
    return np.asarray(pixels[distance.argmin()])
