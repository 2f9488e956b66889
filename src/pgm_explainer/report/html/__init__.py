"""Self-contained pages: of explanations (``page``), and of a whole data set (``overview``).

Both have their colours from ``theme.css``. What the first shows is in ``payload``, and what it says
of effects and dependence in ``answers``. Its own parts are ``page.html``, ``page.css`` and the
scripts: ``inference.js`` computes what the network answers, ``knowledge.js`` keeps what is known,
``effects.js``, ``picture.js`` and ``network.js`` draw, ``panels.js`` and ``tables.js`` show the
rest, ``list.js`` holds many, and ``page.js`` responds to the reader.
"""

from .page import to_html

__all__ = ["to_html"]
