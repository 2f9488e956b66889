"""The leaves of a decision tree in words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..network import ConditionalTree
from ..sampling import Variable

__all__ = ["leaf_words"]


def leaf_words(tree: ConditionalTree, name: Callable[[Variable], str]) -> list[str]:
    """Return the condition of each leaf, such as ``3 perturbed, 5 kept``.

    Args:
        name: gives the name of a parent.
    """
    allowed = {
        -1 if not tree.splits else 0: {at: _all(each) for at, each in enumerate(tree.parents)}
    }
    for number, split in enumerate(tree.splits):
        states = np.zeros(tree.parents[split.parent].cardinality, dtype=bool)
        states[list(split.states)] = True
        before = allowed[number][split.parent]
        for end, its in ((split.yes, states), (split.no, ~states)):
            allowed[end] = {**allowed[number], split.parent: before & its}
    return [
        ", ".join(
            f"{name(tree.parents[at])} {_words(tree.parents[at], states)}"
            for at, states in allowed[-1 - leaf].items()
            if not states.all()
        )
        or "always"
        for leaf in range(len(tree.leaves))
    ]


def _all(variable: Variable) -> np.typing.NDArray[np.bool_]:
    return np.ones(variable.cardinality, dtype=bool)


def _words(variable: Variable, states: np.typing.NDArray[np.bool_]) -> str:
    """Return a word for some states, or the names of these states."""
    for word in variable.words:
        if np.array_equal(variable.matching(word), states):
            return word
    return " or ".join(variable.states[at].replace(", ", " and ") for at in np.flatnonzero(states))
