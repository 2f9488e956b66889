"""The precision of the strongest effects, which decides whether there are enough samples."""

from __future__ import annotations

import numpy as np

from .table import Effects

__all__ = ["STAGES", "are_precise", "margin"]

STAGES = (500, 1000, 2000, 4000, 8000)
"""The numbers of samples that ``num_samples="auto"`` tries, in order."""

_LEADING = 5
_SHARE = 0.2
_POINT = 0.01


def margin(effects: Effects) -> float:
    """Return the largest margin (half of the 95 % interval) of the five strongest effects."""
    widths = (effects.high - effects.low)[:_LEADING]
    return float(widths.max(initial=0.0)) / 2


def are_precise(effects: Effects, are_probabilities: bool) -> bool:
    """Return whether the five strongest effects are known precisely.

    Their margins must be at most a fifth of the strongest effect. For probabilities, a margin of
    one percentage point is always small enough.
    """
    strongest = float(np.max(abs(effects.effect), initial=0.0))
    enough = max(_SHARE * strongest, _POINT if are_probabilities else 0.0)
    return margin(effects) <= enough
