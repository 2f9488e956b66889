"""Held-out log-likelihood: how well a network predicts samples that it was not estimated from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import check_whole_number
from ...choices import Described
from .base import Counts, check_sample_size

__all__ = ["HeldOutScore"]


@dataclass(frozen=True)
class HeldOutScore(Described):
    """Log-likelihood by cross-validation: each part of the rows, given the counts of the others.

    Probabilities are estimated with a uniform prior of weight ``equivalent_samples``, as in BDeu,
    so that equivalent networks have the same score. Row i is in part i modulo ``folds``.

    Attributes:
        folds: the number of parts, at least 2.
        equivalent_samples: the weight of the prior.

    Examples:
        >>> from pgm_explainer.structure import HeldOutScore, network_score
        >>> data, score = [[0, 0], [1, 1]] * 50, HeldOutScore(folds=5)
        >>> linked = network_score(data, [2, 2], [(0, 1)], score)
        >>> linked > network_score(data, [2, 2], [], score)
        True
    """

    folds: int = 10
    equivalent_samples: float = 10.0
    name: str = field(default="held_out", init=False)

    def __post_init__(self) -> None:
        folds = check_whole_number(self.folds, "folds", at_least=2)
        object.__setattr__(self, "folds", folds)
        check_sample_size(self.equivalent_samples)

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the contribution of each joint state, from counts ``[..., folds]``."""
        prior = self.equivalent_samples / np.asarray(cells, dtype=np.float64)
        others = counts.sum(axis=-1, keepdims=True) - counts
        return np.asarray((counts * np.log(others + prior[..., None])).sum(axis=-1))

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        return 0.0
