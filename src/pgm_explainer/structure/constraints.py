"""Constraints on the structure of a network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import as_list, check_whole_number
from ..errors import InputError
from .dag import DAG

__all__ = ["Constraints"]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on a structure search.

    Attributes:
        required: edges that the network must have.
        allowed: ``allowed[u, v]`` is whether the network may have the edge (u, v).
        max_parents: the maximum number of parents of a variable.
    """

    required: DAG
    allowed: NDArray[np.bool_]
    max_parents: int

    @classmethod
    def of(
        cls,
        num_variables: int,
        max_parents: int | None = None,
        forbidden: Iterable[Iterable[int]] = (),
        required: Iterable[Iterable[int]] = (),
    ) -> Constraints:
        """Return validated constraints.

        Raises:
            InputError: an edge is both required and forbidden, required edges form a cycle, or
                a variable has more required parents than ``max_parents``.
        """
        must = DAG(num_variables, required)
        most = max(num_variables - 1, 0) if max_parents is None else max_parents
        most = check_whole_number(most, "max_parents", at_least=0)
        allowed = ~np.eye(num_variables, dtype=bool)
        listed = as_list(forbidden)
        if listed is None:
            raise InputError(f"forbidden must be a list of edges, not {forbidden!r}")
        for edge in listed:
            # Checked one at a time, because forbidden edges may form a cycle.
            (pair,) = DAG(num_variables, [edge]).edges
            allowed[pair] = False
        for parent, child in must.edges:
            if not allowed[parent, child]:
                raise InputError(f"the edge {(parent, child)} is both required and forbidden")
            allowed[child, parent] = False
        for child in range(num_variables):
            if len(must.parents(child)) > most:
                raise InputError(
                    f"variable {child} has {len(must.parents(child))} required parents, "
                    f"but max_parents is {most}"
                )
        return cls(must, allowed, most)
