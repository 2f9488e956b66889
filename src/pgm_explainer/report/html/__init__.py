"""Self-contained pages: of explanations (``page``), and of a whole data set (``overview``).

Both use the colours of ``theme.css``. The data of the first page is in ``payload``, and its
sentences about effects and dependence in ``answers``. Its other parts are ``page.html``,
``page.css`` and the scripts: ``inference.js`` computes probabilities, ``knowledge.js`` keeps the
evidence, ``effects.js``, ``picture.js`` and ``network.js`` draw, ``panels.js`` and ``tables.js``
show the rest, ``list.js`` is the list of explanations, and ``page.js`` handles user actions.
"""

from .page import to_html

__all__ = ["to_html"]
