"""Potentials of a Markov network: a number for each joint state of a clique."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..limits import brief
from ..sampling import Variable
from .factors import MOST_CELLS

__all__ = ["CliqueTable"]


@dataclass(frozen=True, eq=False)
class CliqueTable:
    """The potential of a clique, with an axis for each of its variables.

    The distribution of a Markov network is proportional to the product of its potentials. A
    potential alone is not a probability; use ``network.query(clique)`` for probabilities.

    Attributes:
        values: the potential of each joint state, at least 0.
        counts: the number of samples of each joint state; all 0 if they are unknown.

    Raises:
        InputError: the arrays do not fit the variables, or a number is negative or not finite.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.network import CliqueTable
        >>> from pgm_explainer.sampling import Variable
        >>> a, b = Variable("a", False, 2), Variable("b", False, 2)
        >>> CliqueTable.of([a, b], np.array([[3.0, 1], [1, 3]]))
        φ(a, b) (2, 2)
    """

    variables: tuple[Variable, ...]
    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        shape = tuple(variable.cardinality for variable in self.variables)
        if self.values.shape != shape or self.counts.shape != shape:
            raise InputError(
                f"the potential of {[each.id for each in self.variables]} must have shape {shape}, "
                f"not {self.values.shape}"
            )
        if not (np.isfinite(self.values).all() and (self.values >= 0).all()):
            raise InputError(
                f"potentials must be finite numbers of at least 0, not {brief(self.values)}"
            )

    @classmethod
    def of(cls, variables: Sequence[Variable], values: NDArray[np.float64]) -> CliqueTable:
        """Return a potential without counts."""
        return cls(tuple(variables), values, np.zeros(values.shape, np.int64))

    def with_variables(self, variables: Sequence[Variable]) -> CliqueTable:
        """Return the same potential of other variables."""
        return replace(self, variables=tuple(variables))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CliqueTable)
            and self.variables == other.variables
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.counts, other.counts)
        )

    def __repr__(self) -> str:
        return f"φ({', '.join(str(each.id) for each in self.variables)}) {self.values.shape}"


def check_cells(sizes: Sequence[int], what: str) -> None:
    """Raise an InputError if a table would be too large."""
    if prod(sizes) > MOST_CELLS:
        raise InputError(
            f"{what} would have {prod(sizes):,} numbers; set max_clique, lower max_nodes, or "
            f"choose a score with a penalty"
        )
