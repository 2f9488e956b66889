"""BDeu: the marginal likelihood under a uniform Dirichlet prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ...arrays import check_string
from ...choices import Described
from .base import Counts, check_sample_size

__all__ = ["BDeuScore"]


@dataclass(frozen=True)
class BDeuScore(Described):
    """Bayesian Dirichlet score with a uniform prior of weight ``equivalent_samples``.

    Heckerman, Geiger and Chickering, *Learning Bayesian networks: the combination of knowledge and
    statistical data*, 1995. Equivalent networks have the same score.

    Examples:
        >>> from pgm_explainer.structure import BDeuScore, hill_climb
        >>> hill_climb([[0, 0], [1, 1]] * 50, [2, 2], score=BDeuScore(5.0)).edges
        ((0, 1),)
    """

    equivalent_samples: float = 10.0
    name: str = "bdeu"

    def __post_init__(self) -> None:
        check_sample_size(self.equivalent_samples)
        check_string(self.name, "the name of a score")

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        prior = self.equivalent_samples / np.asarray(cells)
        return np.asarray(scipy.special.gammaln(prior + counts) - scipy.special.gammaln(prior))

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        return 0.0
