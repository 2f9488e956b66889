"""Parts of the pages: files in this folder, and the content security policy."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

__all__ = ["policy", "read_part"]


def read_part(name: str) -> str:
    """Return the text of a style sheet, script or template."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(style: str, script: str | None = None) -> str:
    """Return a content security policy that allows only this style and this script."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            *([] if script is None else [f"script-src '{_digest(script)}'"]),
            "base-uri 'none'",
            "form-action 'none'",
            # Text can never become markup: the browser refuses innerHTML and similar calls.
            "require-trusted-types-for 'script'",
        ]
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
