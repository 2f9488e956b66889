"""A noisy-or distribution as text: the probability that each cause changes the prediction."""

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
    "A noisy-or distribution: each cause changes the prediction independently, with the "
    "probability shown. The prediction is kept if none of them does."
)


def noisy_or_chances(explanation: Explanation, table: NoisyOr) -> list[tuple[str, float]]:
    """Return the causes and their probabilities of changing the prediction, most likely first."""
    found = [
        (f"{variable_label(explanation, parent.id)} {_states(parent, chance > 0)}", chance.max())
        for parent, chance in zip(table.parents, table.chances, strict=True)
    ]
    if table.variable.perturbable:
        found.append((f"{variable_label(explanation, table.variable.id)} perturbed", table.own))
    found.append(("anything else", table.leak))
    return [(text, float(chance)) for text, chance in sorted(found, key=lambda row: -row[1])]


def _states(variable: Variable, active: np.typing.NDArray[np.bool_]) -> str:
    """Return the name of the states that may change the prediction."""
    words = (word for word in variable.words if np.array_equal(variable.matching(word), active))
    return next(words, "in some states")
