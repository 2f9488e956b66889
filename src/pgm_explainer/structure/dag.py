"""Directed acyclic graphs over numbered variables, and constraints on them.

Many algorithms hold sets of variables as bit masks, which are Python integers of any size.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from ..arrays import as_list, check_whole_number
from ..errors import InputError
from ..limits import brief

__all__ = ["DAG", "Constraints", "add_leaf", "dag_of_masks", "is_complete", "mask_of", "members"]

Edge = tuple[int, int]
_SHOWN = 20
_MOST_VARIABLES = 1_000_000


@dataclass(frozen=True)
class DAG:
    """A directed acyclic graph; its edges are sorted pairs (parent, child).

    Raises:
        InputError: an edge has an unknown variable, or the edges form a cycle.

    Examples:
        >>> dag = DAG(3, [(2, 1), (0, 1)])
        >>> dag.edges, dag.parents(1)
        (((0, 1), (2, 1)), (0, 2))
    """

    num_variables: int
    edges: tuple[Edge, ...] = ()

    def __init__(self, num_variables: int, edges: Iterable[Iterable[int]] = ()) -> None:
        if type(num_variables) is not int or num_variables < 0:
            num_variables = check_whole_number(num_variables, "num_variables", at_least=0)
        if num_variables > _MOST_VARIABLES:
            raise InputError(
                f"a network has at most {_MOST_VARIABLES:,} variables, not {num_variables:,}"
            )
        given = as_list(edges)
        if given is None:
            raise InputError(f"edges must be a list of pairs (parent, child), not {brief(edges)}")
        unique = sorted({_as_edge(edge, num_variables) for edge in given})
        object.__setattr__(self, "num_variables", num_variables)
        object.__setattr__(self, "edges", tuple(unique))
        if len(self.order) < num_variables:
            stuck = sorted(set(range(num_variables)) - set(self.order))
            shown = f"{stuck[:_SHOWN]}"[:-1] + ", …]" if len(stuck) > _SHOWN else f"{stuck}"
            raise InputError(
                f"the edges form a cycle; in it, or after it, are the variables {shown}"
            )

    @cached_property
    def _parents(self) -> tuple[tuple[int, ...], ...]:
        lists: list[list[int]] = [[] for _ in range(self.num_variables)]
        for parent, child in self.edges:
            lists[child].append(parent)
        return tuple(map(tuple, lists))

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        lists: list[list[int]] = [[] for _ in range(self.num_variables)]
        for parent, child in self.edges:
            lists[parent].append(child)
        return tuple(map(tuple, lists))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """A topological order of the variables; ties are in ascending order."""
        waiting = [len(parents) for parents in self._parents]
        ready = [variable for variable, count in enumerate(waiting) if count == 0]
        done = []
        while ready:  # a sorted list is a valid heap
            variable = heappop(ready)
            done.append(variable)
            for child in self._children[variable]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    heappush(ready, child)
        return tuple(done)

    def parents(self, variable: int) -> tuple[int, ...]:
        """Return the parents of a variable, ascending."""
        return self._of(self._parents, variable)

    def children(self, variable: int) -> tuple[int, ...]:
        """Return the children of a variable, ascending."""
        return self._of(self._children, variable)

    def _of(self, lists: tuple[tuple[int, ...], ...], variable: int) -> tuple[int, ...]:
        try:
            at = operator.index(variable)
            if at < 0:  # which Python would count from the end
                raise IndexError
            return lists[at]
        except Exception:  # IndexError, TypeError, or whatever an object's own conversion raises
            raise InputError(
                f"{brief(variable)} is not a variable; variables are 0 to {self.num_variables - 1}"
            ) from None

    def markov_blanket(self, variable: int) -> tuple[int, ...]:
        """Return the parents, children and other parents of the children, ascending."""
        blanket = set(self.parents(variable)) | set(self.children(variable))
        for child in self.children(variable):
            blanket |= set(self.parents(child))
        return tuple(sorted(blanket - {operator.index(variable)}))


def _as_edge(edge: Iterable[int], num_variables: int) -> Edge:
    ends = edge if type(edge) is tuple else tuple(as_list(edge) or ())
    if any(type(end) is not int or end < 0 for end in ends):
        ends = tuple(check_whole_number(end, "an edge's end", at_least=0) for end in ends)
    if len(ends) != 2 or max(ends) >= num_variables:
        raise InputError(
            f"{brief(edge)} is not an edge among {num_variables} variables, numbered from 0; "
            f"an edge is a pair (parent, child)"
        )
    return ends


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
            raise InputError(f"forbidden must be a list of edges, not {brief(forbidden)}")
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
            f"add_leaf requires a DAG and a list of parents, not {brief(dag)} and {brief(parents)}"
        )
    leaf = dag.num_variables
    return DAG(leaf + 1, [*dag.edges, *((parent, leaf) for parent in given)])


def mask_of(variables: Iterable[int]) -> int:
    """Return variables as a bit mask."""
    return sum(1 << variable for variable in variables)


def members(mask: int) -> Iterator[int]:
    """Yield the variables of a bit mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def is_complete(mask: int, adjacent: Sequence[int]) -> bool:
    """Return whether all variables of a set are adjacent to each other.

    Args:
        mask: the set.
        adjacent: for each variable, the mask of those that are adjacent to it.
    """
    return all(mask & ~adjacent[each] == 1 << each for each in members(mask))


def dag_of_masks(parents: Sequence[int]) -> DAG:
    """Return the network with these masks of parents."""
    return DAG(len(parents), [(u, v) for v, mask in enumerate(parents) for u in members(mask)])
