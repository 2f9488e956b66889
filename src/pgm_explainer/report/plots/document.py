"""A report as a PDF page, and the picture of effects in other reports."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ..colours import INK
from ..names import pad, shorten, width
from ..strip import is_strip
from .effects import draw_effects, effects_size
from .neighbourhood import draw_neighbourhood
from .strip import draw_strip

if TYPE_CHECKING:
    from ..document import Report

__all__ = ["effects_picture", "pdf_report"]

_PAGE = (8.27, 11.69)
_MARGIN = 0.75
_LINE = 1.35
"""The height of a line, in font sizes."""
_MOST_BARS = 8
_LETTER = 0.5
"""The mean width of a letter, in font sizes."""


def effects_picture(report: Report, dpi: int) -> bytes:
    """Return a PNG file of the strongest effects."""
    figure = Figure(effects_size(report.explanation, max_shown=_MOST_BARS), layout="constrained")
    draw_effects(report.explanation, figure.subplots(), max_shown=_MOST_BARS)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    return drawn.getvalue()


def pdf_report(report: Report) -> bytes:
    """Return the bytes of a PDF file with one page."""
    page = _Page()
    page.write(report.title, 16, weight="bold", gap=0.1)
    page.write(" ".join(report.reason), 9.5, gap=0.12)
    effects, tried, warnings = report.headings
    page.write(effects, 11, weight="bold")
    if report.rows:
        page.write(report.caption, 8.5)
        page.rows([report.columns, *(row.cells for row in report.rows)])
    below = [(f"{name}: {value}", 8.5) for name, value in report.tried]
    cautions = [(each, 8.5) for each in report.warnings]
    needed = page.height([(tried, 11), *below, *([(warnings, 11), *cautions] if cautions else [])])
    page.pictures(report, needed)
    page.write(tried, 11, weight="bold")
    for text, size in below:
        page.write(text, size)
    if cautions:
        page.write(warnings, 11, weight="bold")
        for text, size in cautions:
            page.write(text, size)
    return page.finish()


class _Page:
    """An A4 page that is filled from top to bottom, in inches."""

    def __init__(self) -> None:
        self._figure = Figure(_PAGE)
        self._at = _PAGE[1] - _MARGIN

    def write(self, text: str, size: float, *, weight: str = "normal", gap: float = 0.04) -> None:
        """Write a paragraph."""
        for line in _lines(text, size):
            self._line(line, size, weight=weight)
        self._at -= gap

    def rows(self, rows: list[list[str]]) -> None:
        """Write a table."""
        size = 8.0
        short = [[shorten(cell, 34) for cell in row] for row in rows]
        widths = [max(width(row[at]) for row in short) for at in range(len(short[0]))]
        for number, row in enumerate(short):
            cells = [pad(cell, columns) for cell, columns in zip(row, widths, strict=True)]
            weight = "normal" if number else "bold"
            self._line("   ".join(cells), size, weight=weight, family="monospace")
        self._at -= 0.08

    def height(self, texts: list[tuple[str, float]]) -> float:
        """Return how much room paragraphs take."""
        return sum(len(_lines(text, size)) * size * _LINE / 72 + 0.04 for text, size in texts)

    def pictures(self, report: Report, needed: float) -> None:
        """Draw effects and neighbourhood side by side, above the room that is still needed."""
        room = self._at - _MARGIN - needed
        height = min(room, 4.2)
        if height < 1.5 or not report.rows:
            return
        explanation = report.explanation
        area = [_MARGIN, self._at - height, _PAGE[0] - 2 * _MARGIN, height]
        part = self._figure.add_gridspec(
            1,
            2,
            left=(area[0] + 0.9) / _PAGE[0],
            right=(area[0] + area[2]) / _PAGE[0],
            bottom=(area[1] + 1.0) / _PAGE[1],
            top=(area[1] + area[3] - 0.45) / _PAGE[1],
            wspace=0.1,
        )
        left, right = (self._figure.add_subplot(part[0, at]) for at in range(2))
        draw_effects(explanation, left, max_shown=_MOST_BARS)
        (draw_strip if is_strip(explanation) else draw_neighbourhood)(explanation, right)
        self._at -= height + 0.05

    def finish(self) -> bytes:
        drawn = io.BytesIO()
        # Without a date, the same explanation gives the same file.
        self._figure.savefig(drawn, format="pdf", metadata={"CreationDate": None})
        return drawn.getvalue()

    def _line(self, text: str, size: float, *, weight: str, family: str = "sans-serif") -> None:
        self._at -= size * _LINE / 72
        self._figure.text(
            _MARGIN / _PAGE[0],
            self._at / _PAGE[1],
            text,
            size=size,
            weight=weight,
            family=family,
            color=INK,
            parse_math=False,
            va="baseline",
        )


def _lines(text: str, size: float) -> list[str]:
    columns = int((_PAGE[0] - 2 * _MARGIN) * 72 / (size * _LETTER))
    return textwrap.wrap(text, columns) or [""]
