"""The random variables of the paper, their states, and evidence about them.

The variable of a node is the pair (was it perturbed, did its prediction change). In a graph task
the variable of a node has only the first part, and that of the graph only the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .arrays import as_list, check_whole_number
from .errors import InputError, QueryError
from .limits import brief

__all__ = [
    "GRAPH",
    "MOST_LEVELS",
    "Variable",
    "VariableId",
    "checked_name",
    "is_edge",
    "joint_states",
]

VariableId = int | str | tuple[Any, ...]
"""A node, a pair of nodes, a ``(node type, index)`` or ``"graph"``."""
GRAPH = "graph"
"""The name of the target variable in the graph task."""

_PERTURBATION_BITS = {"original": 0, "perturbed": 1}
MOST_LEVELS = 2**31
_DENSE = 4


def checked_name(name: Any) -> VariableId:
    """Return the name of a node if it is an integer, a string or a tuple of these.

    Raises:
        InputError: the name has another type, which could not be compared, shown or saved.
    """
    if isinstance(name, tuple):
        for part in name:
            checked_name(part)
    elif not isinstance(name, (int, np.integer, str)) or isinstance(name, (bool, np.timedelta64)):
        raise InputError(
            f"the name of a node must be an integer, a string or a tuple of these, not "
            f"{brief(name)}"
        )
    return name


def is_edge(label: VariableId) -> TypeGuard[tuple[int, int]]:
    """Return whether a part with this label is an edge: a pair of nodes."""
    if not isinstance(label, tuple) or len(label) != 2:
        return False
    return all(isinstance(each, int) for each in label)


@dataclass(frozen=True)
class Variable:
    """A variable of the sample table; its states are numbered ``perturbed * levels + level``.

    Attributes:
        id: the node, or ``"graph"``.
        perturbable: whether the states of the variable tell if the node was perturbed.
        levels: the number of levels of change of the prediction; 1 if the variable does not
            include a prediction.

    Examples:
        >>> Variable(7, perturbable=True, levels=2).states
        ('original, kept', 'original, changed', 'perturbed, kept', 'perturbed, changed')
        >>> Variable(7, perturbable=True, levels=2).matching("kept").tolist()
        [True, False, True, False]
    """

    id: VariableId
    perturbable: bool
    levels: int

    def __post_init__(self) -> None:
        checked_name(self.id)
        if not isinstance(self.perturbable, (bool, np.bool_)):
            raise InputError(f"perturbable must be True or False, not {brief(self.perturbable)}")
        levels = check_whole_number(self.levels, "levels", at_least=1)
        if levels > MOST_LEVELS:
            raise InputError(f"a variable has at most {MOST_LEVELS} levels, not {levels}")
        object.__setattr__(self, "levels", levels)  # a plain int, also from NumPy integers

    @property
    def cardinality(self) -> int:
        return (2 if self.perturbable else 1) * self.levels

    @property
    def states(self) -> tuple[str, ...]:
        """The name of each state, in order."""
        bits = tuple(_PERTURBATION_BITS) if self.perturbable else ("",)
        return tuple(
            ", ".join(filter(None, (bit, level))) for bit in bits for level in self._level_names
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The words that evidence about this variable may consist of."""
        bits = tuple(_PERTURBATION_BITS) if self.perturbable else ()
        outcomes = ("kept", "changed") if self.levels > 1 else ()
        graded = self._level_names[1:] if self.levels > 2 else ()
        return (*bits, *outcomes, *graded)

    @property
    def _level_names(self) -> tuple[str, ...]:
        if self.levels == 1:
            return ("",)
        if self.levels == 2:
            return ("kept", "changed")
        return ("kept", *(f"changed {level}" for level in range(1, self.levels)))

    def matching(self, known: Any) -> NDArray[np.bool_]:
        """Return which states agree with evidence.

        Args:
            known: a value from :attr:`words`, several of these joined by commas or in a collection
                (all must be true), or the number of a state.

        Raises:
            QueryError: the evidence does not apply to this variable or contradicts itself.
        """
        if isinstance(known, (int, np.integer)) and not isinstance(known, (bool, np.timedelta64)):
            if not 0 <= known < self.cardinality:
                raise QueryError(
                    f"{brief(self.id)} has no state {known}; its states are 0 to "
                    f"{self.cardinality - 1}"
                )
            return np.asarray(np.arange(self.cardinality) == known)
        matches = np.ones(self.cardinality, dtype=bool)
        for word in self._split(known):
            matches &= self._matching_word(word)
        if not matches.any():
            raise QueryError(f"the evidence {brief(known)} for {brief(self.id)} contradicts itself")
        return matches

    def _split(self, known: Any) -> list[str]:
        parts = known.split(",") if isinstance(known, str) else as_list(known)
        words = [part.strip() if isinstance(part, str) else brief(part) for part in parts or ()]
        if not words:
            raise QueryError(
                f"{brief(known)} is not valid evidence for {brief(self.id)}; use {self._allowed()}"
            )
        return words

    def _matching_word(self, word: str) -> NDArray[np.bool_]:
        if word not in self.words:
            raise QueryError(
                f"{brief(word)} is not valid evidence for {brief(self.id)}; use {self._allowed()}"
            )
        perturbed, level = np.divmod(np.arange(self.cardinality), self.levels)
        if word in _PERTURBATION_BITS:
            return np.asarray(perturbed == _PERTURBATION_BITS[word])
        if word == "changed":
            return np.asarray(level > 0)
        return np.asarray(level == self._level_names.index(word))

    def _allowed(self) -> str:
        return " or ".join(repr(word) for word in self.words)


def joint_states(
    columns: Iterable[NDArray[np.integer]], sizes: Iterable[int], *, only_seen: bool = False
) -> tuple[NDArray[np.int64], int]:
    """Encode the joint states of some variables as integers; the last variable varies fastest.

    Args:
        columns: the states of each variable, arrays of the same shape; at least one.
        sizes: the number of states of each variable.
        only_seen: if there are many more joint states than samples, encode only those that occur,
            in the same order, so that codes stay small.

    Returns:
        The code of each sample's joint state, and the number of codes.

    Examples:
        >>> joint_states([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3])
        (array([2, 3, 5]), 6)
    """
    codes, total = np.zeros(1, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        codes = codes * size + column
        total *= size
        if only_seen and total > _DENSE * codes.size:
            seen, codes = np.unique(codes, return_inverse=True)
            total = len(seen)
    return codes, total
