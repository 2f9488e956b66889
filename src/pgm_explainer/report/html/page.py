"""The interactive page: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from ...arrays import as_list
from ...errors import InputError
from ...limits import brief
from ...storage.files import PathLike, write_text
from ..contents import CHANGES, DEPENDS
from ..features import FEATURES
from ..shown import is_explanation
from ..templates import templates_for
from .parts import as_data, policy, read_part

if TYPE_CHECKING:
    from ...explanation import Explanation

__all__ = ["page_script", "to_html"]

_SCRIPTS = (
    "inference.js",
    "knowledge.js",
    "draw.js",
    "labels.js",
    "marks.js",
    "picture.js",
    "network.js",
    "panels.js",
    "tables.js",
    "effects.js",
    "list.js",
    "page.js",
)


def to_html(
    explanations: Explanation | Iterable[Explanation],
    path: PathLike | None = None,
    audience: str = "manager",
    templates: Mapping[str, str] | None = None,
) -> str | Path:
    """Show explanations on one self-contained, interactive page.

    Args:
        explanations: one explanation, or several, which the page lists with search and sort.
        path: the file to write, which is returned. Without it, the page is returned as text.
        audience: ``"manager"`` or ``"engineer"``, the readers of the reason on the page.
        templates: sentences that replace the built-in ones of the reason and the title, by name, as
            in :meth:`pgm_explainer.Explanation.reason`. The other words of the page are not
            replaced.

    Raises:
        InputError: the explanations are empty or of another type, or the audience, a template or
            one of its fields is unknown.
        FileError: the file cannot be written.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> edges = np.array([[0, 1], [1, 0]])
        >>> model = lambda x: np.concatenate([x[:, ::-1], 1 - x[:, ::-1]], axis=-1)
        >>> explanation = PGMExplainer(model, np.ones((2, 1)), edges, num_layers=1).explain(0)
        >>> to_html(explanation).startswith("<!doctype html>")
        True
    """
    many = [explanations] if is_explanation(explanations) else as_list(explanations)
    if many is None:
        raise InputError(f"to_html takes explanations, not {brief(explanations)}")
    for each in many:
        if not is_explanation(each):
            raise InputError(f"to_html takes explanations, not {brief(each)}")
    if not many:
        raise InputError("there is no explanation to show: the list is empty")
    from .payload import page_payload  # imported here to keep importing the package fast

    language = templates_for(audience, templates)["language"]
    page = _assemble(page_payload(many, audience, templates), language)
    if path is None:
        return page
    write_text(path, page)
    return Path(path)


def page_script() -> tuple[str, str]:
    """Return the style and the script of the page, which are the same for all explanations."""
    style = read_part("theme.css") + read_part("page.css")
    return style, '"use strict";\n' + "\n".join(map(read_part, _SCRIPTS))


def _assemble(payload: object, language: str) -> str:
    style, script = page_script()
    return Template(read_part("page.html")).substitute(
        language=escape(language),
        policy=policy(style, script),
        style=style,
        script=script,
        data=as_data(payload),
        changes=CHANGES,
        depends=DEPENDS,
        features=FEATURES,
    )
