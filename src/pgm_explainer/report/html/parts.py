"""Parts of the pages: files in this folder, and the content security policy."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files

__all__ = ["as_data", "policy", "read_part"]


def read_part(name: str) -> str:
    """Return the text of a style sheet, script or template."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


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
