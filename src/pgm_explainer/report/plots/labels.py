"""Placement of names beside their marks, with little overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from ..colours import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["write_beside"]

_SIDES = ((0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (-1, -1), (1, 1), (-1, 1))
_GAP = 2.0
_SMALL_MARK = 0.3


def write_beside(
    axes: Axes, names: Mapping[int, str], at: NDArray[np.float64], mark: float, **style: Any
) -> None:
    """Write names beside some of the marks at ``at [n, 2]``.

    Each goes below its mark if there is space, otherwise to the side with the least overlap with
    other names, marks (``mark`` points wide if named, smaller if not) and the outside.
    """
    figure: Any = axes.figure.canvas.figure  # the outermost, in any version of matplotlib
    figure.draw_without_rendering()  # sizes are known only after this
    pixels = figure.dpi / 72
    centres = axes.transData.transform(at)
    taken = [
        _box(centre, np.full(2, mark * pixels * (1 if number in names else _SMALL_MARK)))
        for number, centre in enumerate(centres)
    ]
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for number, name in names.items():
        label = axes.annotate(
            name,
            at[number],
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            color=INK,
            parse_math=False,
            path_effects=halo,
            **style,
        )
        size = np.array(label.get_window_extent().size)
        offsets = [np.array(side) * (size / 2 + (mark / 2 + _GAP) * pixels) for side in _SIDES]
        boxes = [_box(centres[number] + offset, size) for offset in offsets]
        best = int(np.argmin([_covered(box, taken, axes.bbox) for box in boxes]))
        label.set_position(offsets[best] / pixels)
        taken.append(boxes[best])


def _box(centre: NDArray[np.float64], size: NDArray[np.float64]) -> Bbox:
    return Bbox([centre - size / 2, centre + size / 2])


def _covered(box: Bbox, taken: Sequence[Bbox], inside: Bbox) -> float:
    """Return the area of a box that overlaps others or lies outside."""
    area = float(box.width * box.height)
    within = Bbox.intersection(box, inside)
    outside = area - (0.0 if within is None else within.width * within.height)
    common = (Bbox.intersection(box, other) for other in taken)
    # Outside is worse than overlap: a name may not be visible there at all.
    return 2 * outside + sum(each.width * each.height for each in common if each is not None)
