"""fNML: the factorised normalised maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...choices import Described
from .base import Counts
from .likelihood import n_log_n
from .nml import log_regrets

__all__ = ["FNMLScore"]


@dataclass(frozen=True)
class FNMLScore(Described):
    """Factorised normalised maximum likelihood, a description length for each configuration.

    The maximum log-likelihood minus, for each configuration of the parents with n samples, the
    regret log C(n, states). Silander et al., *Factorized normalized maximum likelihood criterion*,
    2008. Equivalent networks may differ in score.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.structure import FNMLScore, family_score
        >>> round(family_score(np.array([[3, 0]]), FNMLScore()), 4)  # log 1 - log C(3, 2)
        -1.0609
    """

    name: str = field(default="fnml", init=False)

    def configuration_terms(self, counts: Counts, observed: Any) -> NDArray[np.float64]:
        totals = counts.sum(axis=-1)
        most = int(totals.max(initial=0))
        table = n_log_n(most)
        fit = table[counts].sum(axis=-1) - table[totals]
        return np.asarray(fit - log_regrets(_round_up(most), counts.shape[-1])[totals])


def _round_up(most: int) -> int:
    """Return a size of the table of regrets that is the same for similar data."""
    return max(1023, 1 << most.bit_length())
