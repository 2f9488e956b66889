"""Parts of the pages: files in this folder, HTML elements, and the content security policy."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib.resources import files

__all__ = ["as_data", "plain_page", "policy", "read_part", "section", "table"]


def read_part(name: str) -> str:
    """Return the text of a style sheet, script or template."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def plain_page(
    title: str, content: Iterable[str], style: str, policy: str, *, end: str = "", lang: str = "en"
) -> str:
    """Return a page of plain HTML; all texts are escaped already.

    Args:
        title: the title of the page.
        content: the elements of the page.
        style: the style sheet.
        policy: the content security policy.
        end: elements after the content, such as scripts.
        lang: the language of the page.
    """
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(content)
        + f"\n</main>\n{end}</body>\n</html>\n"
    )


def section(title: str, content: str) -> str:
    """Return a section with a title; both are escaped already."""
    return f"<section>\n<h2>{title}</h2>\n{content}\n</section>"


def table(head: Sequence[str], rows: Iterable[Iterable[str]], kind: str = "") -> str:
    """Return a table of cells that are escaped already.

    Args:
        head: the header; empty for a table without one.
        rows: the cells of each row.
        kind: the class of the element, if any.
    """
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    header = f"<thead><tr>{heads}</tr></thead>\n" if heads else ""
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    of_kind = f' class="{kind}"' if kind else ""
    return f"<table{of_kind}>\n{header}<tbody>\n{body}\n</tbody>\n</table>"


def as_data(payload: object) -> str:
    """Return JSON that cannot close its script element, for any names that it contains."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def policy(style: str, script: str | None = None, *inner: str) -> str:
    """Return a content security policy that allows only this style and this script.

    Args:
        style: the text of the style.
        script: the text of the script, if there is one.
        inner: style and script of an embedded page, to which this policy applies too.
    """
    styles, scripts = [style, *inner[:1]], [*([] if script is None else [script]), *inner[1:]]
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src {_digests(styles)}",
            *([f"script-src {_digests(scripts)}"] if scripts else []),
            "base-uri 'none'",
            "form-action 'none'",
            # Text can never become markup: the browser refuses innerHTML and similar calls.
            "require-trusted-types-for 'script'",
        ]
    )


def _digests(texts: Sequence[str]) -> str:
    found = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in found)
