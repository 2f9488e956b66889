"""What pages are put together from: files beside this one, and a policy that forbids the rest."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

__all__ = ["policy", "read_part"]


def read_part(name: str) -> str:
    """Return the text of a style, a script or a frame."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(style: str, script: str | None = None) -> str:
    """Forbid everything but this very style and this very script."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            *([] if script is None else [f"script-src '{_digest(script)}'"]),
            "base-uri 'none'",
            "form-action 'none'",
            # Text can never become markup: the browser itself refuses innerHTML and its kin.
            "require-trusted-types-for 'script'",
        ]
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
