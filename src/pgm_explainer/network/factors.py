"""Exact inference by variable elimination."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import QueryError

__all__ = ["MOST_CELLS", "Factor", "eliminate", "multiply"]

Values = NDArray[np.float64]
_FACTORS_AT_ONCE = 16
MOST_CELLS = 1 << 27
"""The maximum number of entries of a table, 1 GB of floats."""


@dataclass(frozen=True)
class Factor:
    """A function of some discrete variables: one axis of ``values`` for each of ``variables``."""

    variables: tuple[int, ...]
    values: Values

    def weighted(self, variable: int, weights: Values) -> Factor:
        """Multiply by weights on the states of one of its variables."""
        shape = [1] * len(self.variables)
        shape[self.variables.index(variable)] = len(weights)
        return Factor(self.variables, self.values * weights.reshape(shape))


def eliminate(
    factors: Sequence[Factor], keep: Sequence[int], evidence: Mapping[int, Values]
) -> Values:
    """Multiply factors, apply evidence and sum out all variables except ``keep``.

    Evidence is a weight for each state of a variable: 1 if it agrees with the evidence, else 0. The
    variable with the smallest resulting factor is eliminated first; ties go to the smaller number.

    Returns:
        The unnormalised joint distribution, one axis for each variable of ``keep``.

    Raises:
        QueryError: a table would be too large.
    """
    pool = _apply_evidence(list(factors), evidence)
    _check_size(keep, factors)
    waiting = {v for factor in pool for v in factor.variables} - set(keep)
    sizes = {v: _merged_size(pool, v) for v in waiting}
    while waiting:
        size, variable = min((sizes[v], v) for v in waiting)
        if size > MOST_CELLS:
            raise QueryError(
                f"inference would take a table of {size:,} numbers; set max_parents or lower "
                f"max_nodes"
            )
        touched = [factor for factor in pool if variable in factor.variables]
        scope = sorted({v for factor in touched for v in factor.variables} - {variable})
        pool = [factor for factor in pool if variable not in factor.variables]
        pool.append(Factor(tuple(scope), multiply(touched, scope)))
        waiting.remove(variable)
        sizes.update((v, _merged_size(pool, v)) for v in waiting.intersection(scope))
    return multiply(pool, keep)


def _check_size(keep: Sequence[int], factors: Iterable[Factor]) -> None:
    states = {v: n for f in factors for v, n in zip(f.variables, f.values.shape, strict=True)}
    size = prod(states[variable] for variable in keep)
    if size > MOST_CELLS:
        raise QueryError(
            f"the joint distribution of these {len(keep)} variables would be a table of {size:,} "
            f"numbers; query fewer variables at once"
        )


def _apply_evidence(factors: list[Factor], evidence: Mapping[int, Values]) -> list[Factor]:
    """Apply the evidence of each variable to the first factor that has it."""
    for variable, weights in evidence.items():
        for at, factor in enumerate(factors):
            if variable in factor.variables:
                factors[at] = factor.weighted(variable, weights)
                break
    return factors


def _merged_size(pool: Iterable[Factor], variable: int) -> int:
    sizes: dict[int, int] = {}
    for factor in pool:
        if variable in factor.variables:
            sizes.update(zip(factor.variables, factor.values.shape, strict=True))
    size = 1
    for states in sizes.values():
        size *= states
    return size


def multiply(factors: Sequence[Factor], keep: Sequence[int]) -> Values:
    """Multiply factors and sum out all variables except ``keep``."""
    factors = list(factors)
    while len(factors) > _FACTORS_AT_ONCE:  # einsum has a limit on operands
        some, factors = factors[:_FACTORS_AT_ONCE], factors[_FACTORS_AT_ONCE:]
        scope = sorted({v for factor in some for v in factor.variables})
        factors.append(Factor(tuple(scope), multiply(some, scope)))
    # Relabelled, because einsum supports only a few labels.
    names = {v: at for at, v in enumerate(sorted({v for f in factors for v in f.variables}))}
    operands: list[Any] = []
    for factor in factors:
        operands += [factor.values, [names[v] for v in factor.variables]]
    return np.asarray(np.einsum(*operands, [names[v] for v in keep], optimize=len(factors) > 2))
