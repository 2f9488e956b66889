"""Links that lead out of ``docs/``: to a page of the site if it has one, else only their text.

The same files are read on a code host, where a link such as ``../lab`` leads to a folder.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""Files of the repository that are pages of the site."""

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?:\.\./)([^)#]*)(#[^)]*)?\)")


def rewritten(text: str) -> str:
    """A page with its links to the repository replaced."""

    def replace(match: re.Match[str]) -> str:
        label, path, anchor = match[1], match[2], match[3] or ""
        return f"[{label}]({PAGES[path]}{anchor})" if path in PAGES else label

    return _LINK.sub(replace, text)


def read(app: Sphinx, name: str, content: list[str]) -> None:
    """Rewrite a page when Sphinx has read it."""
    if app.env.doc2path(name).suffix == ".md":
        content[0] = rewritten(content[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the event for a page that was read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
