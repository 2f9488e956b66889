"""Robust fidelity, which removes random nodes instead of all."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ..rivals.case import Case
from ..rivals.output import Output

__all__ = ["robust_fidelity"]

_REMOVED, _KEPT = 0.1, 0.9


def robust_fidelity(
    case: Case,
    target: int | None,
    nodes: Collection[int],
    samples: int = 50,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the robust fidelity+ and fidelity− of an explanation that is a set of nodes.

    Zheng et al., "Towards Robust Fidelity for Evaluating Explainability of Graph Neural Networks",
    ICLR 2024, with their α₁ = 0.1 and α₂ = 0.9, for nodes instead of edges. Fidelity+ is the loss
    of probability of the predicted class when each explaining node is removed with probability α₁;
    higher is better. Fidelity− is the loss when each of the other nodes is kept with probability
    α₂; lower is better. The features of removed nodes are set to zero; the target is never removed.
    """
    output = Output(case, target)
    rng = np.random.default_rng(seed)
    own = output.part.nodes == target
    explaining = np.isin(output.part.nodes, list(nodes)) & ~own
    chance = rng.random((samples, len(output.part.nodes)))
    before = output(output.x[None])[0]

    def lost(removed: NDArray[np.bool_]) -> float:
        x = np.where(removed[..., None], np.zeros_like(output.x), output.x)
        return float(before - output(x).mean())

    return lost((chance < _REMOVED) & explaining), lost((chance >= _KEPT) & ~explaining & ~own)
