"""What steps 1 and 2 found of one target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import IntArray
from .effects import Effects
from .sampling import Outcome
from .selection import Neighbourhood, Ranking

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """What is known of a target before its network is learnt.

    Attributes:
        ranking: what depends on it.
        effects: what changes it.
        chosen: the nodes of its network, most important first.
        levels: the level of change in each sample, ``[n]``; 0 where the prediction held.
        outcome: the prediction in each sample, as a number.
        is_settled: whether there are samples enough to tell the strongest effects apart.
    """

    near: Neighbourhood
    ranking: Ranking
    effects: Effects
    chosen: IntArray
    levels: NDArray[np.uint8]
    outcome: Outcome
    is_settled: bool

    @property
    def changed(self) -> bool:
        """Whether the prediction changed in any sample."""
        return bool(self.levels.any())

    def __len__(self) -> int:
        return len(self.near.candidates)
