"""Self-contained pages: of explanations (``page``), and of a whole data set (``overview``).

Both have their colours from ``theme.css``. What the first is told is in ``payload``; its own parts
are ``page.html``, ``page.css`` and the scripts: ``inference.js`` asks the network, ``knowledge.js``
keeps what is known, ``picture.js`` and ``network.js`` draw, ``panels.js`` and ``tables.js`` tell
the rest, ``list.js`` holds many, and ``page.js`` answers the reader.
"""

from .page import to_html

__all__ = ["to_html"]
