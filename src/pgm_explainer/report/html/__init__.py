"""The self-contained page: what it is told (``payload``), where things go (``layout``), the file.

The page's own parts are ``page.html``, ``page.css`` and the scripts: ``inference.js`` asks the
network, ``draw.js`` draws, ``tables.js`` writes tables, ``page.js`` answers the reader.
"""

from .page import to_html

__all__ = ["to_html"]
