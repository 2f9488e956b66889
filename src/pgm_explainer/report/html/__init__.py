"""The self-contained page: what it is told (``payload``), and the file (``page``).

The page's own parts are ``page.html``, ``page.css`` and the scripts: ``inference.js`` asks the
network, ``knowledge.js`` keeps what is known, ``picture.js`` and ``network.js`` draw, ``panels.js``
and ``tables.js`` tell the rest, ``list.js`` holds many, and ``page.js`` answers the reader.
"""

from .page import to_html

__all__ = ["to_html"]
