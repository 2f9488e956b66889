"""The log-likelihood, and the log-likelihood minus a penalty: BIC, as in the paper, and AIC."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ...arrays import check_not_negative, check_string
from ...choices import Described
from .base import Counts

__all__ = ["PenalisedLikelihood", "n_log_n"]


@dataclass(frozen=True)
class PenalisedLikelihood(Described):
    """Maximum log-likelihood, minus a penalty for every free parameter.

    Attributes:
        per_parameter: the constant part of the penalty per parameter (AIC: 1).
        per_log_n: the part of the penalty in units of log n (BIC: 1/2).

    Examples:
        >>> from pgm_explainer.structure import PenalisedLikelihood, network_score
        >>> data, mild = [[0, 0], [1, 1]] * 50, PenalisedLikelihood("mild", per_parameter=0.1)
        >>> linked = network_score(data, [2, 2], [(0, 1)], mild)
        >>> linked > network_score(data, [2, 2], [], mild)
        True
    """

    name: str
    per_parameter: float = 0.0
    per_log_n: float = 0.0

    def __post_init__(self) -> None:
        check_string(self.name, "the name of a score")
        check_not_negative(self.per_parameter, "per_parameter")
        check_not_negative(self.per_log_n, "per_log_n")

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        return n_log_n(int(counts.max(initial=0)))[counts]

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        price = self.per_parameter + self.per_log_n * log(samples)
        return price * configurations * (states - 1)


_tables: dict[str, NDArray[np.float64]] = {}


def n_log_n(largest: int) -> NDArray[np.float64]:
    """Return a table of n log n for n = 0, 1, 2, …, as a look-up is faster than computing it."""
    table = _tables.get("n log n")
    if table is None or len(table) <= largest:
        numbers = np.arange(max(1024, 2 * largest))
        table = _tables["n log n"] = scipy.special.xlogy(numbers, numbers)
    return table
