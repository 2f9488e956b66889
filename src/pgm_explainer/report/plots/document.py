"""A report as a PDF page, and the picture of effects in other reports."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from ..colours import BAR_COLOURS, INK
from ..names import pad, shorten, width
from ..strip import is_strip
from .effects import draw_effects, effects_size
from .neighbourhood import draw_neighbourhood
from .strip import draw_strip

if TYPE_CHECKING:
    from ..document import Report, Row

__all__ = ["effects_picture", "pdf_report"]

_PAGE = (8.27, 11.69)
_MARGIN = 0.75
_LINE = 1.35
"""The height of a line, in font sizes."""
_MOST_BARS = 8
_SMALLEST, _TALLEST, _LEGEND, _TITLE = 2.5, 4.5, 0.7, 0.3
"""Heights of the neighbourhood, in inches, and of the legend below it and the title above."""
_MONOSPACED = 0.602
"""The width of a letter, in font sizes."""
_MOST_LETTERS = 2000
"""The length of a paragraph, beyond which its middle is left out; names can be of any length."""
_LETTER = 0.5
"""The mean width of a letter, in font sizes."""


def effects_picture(report: Report, dpi: int) -> bytes:
    """Return a PNG file of the strongest effects."""
    figure = Figure(effects_size(report.explanation, max_shown=_MOST_BARS), layout="constrained")
    axes = figure.subplots()
    draw_effects(report.explanation, axes, max_shown=_MOST_BARS)
    title = textwrap.fill(shorten(report.caption, _MOST_LETTERS), 80)
    axes.set_title(title, size=10, color=INK, parse_math=False)
    axes.set_xlabel("")
    _translate(axes, report.picture_words)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    return drawn.getvalue()


def pdf_report(report: Report) -> bytes:
    """Return the bytes of a PDF file with one page, or more if there are very many warnings."""
    page = _Pages()
    page.write(report.title, 16, weight="bold", gap=0.1)
    for sentence in report.reason:
        page.write(sentence, 9.5, gap=0.06)
    effects, tried, warnings = report.headings
    page.write(effects, 11, weight="bold")
    if report.rows:
        page.write(report.caption, 8.5)
        page.rows(report)
    below = [(f"{name}: {value}", 8.5) for name, value in report.tried]
    cautions = [(each, 8.5) for each in report.warnings]
    needed = page.height([(tried, 11), *below, *([(warnings, 11), *cautions] if cautions else [])])
    page.picture(report, needed)
    page.write(tried, 11, weight="bold")
    for text, size in below:
        page.write(text, size)
    if cautions:
        page.write(warnings, 11, weight="bold")
        for text, size in cautions:
            page.write(text, size)
    return page.finish()


class _Pages:
    """A4 pages that are filled from top to bottom, in inches; hardly ever more than one."""

    def __init__(self) -> None:
        self._figures: list[Figure] = []
        self._turn()

    @property
    def _figure(self) -> Figure:
        return self._figures[-1]

    def _turn(self) -> None:
        """Start a new page."""
        self._figures.append(Figure(_PAGE))
        self._at = _PAGE[1] - _MARGIN

    def write(self, text: str, size: float, *, weight: str = "normal", gap: float = 0.04) -> None:
        """Write a paragraph."""
        for line in _lines(text, size):
            self._line(line, size, weight=weight)
        self._at -= gap

    def rows(self, report: Report) -> None:
        """Write the table of effects, each with a bar and its interval."""
        size, shown = 8.0, [report.columns, *(row.cells for row in report.rows)]
        short = [[shorten(cell, 34) for cell in row] for row in shown]
        widths = [max(width(row[at]) for row in short) for at in range(len(short[0]))]
        left = _MARGIN + (sum(widths) + 3 * len(widths)) * size * _MONOSPACED / 72
        chart = _Chart.of(report.rows, left, _PAGE[0] - _MARGIN)
        for at, cells in enumerate(short):
            padded = [pad(cell, columns) for cell, columns in zip(cells, widths, strict=True)]
            weight = "normal" if at else "bold"
            self._line("   ".join(padded), size, weight=weight, family="monospace")
            if at:
                chart.draw(self._figure, report.rows[at - 1], self._at + 0.03)
        self._at -= 0.08

    def height(self, texts: list[tuple[str, float]]) -> float:
        """Return the height of paragraphs."""
        return sum(len(_lines(text, size)) * size * _LINE / 72 + 0.04 for text, size in texts)

    def picture(self, report: Report, needed: float) -> None:
        """Draw the neighbourhood, if there is enough space besides what is still to be drawn."""
        height = min(self._at - _MARGIN - needed, _TALLEST)
        if height < _SMALLEST:
            return
        explanation = report.explanation
        axes = self._figure.add_axes(
            (
                2 * _MARGIN / _PAGE[0],
                (self._at - height + _LEGEND) / _PAGE[1],
                1 - 4 * _MARGIN / _PAGE[0],
                (height - _LEGEND - _TITLE) / _PAGE[1],
            )
        )
        (draw_strip if is_strip(explanation) else draw_neighbourhood)(explanation, axes)
        _translate(axes, report.picture_words)
        self._at -= height

    def finish(self) -> bytes:
        drawn = io.BytesIO()
        # Without a date, the same explanation gives the same file.
        with PdfPages(drawn, metadata={"CreationDate": None}) as pages:
            for figure in self._figures:
                pages.savefig(figure)
        return drawn.getvalue()

    def _line(self, text: str, size: float, *, weight: str, family: str = "sans-serif") -> None:
        if self._at - size * _LINE / 72 < _MARGIN / 2:
            self._turn()
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


@dataclass(frozen=True)
class _Chart:
    """The scale of bars: the places of the lowest and the highest number, in inches."""

    lowest: float
    highest: float
    left: float
    right: float

    @classmethod
    def of(cls, rows: Sequence[Row], left: float, right: float) -> _Chart:
        numbers = [0.0, *(number for row in rows for number in row.numbers)]
        return cls(min(numbers), max(numbers), left, right)

    def draw(self, figure: Figure, row: Row, y: float) -> None:
        """Draw the bar of a row, from 0, and a line for its interval."""
        zero, (effect, low, high) = self._at(0.0), map(self._at, row.numbers)
        height = 0.08 / _PAGE[1]
        colour = BAR_COLOURS[row.direction]
        bar = Rectangle(
            (min(zero, effect), y / _PAGE[1] - height / 2), abs(effect - zero), height, color=colour
        )
        ends = [y / _PAGE[1]] * 2
        interval = Line2D([low, high], ends, color=INK, linewidth=0.8)
        axis = Line2D([zero, zero], [y / _PAGE[1] - height, y / _PAGE[1] + height], color=INK)
        axis.set_linewidth(0.8)
        for artist in (bar, interval, axis):
            figure.add_artist(artist)

    def _at(self, number: float) -> float:
        share = (number - self.lowest) / ((self.highest - self.lowest) or 1.0)
        return (self.left + share * (self.right - self.left)) / _PAGE[0]


def _translate(axes: Axes, words: Mapping[str, str]) -> None:
    """Replace the words of a drawing's title, legend and labels."""
    if not words:
        return
    legend = axes.get_legend()
    for text in (axes.title, *(() if legend is None else legend.get_texts())):
        said = text.get_text()
        start = next((each for each in words if said.startswith(each)), said)
        text.set_text(words.get(said, words.get(start, said)))
    # Ticks at fixed places: without labels, they show numbers.
    marks = [each.get_text() for each in axes.get_yticklabels()]
    end = " (target)"
    if any(mark.endswith(end) for mark in marks):
        own = words[end]
        axes.set_yticks(
            axes.get_yticks(),
            [f"{mark.removesuffix(end)}{own}" if mark.endswith(end) else mark for mark in marks],
        )


def _lines(text: str, size: float) -> list[str]:
    columns = int((_PAGE[0] - 2 * _MARGIN) * 72 / (size * _LETTER))
    return textwrap.wrap(shorten(text, _MOST_LETTERS), columns) or [""]
