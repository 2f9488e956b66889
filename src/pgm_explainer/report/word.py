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

_MARGIN, _WIDTH = 2.0, 17.0
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
    document.styles["Normal"].font.size = Pt(10)
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
        picture = io.BytesIO(effects_picture(report, _DOTS_PER_INCH))
        document.add_picture(picture, width=Cm(_WIDTH))
    document.add_heading(tried, 2)
    _add_table(document, [list(each) for each in report.tried], header=False)
    if report.warnings:
        document.add_heading(warnings, 2)
        for each in report.warnings:
            document.add_paragraph(_clean(each), style="List Bullet")
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def _add_table(
    document: docx.document.Document, rows: list[list[str]], header: bool = True
) -> None:
    table = document.add_table(len(rows), len(rows[0]), style="Light List" if header else None)
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = _clean(text)


def _clean(text: str) -> str:
    """Return a text without the characters that XML cannot contain."""
    return "".join(each for each in text if each in "\t\n" or each.isprintable())
