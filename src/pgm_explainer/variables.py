"""The random variables of the paper, and what can be known of one.

A node's variable is the pair (was it perturbed, did its prediction change). In the graph task a
node has only the first half, and the prediction of the graph is a variable with only the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import as_list, check_whole_number
from .errors import InputError, QueryError

__all__ = ["GRAPH", "MOST_LEVELS", "Variable", "VariableId", "checked_name"]

VariableId = int | str | tuple[Any, ...]
"""A node; a pair of nodes; a (kind, number) where nodes are of several kinds; or the graph."""
GRAPH = "graph"
"""The name of the target variable in the graph task."""

_PERTURBATION_BITS = {"original": 0, "perturbed": 1}
MOST_LEVELS = 2**31


def checked_name(name: Any) -> VariableId:
    """Return the name of a node, unless it is no number, text or tuple of them.

    Raises:
        InputError: a name of another type, which could not be compared, shown or saved.
    """
    if isinstance(name, tuple):
        for part in name:
            checked_name(part)
    elif not isinstance(name, (int, np.integer, str)) or isinstance(name, bool):
        raise InputError(
            f"a node is called by a whole number, a text or a tuple of them, not {name!r}"
        )
    return name


@dataclass(frozen=True)
class Variable:
    """One variable of the sample table; its states count up as ``perturbed * levels + level``.

    Attributes:
        id: the node, or ``"graph"``.
        perturbable: whether "was it perturbed?" is part of the variable.
        levels: levels of change of its prediction; 1 if its prediction is not part of it.

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
            raise InputError(f"perturbable must be True or False, not {self.perturbable!r}")
        levels = check_whole_number(self.levels, "levels", at_least=1)
        if levels > MOST_LEVELS:
            raise InputError(f"a variable has at most {MOST_LEVELS} levels, not {levels}")
        object.__setattr__(self, "levels", levels)  # a plain number, whatever it came as

    @property
    def cardinality(self) -> int:
        return (2 if self.perturbable else 1) * self.levels

    @property
    def states(self) -> tuple[str, ...]:
        """A name for each state, in order."""
        bits = tuple(_PERTURBATION_BITS) if self.perturbable else ("",)
        return tuple(
            ", ".join(filter(None, (bit, level))) for bit in bits for level in self._level_names
        )

    @property
    def words(self) -> tuple[str, ...]:
        """Everything that may be said of this variable as evidence."""
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
        """Return which states agree with what is known.

        ``known`` is a word (see :attr:`words`), several of them joined by a comma or given as a
        collection (all must hold), or a state's number.

        Raises:
            QueryError: what is said cannot be said of this variable, or contradicts itself.
        """
        if isinstance(known, (int, np.integer)) and not isinstance(known, bool):
            if not 0 <= known < self.cardinality:
                raise QueryError(
                    f"{self.id!r} has states 0 to {self.cardinality - 1}, there is no state {known}"
                )
            return np.asarray(np.arange(self.cardinality) == known)
        matches = np.ones(self.cardinality, dtype=bool)
        for word in self._split(known):
            matches &= self._matching_word(word)
        if not matches.any():
            raise QueryError(f"nothing can be both: {known!r} contradicts itself")
        return matches

    def _split(self, known: Any) -> list[str]:
        parts = known.split(",") if isinstance(known, str) else as_list(known)
        words = [str(part).strip() for part in parts or ()]
        if not words:
            raise QueryError(
                f"cannot read {known!r} as knowledge of {self.id!r}; say {self._say()}"
            )
        return words

    def _matching_word(self, word: str) -> NDArray[np.bool_]:
        if word not in self.words:
            raise QueryError(f"{word!r} cannot be said of {self.id!r}; say {self._say()}")
        perturbed, level = np.divmod(np.arange(self.cardinality), self.levels)
        if word in _PERTURBATION_BITS:
            return np.asarray(perturbed == _PERTURBATION_BITS[word])
        if word == "changed":
            return np.asarray(level > 0)
        return np.asarray(level == self._level_names.index(word))

    def _say(self) -> str:
        return " or ".join(repr(word) for word in self.words)
