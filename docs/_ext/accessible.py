"""What the theme and the extensions leave out for readers with a keyboard or a screen reader."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

REGION = 'tabindex="0" role="region"'
REPLACEMENTS = [
    # Captions of the navigation are headings without a level.
    (r'role="heading"(?! aria-level)', 'role="heading" aria-level="2"'),
    # What scrolls sideways can be reached with Tab.
    (r"<pre(?! tabindex)", '<pre tabindex="0"'),
    (r'<div class="(table-wrapper[^"]*)">', rf'<div class="\1" {REGION} aria-label="Table">'),
    (r'<div class="(output text_html)">', rf'<div class="\1" {REGION} aria-label="Output">'),
    (
        r'<div class="(output_subarea output_html[^"]*)">',
        rf'<div class="\1" {REGION} aria-label="Output">',
    ),
    # A thumbnail of the gallery hides the text of its link.
    (
        r'<a class="reference internal" (href="\w+\.html")><span class="doc">([^<"]+)</span>',
        r'<a class="reference internal" \1 aria-label="\2"><span class="doc">\2</span>',
    ),
]
_PARAMETERS = re.compile(r'<dl>\n((?:<dd><em class="sig-param">.*</dd>\n)+)</dl>\n')
_ARRAY = re.compile(
    r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], "
    r"~?numpy\.dtype\[~?(?:numpy|typing)\.(\w+)\]\]"
)


def mended(text: str) -> str:
    """A page with these things added."""
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    # The parameters of a signature are a list of definitions without terms.
    return _PARAMETERS.sub(
        lambda found: f'<span class="parameters">{found[1]}</span>'.replace(
            "<dd>", '<span class="parameter">'
        ).replace("</dd>", "</span>"),
        text,
    )


def mend_pages(app: Sphinx, error: Exception | None) -> None:
    """Rewrite every page of the site when it is built."""
    if error is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            if "_static" not in path.parts:
                text = path.read_text(encoding="utf-8")
                path.write_text(mended(text), encoding="utf-8")


def short_types(*given: Any) -> tuple[str | None, str | None]:
    """Write arrays in a signature, the last two of the given values, as ``NDArray[float64]``."""
    arguments, result = (
        text and _ARRAY.sub(r"NDArray[\1]", text).replace("<factory>", "...") for text in given[-2:]
    )
    return arguments, result


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the events for signatures and for the end of a build."""
    app.connect("build-finished", mend_pages)
    app.connect("autodoc-process-signature", short_types)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
