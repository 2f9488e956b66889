"""Conditional distributions in words: the causes of a noisy-or, and the leaves of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..network import ConditionalTree, NoisyOr
from ..sampling import Variable
from .names import variable_label

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["NOISY_OR", "leaf_words", "noisy_or_chances"]

NOISY_OR = (
    "A noisy-or distribution: each cause changes the prediction independently, with the "
    "probability shown. The prediction is kept if none of them does."
)


def noisy_or_chances(explanation: Explanation, table: NoisyOr) -> list[tuple[str, float]]:
    """Return the causes and their probabilities of changing the prediction, most likely first."""
    found = []
    for parent, chance in zip(table.parents, table.chances, strict=True):
        states = _word(parent, chance > 0) or "in some states"
        found.append((f"{variable_label(explanation, parent.id)} {states}", chance.max()))
    if table.variable.perturbable:
        found.append((f"{variable_label(explanation, table.variable.id)} perturbed", table.own))
    found.append(("anything else", table.leak))
    return [(text, float(chance)) for text, chance in sorted(found, key=lambda row: -row[1])]


def leaf_words(explanation: Explanation, tree: ConditionalTree) -> list[str]:
    """Return the condition of each leaf of a tree, such as ``3 perturbed, 5 kept``."""
    names = [variable_label(explanation, parent.id) for parent in tree.parents]
    every = {at: np.ones(parent.cardinality, dtype=bool) for at, parent in enumerate(tree.parents)}
    allowed = {0 if tree.splits else -1: every}
    for number, split in enumerate(tree.splits):
        states = np.zeros(tree.parents[split.parent].cardinality, dtype=bool)
        states[list(split.states)] = True
        before = allowed[number][split.parent]
        for end, its in ((split.yes, states), (split.no, ~states)):
            allowed[end] = {**allowed[number], split.parent: before & its}
    return [
        ", ".join(
            f"{names[at]} {_words(tree.parents[at], states)}"
            for at, states in allowed[-1 - leaf].items()
            if not states.all()
        )
        or "always"
        for leaf in range(len(tree.leaves))
    ]


def _words(variable: Variable, states: NDArray[np.bool_]) -> str:
    """Return a word for some states, or the names of these states."""
    names = (variable.states[at].replace(", ", " and ") for at in np.flatnonzero(states))
    return _word(variable, states) or " or ".join(names)


def _word(variable: Variable, states: NDArray[np.bool_]) -> str:
    """Return the word that stands for some states; empty if there is none."""
    words = (word for word in variable.words if np.array_equal(variable.matching(word), states))
    return next(words, "")
