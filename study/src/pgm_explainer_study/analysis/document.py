"""A document of headings, paragraphs, tables and plots, written as Markdown and as HTML."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from ..files import make_folder, write_bytes, write_text

__all__ = ["Document"]

_STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 56rem; margin: 0 auto; padding: 1rem; color: #1b1b1b; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { border-bottom: 1px solid #ccc; padding: .25rem .75rem; text-align: left; }
img { max-width: 100%; }
.mark { position: sticky; top: 0; background: #a00000; color: #fff; padding: .5rem 1rem; font-weight: bold; text-align: center; }
"""  # noqa: E501


@dataclass
class Document:
    """The contents of a report.

    Attributes:
        mark: a warning that is repeated at every heading.
    """

    title: str
    mark: str | None = None
    _markdown: list[str] = field(default_factory=list)
    _html: list[str] = field(default_factory=list)
    _plots: dict[str, bytes] = field(default_factory=dict)

    def heading(self, text: str) -> None:
        """Begin a section."""
        marked = f"{text} ({self.mark})" if self.mark else text
        self._markdown.append(f"## {_plain(marked)}")
        self._html.append(f"<h2>{escape(marked, quote=False)}</h2>")

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self._markdown.append(_plain(text))
        self._html.append(f"<p>{escape(text, quote=False)}</p>")

    def table(self, rows: list[list[str]]) -> None:
        """Add a table, whose first row is the header."""
        head, *body = rows
        first, *others = (f"| {' | '.join(map(_plain, row))} |" for row in rows)
        self._markdown.append("\n".join([first, f"|{'---|' * len(head)}", *others]))
        cells = "".join(
            f"<tr>{''.join(f'<td>{escape(cell, quote=False)}</td>' for cell in row)}</tr>"
            for row in body
        )
        heads = "".join(f'<th scope="col">{escape(cell, quote=False)}</th>' for cell in head)
        self._html.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>")

    def plot(self, name: str, title: str, png: bytes) -> None:
        """Add a plot."""
        self._plots[name] = png
        marked = f"{title} ({self.mark})" if self.mark else title
        self._markdown.append(f"![{_plain(marked)}]({name})")
        data = base64.b64encode(png).decode()
        self._html.append(f'<p><img alt="{escape(marked)}" src="data:image/png;base64,{data}"></p>')

    def write(self, folder: Path) -> None:
        """Write ``report.md``, ``report.html`` and the plots."""
        make_folder(folder)
        banner = [f"> **{self.mark.upper()}**"] if self.mark else []
        blocks = [f"# {_plain(self.title)}", *banner, *self._markdown]
        write_text(folder / "report.md", "\n\n".join(blocks) + "\n")
        mark = f'<p class="mark">{escape(self.mark.upper())}</p>' if self.mark else ""
        write_text(
            folder / "report.html",
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width, initial-scale=1"><title>{escape(self.title)}</title>'
            f"<style>{_STYLE}</style></head><body>{mark}<h1>{escape(self.title)}</h1>"
            f"{''.join(self._html)}</body></html>\n",
        )
        for name, png in self._plots.items():
            write_bytes(folder / name, png)


def _plain(text: str) -> str:
    """Return a text with the special characters of Markdown and HTML escaped."""
    for mark in "\\`*_[]<>|":
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    return " ".join(text.split())
