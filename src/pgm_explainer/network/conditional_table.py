"""Full conditional probability tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..sampling import Variable
from ..structure import Score, family_score
from ..variables import VariableId, joint_states
from .factors import MOST_CELLS, Factor

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Codes", "ConditionalTable", "TableData", "conditional_name"]

Codes = NDArray[np.integer[Any]]
"""The states of variables, a row for each sample."""
TableData = tuple[Variable, tuple[Variable, ...], Codes]
"""A variable, its parents, and the states of all ``[n, parents + 1]``, the variable last."""


@dataclass(frozen=True, eq=False)
class ConditionalTable:
    """The table P(variable | parents): an axis for each parent, and the last for the variable.

    ``numpy.asarray(table)`` returns the probabilities.

    Attributes:
        values: probabilities, which sum to 1 along the last axis.
        counts: the number of samples of each entry. For a combination of the parents' states that
            has no samples, the distribution is uniform.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> table = explanation.network.cpt(0)
        >>> table.variable.id, table.values.round(1).tolist()
        (0, [0.9, 0.0, 0.1, 0.0])
    """

    variable: Variable
    parents: tuple[Variable, ...]
    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def fit(
        cls, variable: Variable, parents: Sequence[Variable], codes: Codes, smoothing: float
    ) -> ConditionalTable:
        """Estimate by maximum likelihood from ``codes [n, parents + 1]``, the variable last.

        ``smoothing`` is added to every count (Laplace); 0 for maximum likelihood.
        """
        return cls.fit_many([(variable, tuple(parents), codes)], smoothing)[0]

    @classmethod
    def fit_many(cls, data: Sequence[TableData], smoothing: float) -> list[ConditionalTable]:
        """Estimate several tables at once, which is faster and gives the same results."""
        tables: dict[int, ConditionalTable] = {}
        for shape, members in _by_shape(data).items():
            if prod(shape) > MOST_CELLS:
                raise InputError(
                    f"the table of a variable with {len(shape) - 1} parents would have "
                    f"{prod(shape):,} numbers; set max_parents, lower max_nodes, or choose a "
                    f"score with a penalty"
                )
            counts = _count([data[at][2] for at in members], shape)
            weights = counts.astype(np.float64) + smoothing
            totals = weights.sum(axis=-1)
            weights[totals == 0] = 1.0  # without samples, the distribution is uniform
            weights /= weights.sum(axis=-1, keepdims=True)
            for at, its_weights, its_counts in zip(members, weights, counts, strict=True):
                variable, parents, _ = data[at]
                tables[at] = cls(variable, parents, its_weights, its_counts)
        return [tables[at] for at in range(len(data))]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        """Return the distribution ``[n, states]`` for parents in states ``codes [n, parents]``."""
        rows = self.values[tuple(codes.T)]
        return np.broadcast_to(rows, (len(codes), rows.shape[-1]))

    def terms(self, at: int, parents: Sequence[int]) -> list[list[Factor]]:
        """Return the distribution as a sum of products of factors: here, the table itself."""
        return [[Factor((*parents, at), self.values)]]

    def score(self, score: Score) -> float:
        """Return the score of the variable and its parents."""
        return family_score(self.counts, score)

    def renamed(self, variable: Variable, parents: Sequence[Variable]) -> ConditionalTable:
        """Return the same table for other variables."""
        return replace(self, variable=variable, parents=tuple(parents))

    def to_pandas(self) -> DataFrame:
        """Return a data frame with a column per state and a row per combination of the parents."""
        from .formats.frames import table_to_pandas

        return table_to_pandas(self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ConditionalTable)
            and (self.variable, self.parents) == (other.variable, other.parents)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.counts, other.counts)
        )

    def __repr__(self) -> str:
        name = conditional_name(self.variable.id, [parent.id for parent in self.parents])
        return f"{name} {self.values.shape}"


def conditional_name(variable: VariableId, parents: Sequence[VariableId]) -> str:
    """Return a conditional distribution as a formula.

    Examples:
        >>> conditional_name(3, []), conditional_name("graph", [3, 5])
        ('P(3)', 'P(graph | 3, 5)')
    """
    given = f" | {', '.join(map(str, parents))}" if parents else ""
    return f"P({variable}{given})"


def _by_shape(data: Sequence[TableData]) -> dict[tuple[int, ...], list[int]]:
    """Group tables by their numbers of states."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for at, (variable, parents, _) in enumerate(data):
        shape = (*(parent.cardinality for parent in parents), variable.cardinality)
        groups.setdefault(shape, []).append(at)
    return groups


def _count(codes: Sequence[Codes], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return how often each joint state occurs in each data set, as ``[data set, *shape]``."""
    columns = np.stack(codes).transpose(2, 0, 1)
    each = np.arange(len(codes))[:, None]
    cells, total = joint_states((each, *columns), (len(codes), *shape))
    return np.bincount(cells.ravel(), minlength=total).reshape(len(codes), *shape)
