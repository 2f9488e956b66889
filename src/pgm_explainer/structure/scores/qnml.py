"""qNML: the quotient normalised maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...choices import Described
from .base import Counts
from .likelihood import n_log_n
from .nml import log_regret

__all__ = ["QNMLScore"]


@dataclass(frozen=True)
class QNMLScore(Described):
    """Quotient normalised maximum likelihood, a description length without parameters to choose.

    The maximum log-likelihood minus log C(n, child and parents) plus log C(n, parents), where
    C(n, K) is the regret of a multinomial with K joint states. Silander et al., *Quotient
    normalized maximum likelihood criterion*, 2018. Equivalent networks have the same score.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.structure import QNMLScore, network_score
        >>> data, edges = [[0, 0], [1, 1]] * 50, [(0, 1), (1, 0)]
        >>> scores = [network_score(data, [2, 2], [edge], QNMLScore()) for edge in edges]
        >>> bool(np.isclose(*scores))
        True
    """

    name: str = field(default="qnml", init=False)

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        return n_log_n(int(counts.max(initial=0)))[counts]

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        parents = np.asarray(configurations, dtype=np.float64)
        return log_regret(samples, parents * states) - log_regret(samples, parents)
