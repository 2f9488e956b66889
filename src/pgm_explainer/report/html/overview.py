"""The overview of a data set as a page: self-contained HTML without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from shlex import quote
from typing import TYPE_CHECKING

from ..names import printable
from ..overview_text import Listing, facts, listings, shown
from .parts import policy, read_part

if TYPE_CHECKING:
    from ...dataset.overview import Overview

__all__ = ["overview_page"]


def overview_page(overview: Overview) -> str:
    """Return the page as HTML; every text in it is escaped."""
    title = f"Explanations in {overview.folder}"
    done = _table(("", ""), (map(escape, each) for each in facts(overview)))
    style = read_part("theme.css") + read_part("overview.css")
    parts = [
        f"<header>\n<h1>{escape(title)}</h1>\n{_lead(overview)}\n</header>",
        _section("Summary", done),
        *map(_listing, listings(overview)),
        _shared(overview),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(style)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(filter(None, parts))
        + "\n</main>\n</body>\n</html>\n"
    )


def _lead(overview: Overview) -> str:
    """Return how many predictions are explained, and how to show one of them."""
    said = f"<b>{overview.explained:,} of {overview.targets:,}</b> predictions are explained"
    if overview.failed:
        said += f", <b>{overview.failed:,}</b> failed"
    folder = quote(overview.folder)
    command = f"pgm-explainer show {folder} --target TARGET --output why.html"
    return f'<p class="lead">{said}. To show one of them: <code>{escape(command)}</code></p>'


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}\n</section>"


def _listing(listing: Listing) -> str:
    most = listing.entries[0].predictions
    rows = (
        f"<tr><td>{escape(printable(each.what))}</td>"
        f'<td class="number">{each.predictions:,}</td>'
        f'<td class="bar"><meter max="{most}" value="{each.predictions}"></meter></td>'
        f'<td class="number">{escape(listing.size(each))}</td></tr>'
        for each in listing.entries
    )
    # The number and its bar are two columns, so that all bars start at the same place.
    head = (
        f'<th scope="col">{escape(listing.what)}</th><th scope="col" colspan="2">predictions</th>'
        f'<th scope="col" class="number">{escape(listing.measure)}</th>'
    )
    body = "\n".join(rows)
    return _section(
        listing.title,
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>",
    )


def _shared(overview: Overview) -> str:
    if not overview.shared:
        return ""
    rows = (
        [f"{len(each.targets):,}", escape(shown(each.nodes)), escape(shown(each.targets))]
        for each in overview.shared
    )
    table = _table(("number of targets", "explained by", "targets"), rows)
    return _section("Explanations shared by several targets", table)


def _table(names: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are escaped already."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    head = f"<thead><tr>{head}</tr></thead>\n" if any(names) else ""
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>\n{head}<tbody>\n{body}\n</tbody>\n</table>"
