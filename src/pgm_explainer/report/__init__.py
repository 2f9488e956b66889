"""Showing an explanation: in words (``text``) and as pictures (``plot``)."""
