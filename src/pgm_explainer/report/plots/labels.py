"""Placement of names beside their marks: no name covers another or a marked node."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from ..colours import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = ["Labels"]

_SIDES = ((0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (-1, -1), (1, 1), (-1, 1))
_GAP = 2.0
_AWAY = (0.0, 10.0, 24.0)
"""The distances from a mark at which its name is tried, in points."""
_ALONG = 60
"""The number of points at which a line is checked for overlaps."""


class Labels:
    """The names of a plot, placed one after the other where there is space.

    A name goes to the first side of its mark, beginning below, where it lies inside the axes and
    covers no name, no mark and no line; if there is none, to the first where it covers lines only,
    or lines and small marks. If there is none either, it is tried further away, with a line to the
    mark, then in a shorter form, and then it is left out.

    Args:
        axes: where to write.
        at: the places ``[n, 2]`` of all marks.
        sizes: how wide they are, in points.
        is_small: which marks may be covered by names, if there is no other place.
        lines: the two ends of each line ``[m, 2, 2]`` that names should not cover.
    """

    def __init__(
        self,
        axes: Axes,
        at: NDArray[np.float64],
        sizes: NDArray[np.float64],
        is_small: NDArray[np.bool_],
        lines: NDArray[np.float64],
    ) -> None:
        figure: Any = axes.figure.canvas.figure  # the outermost, in any version of matplotlib
        figure.draw_without_rendering()  # sizes are known only after this
        self._axes, self._pixels = axes, figure.dpi / 72
        boxes = [
            _box(centre, np.full(2, size * self._pixels))
            for centre, size in zip(axes.transData.transform(at), sizes, strict=True)
        ]
        self._taken = [box for box, small in zip(boxes, is_small, strict=True) if not small]
        self._small = [box for box, small in zip(boxes, is_small, strict=True) if small]
        ends = axes.transData.transform(lines.reshape(-1, 2)).reshape(-1, 2, 1, 2)
        share = np.linspace(0, 1, _ALONG)[:, None]
        self._lines = (ends[:, 0] * (1 - share) + ends[:, 1] * share).reshape(-1, 2)
        self._written: list[Annotation] = []
        self.left_out = 0

    def write(
        self,
        forms: Sequence[str],
        place: NDArray[np.float64],
        mark: float,
        *,
        upwards: bool = False,
        **style: Any,
    ) -> None:
        """Write a name beside a mark, if there is space.

        Args:
            forms: the name, and shorter forms of it.
            place: the centre of its mark.
            mark: the width of its mark in points.
            upwards: whether to try the place above the mark first.
            style: of the text.
        """
        sides = [_SIDES[1], _SIDES[0], *_SIDES[2:]] if upwards else _SIDES
        label = self._axes.annotate(
            forms[0],
            (place[0], place[1]),
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            color=INK,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.6, "shrinkA": 0},
            **style,
        )
        label.set_in_layout(False)
        for form, away in product(forms, _AWAY):
            label.set_text(form)
            box, offset = self._free(label, place, mark + 2 * away, sides)
            if box is not None:
                label.set_position(offset / self._pixels)
                if label.arrow_patch is not None:
                    label.arrow_patch.set_visible(away > 0)
                    label.arrow_patch.shrinkB = mark / 2
                self._taken.append(box)
                self._written.append(label)
                return
        label.remove()
        self.left_out += 1

    def remove(self) -> None:
        """Remove all names, to place them again."""
        for label in self._written:
            label.remove()

    def _free(
        self, label: Annotation, place: Any, mark: float, sides: Sequence[tuple[int, int]]
    ) -> tuple[Bbox | None, Any]:
        """Return the first free box beside a mark, and its offset in pixels."""
        centre = self._axes.transData.transform(place)
        size = np.array(Text.get_window_extent(label).size)  # without the line to the mark
        offsets = [np.array(side) * (size / 2 + (mark / 2 + _GAP) * self._pixels) for side in sides]
        boxes = [_box(centre + offset, size) for offset in offsets]
        every = [*self._taken, *self._small]
        for taken, lines in ((every, True), (every, False), (self._taken, False)):
            for box, offset in zip(boxes, offsets, strict=True):
                if box.count_overlaps(taken) or not _within(box, self._axes.bbox):
                    continue
                if not (lines and self._covers_line(box)):
                    return box, offset
        return None, None

    def _covers_line(self, box: Bbox) -> bool:
        return bool(((self._lines > box.min) & (self._lines < box.max)).all(axis=1).any())


def _within(box: Bbox, outer: Any) -> bool:
    return bool((box.min >= outer.min).all() and (box.max <= outer.max).all())


def _box(centre: NDArray[np.float64], size: NDArray[np.float64]) -> Bbox:
    return Bbox([centre - size / 2, centre + size / 2])
