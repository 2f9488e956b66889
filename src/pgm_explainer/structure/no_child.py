"""The last part of the paper's Algorithm 2: adding the target to the network as a leaf."""

from __future__ import annotations

from collections.abc import Iterable

from ..arrays import as_list
from ..errors import InputError
from .dag import DAG

__all__ = ["add_leaf"]


def add_leaf(dag: DAG, parents: Iterable[int]) -> DAG:
    """Return ``dag`` with an additional last variable that has the given parents.

    Theorem 3: if ``dag`` is the best network of the other variables and ``parents`` are the
    target's true parents, the result is I-equivalent to the true network.

    Raises:
        InputError: a parent is not among the variables of ``dag``.

    Examples:
        >>> add_leaf(DAG(2, [(0, 1)]), parents=[1]).edges
        ((0, 1), (1, 2))
    """
    given = as_list(parents)
    if not isinstance(dag, DAG) or given is None:
        raise InputError(
            f"add_leaf requires a DAG and a list of parents, not {dag!r} and {parents!r}"
        )
    leaf = dag.num_variables
    return DAG(leaf + 1, [*dag.edges, *((parent, leaf) for parent in given)])
