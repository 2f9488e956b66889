"""Showing an explanation: in words (``text``), as pictures (``plots``), in a ``notebook``."""
