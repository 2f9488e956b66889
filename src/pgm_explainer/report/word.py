"""A report as a Word document."""

from __future__ import annotations

import io

from ..errors import PGMExplainerError

try:
    import docx
    from docx.shared import Cm, Pt
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PGMExplainerError(
        f"reports as .docx need python-docx: pip install 'pgm-explainer[report]' ({error})"
    ) from error

from .document import Report
from .plots.document import effects_picture

__all__ = ["docx_report"]

_MARGIN, _WIDTH, _HEIGHT = 1.8, 17.4, 26.1
"""The margins of a page, and the size of what is within them, in centimetres."""
_SMALLEST, _TALLEST = 4.0, 7.0
"""The least and the largest height of the picture, which takes what the text leaves."""
_LETTERS, _LINE, _HEADING = 95, 0.43, 0.85
"""Cautious estimates: letters in a line, and the heights of a line and of a heading."""
_DOTS_PER_INCH = 200
_MOST_LETTERS = 255
"""The longest title that the properties of a document may have."""


def docx_report(report: Report) -> bytes:
    """Return the bytes of the document."""
    document = docx.Document()
    for section in document.sections:
        section.page_width, section.page_height = Cm(21), Cm(29.7)
        section.left_margin = section.right_margin = Cm(_MARGIN)
        section.top_margin = section.bottom_margin = Cm(_MARGIN)
    _set_styles(document)
    document.core_properties.title = _clean(report.title)[:_MOST_LETTERS]
    document.core_properties.author = "pgm-explainer"
    effects, tried, warnings = map(_clean, report.headings)
    document.add_heading(_clean(report.title), 1)
    for sentence in report.reason:
        document.add_paragraph(_clean(sentence))
    document.add_heading(effects, 2)
    if report.rows:
        document.add_paragraph(_clean(report.caption))
        _add_table(document, [report.columns, *(row.cells for row in report.rows)])
        picture = document.add_picture(io.BytesIO(effects_picture(report, _DOTS_PER_INCH)))
        scale = min(Cm(_WIDTH) / picture.width, Cm(_picture_height(report)) / picture.height)
        picture.width, picture.height = int(picture.width * scale), int(picture.height * scale)
    document.add_heading(tried, 2)
    _add_table(document, [list(each) for each in report.tried], header=False)
    if report.warnings:
        document.add_heading(warnings, 2)
        for each in report.warnings:
            document.add_paragraph(_clean(each), style="List Bullet")
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def _picture_height(report: Report) -> float:
    """Return how tall the picture can be if the report is to fit on one page."""
    texts = [*report.reason, report.caption, *report.warnings]
    lines = sum(1 + len(text) // _LETTERS for text in texts) + 1 + len(report.rows)
    lines += sum(1 + max(len(name), len(value)) // (_LETTERS // 2) for name, value in report.tried)
    used = lines * _LINE + len(texts) * 0.1 + 4 * _HEADING
    return min(max(_HEIGHT - used, _SMALLEST), _TALLEST)


def _set_styles(document: docx.document.Document) -> None:
    """Set sizes and spaces with which a typical report fits on one page."""
    for name, size, before, after in (
        ("Normal", 9.5, 0, 3),
        ("Heading 1", 15, 0, 4),
        ("Heading 2", 11, 6, 2),
        ("List Bullet", 9.5, 0, 1),
    ):
        style = document.styles[name]
        style.font.size = Pt(size)
        style.paragraph_format.space_before, style.paragraph_format.space_after = map(
            Pt, (before, after)
        )
        style.paragraph_format.line_spacing = 1.0


def _add_table(
    document: docx.document.Document, rows: list[list[str]], header: bool = True
) -> None:
    table = document.add_table(len(rows), len(rows[0]), style="Light List" if header else None)
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = _clean(text)
            for paragraph in cell.paragraphs:
                paragraph.paragraph_format.space_after = Pt(0)
                for run in paragraph.runs:
                    run.font.size = Pt(8.5)


def _clean(text: str) -> str:
    """Return a text without the characters that XML cannot contain."""
    return "".join(each for each in text if each in "\t\n" or each.isprintable())
