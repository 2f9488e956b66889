"""The overview of a data set as a page: plain HTML, no script, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from .overview_text import facts, shown

if TYPE_CHECKING:
    from ..dataset.overview import Influence, Overview

__all__ = ["overview_page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd;
  vertical-align: top; }
td.number { text-align: right; white-space: nowrap; }
td { overflow-wrap: anywhere; }
meter { width: 8rem; height: .8rem; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818; }
  th, td { border-color: #444; } }
"""


def overview_page(overview: Overview) -> str:
    """Return the page as HTML; every text in it is escaped."""
    title = f"Explanations in {overview.folder}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        _table(("", ""), ([escape(name), escape(value)] for name, value in facts(overview))),
        _influences("Nodes that explain most predictions", "node", overview.nodes),
        _influences("Kinds of nodes that explain most predictions", "kind", overview.kinds),
        _influences("Features that matter in most predictions", "feature", overview.features),
        _shared(overview),
    ]
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(filter(None, parts))
        + "\n</main>\n</body>\n</html>\n"
    )


def _influences(title: str, what: str, entries: Sequence[Influence]) -> str:
    if not entries:
        return ""
    most = entries[0].explains
    rows = (
        [
            escape(str(each.what)),
            f'{each.explains:,} <meter max="{most}" value="{each.explains}"></meter>',
            "" if each.direct is None else f"{each.direct:,}",
            f"{each.effect_size:.2f}",
        ]
        for each in entries
    )
    names = (what, "predictions it explains", "directly", "mean effect")
    return f"<h2>{escape(title)}</h2>\n{_table(names, rows)}"


def _shared(overview: Overview) -> str:
    if not overview.shared:
        return ""
    rows = (
        [f"{len(each.targets):,}", escape(shown(each.nodes)), escape(shown(each.targets))]
        for each in overview.shared
    )
    table = _table(("targets", "explained by", "which"), rows)
    return f"<h2>Explanations shared by several targets</h2>\n{table}"


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are escaped already."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    head = f"<thead><tr>{head}</tr></thead>\n" if any(names) else ""
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>\n{head}<tbody>\n{body}\n</tbody>\n</table>"
