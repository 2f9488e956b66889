"""Ways to show an explanation: ``text``, ``plots``, a ``notebook`` cell, an ``html`` page."""
