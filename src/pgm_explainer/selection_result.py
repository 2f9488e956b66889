"""The results of steps 1 and 2 for one target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import IntArray
from .effects import Effects
from .sampling import Outcome
from .selection import Neighbourhood, Ranking

__all__ = ["SelectionResult"]


@dataclass(frozen=True)
class SelectionResult:
    """The results for a target before its network is learned.

    Attributes:
        neighbourhood: the target and its candidates.
        ranking: the candidates by dependence with the target.
        effects: the effects of perturbing each node.
        chosen: the nodes of the network, most important first.
        levels: the level of change in each sample, ``[n]``; 0 where the prediction was kept.
        outcome: the prediction in each sample, as a number.
        is_precise: whether there are enough samples for the strongest effects.
    """

    neighbourhood: Neighbourhood
    ranking: Ranking
    effects: Effects
    chosen: IntArray
    levels: NDArray[np.uint8]
    outcome: Outcome
    is_precise: bool

    @property
    def changed(self) -> bool:
        """Whether the prediction changed in any sample."""
        return bool(self.levels.any())

    def __len__(self) -> int:
        return len(self.neighbourhood.candidates)
