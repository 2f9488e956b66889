"""Colours of the figures: those of Okabe and Ito, which colour-blind readers can distinguish."""

from __future__ import annotations

__all__ = ["BLUE", "GREY", "INK", "ORANGE", "SKY", "VERMILLION"]

BLUE, ORANGE, SKY, VERMILLION = "#0072B2", "#E69F00", "#56B4E9", "#D55E00"
INK, GREY = "#333333", "#D0D0D0"
