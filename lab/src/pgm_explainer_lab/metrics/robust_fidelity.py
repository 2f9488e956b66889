"""Fidelity that takes random parts away, instead of all or nothing."""

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
    ICLR 2024, with their α₁ = 0.1 and α₂ = 0.9, of nodes in place of edges. Fidelity+ is how much
    probability the predicted class loses if each explaining node is removed with probability α₁;
    more is better. Fidelity− is how much it loses if each of the other nodes is kept with
    probability α₂; less is better. A removed node has zeros for features; the target stays.
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
