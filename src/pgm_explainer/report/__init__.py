"""Showing an explanation: in words and as pictures."""
