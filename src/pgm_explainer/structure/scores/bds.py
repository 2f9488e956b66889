"""BDs: BDeu with the prior on the configurations of the parents that occur."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ...choices import Described
from .base import Counts, check_sample_size

__all__ = ["BDsScore"]


@dataclass(frozen=True)
class BDsScore(Described):
    """Bayesian Dirichlet sparse score: all of the prior is on configurations that occur.

    With sparse data, BDeu spends most of its prior on configurations of the parents without
    samples; this one does not. Scutari, *An empirical-Bayes score for discrete Bayesian networks*,
    2016. If all configurations occur, it is BDeu; else equivalent networks may differ in score.

    Attributes:
        equivalent_samples: the weight of the prior.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.structure import BDeuScore, BDsScore, family_score
        >>> counts = np.array([[40, 10], [10, 40], [0, 0], [0, 0]])  # two do not occur
        >>> scores = family_score(counts, BDsScore()), family_score(counts[:2], BDeuScore())
        >>> bool(np.isclose(*scores))
        True
    """

    equivalent_samples: float = 10.0
    name: str = field(default="bds", init=False)

    def __post_init__(self) -> None:
        check_sample_size(self.equivalent_samples)

    def configuration_terms(self, counts: Counts, observed: Any) -> NDArray[np.float64]:
        states, totals = counts.shape[-1], counts.sum(axis=-1)
        # A set of parents without any sample has no configuration that occurs, and no terms.
        prior = self.equivalent_samples / np.maximum(np.asarray(observed, dtype=np.float64), 1)
        each = (prior / states)[..., None]
        gammaln = scipy.special.gammaln
        terms = (gammaln(each + counts) - gammaln(each)).sum(axis=-1)
        return np.asarray(terms + gammaln(prior) - gammaln(prior + totals))
