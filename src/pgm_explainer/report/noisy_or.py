"""What a noisy-or says: the chance of each cause to change the prediction by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..network import NoisyOr
from ..sampling import Variable
from .names import variable_label

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["NOISY_OR", "noisy_or_chances"]

NOISY_OR = (
    "A noisy-or: each of these may change the prediction by itself, with a chance of its own; the "
    "prediction holds if none of them does."
)


def noisy_or_chances(explanation: Explanation, table: NoisyOr) -> list[tuple[str, float]]:
    """Return what may change the prediction, and with which chance, the most likely first."""
    found = [
        (f"{variable_label(explanation, parent.id)} {_states(parent, chance > 0)}", chance.max())
        for parent, chance in zip(table.parents, table.chances, strict=True)
    ]
    if table.variable.perturbable:
        found.append((f"{variable_label(explanation, table.variable.id)} perturbed", table.own))
    found.append(("anything else", table.leak))
    return [(text, float(chance)) for text, chance in sorted(found, key=lambda row: -row[1])]


def _states(variable: Variable, active: np.typing.NDArray[np.bool_]) -> str:
    """The one word for the states that may change the prediction."""
    words = (word for word in variable.words if np.array_equal(variable.matching(word), active))
    return next(words, "in some states")
