"""Undirected graphs over numbered variables: chordality, cliques, orientations.

Sets of variables are bit masks inside this module, because most operations are intersections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from ..arrays import as_list, check_whole_number
from ..errors import InputError
from ..limits import brief
from .dag import DAG, is_complete, members

__all__ = ["UndirectedGraph", "separates"]

Edge = tuple[int, int]
Clique = tuple[int, ...]
_MOST_VARIABLES = 1_000_000
_MOST_CLIQUES = 100_000


@dataclass(frozen=True)
class UndirectedGraph:
    """An undirected graph; its edges are sorted pairs, the smaller variable first.

    Raises:
        InputError: an edge has an unknown variable, or the same variable twice.

    Examples:
        >>> square = UndirectedGraph(4, [(1, 0), (1, 2), (2, 3), (3, 0)])
        >>> square.edges, square.is_chordal
        (((0, 1), (0, 3), (1, 2), (2, 3)), False)
        >>> UndirectedGraph(3, [(0, 1), (1, 2)]).cliques
        ((0, 1), (1, 2))
    """

    num_variables: int
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        count = check_whole_number(self.num_variables, "num_variables", at_least=0)
        if count > _MOST_VARIABLES:
            raise InputError(f"a graph has at most {_MOST_VARIABLES:,} variables, not {count:,}")
        object.__setattr__(self, "num_variables", count)
        given = as_list(self.edges)
        if given is None:
            raise InputError(f"edges must be a list of pairs, not {brief(self.edges)}")
        edges = tuple(sorted({_as_edge(edge, count) for edge in given}))
        object.__setattr__(self, "edges", edges)

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """The neighbours of each variable as a bit mask."""
        masks = [0] * self.num_variables
        for u, v in self.edges:
            masks[u] |= 1 << v
            masks[v] |= 1 << u
        return tuple(masks)

    def neighbours(self, variable: int) -> tuple[int, ...]:
        """Return the neighbours of a variable, ascending."""
        at = check_whole_number(variable, "a variable", at_least=0)
        if at >= self.num_variables:
            raise InputError(f"{at} is not a variable; variables are 0 to {self.num_variables - 1}")
        return tuple(members(self.masks[at]))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Maximum cardinality search: next is the variable with most visited neighbours.

        In a chordal graph, the earlier neighbours of every variable are then a clique.
        """
        weight, waiting, order = [0] * self.num_variables, set(range(self.num_variables)), []
        while waiting:
            chosen = min(waiting, key=lambda variable: (-weight[variable], variable))
            waiting.remove(chosen)
            order.append(chosen)
            for other in members(self.masks[chosen]):
                weight[other] += 1
        return tuple(order)

    @cached_property
    def _earlier(self) -> dict[int, int]:
        """The neighbours of each variable that come before it in :attr:`order`."""
        seen, earlier = 0, {}
        for variable in self.order:
            earlier[variable] = self.masks[variable] & seen
            seen |= 1 << variable
        return earlier

    @cached_property
    def is_chordal(self) -> bool:
        """Whether every cycle of four or more variables has a chord."""
        return all(is_complete(mask, self.masks) for mask in self._earlier.values())

    @cached_property
    def cliques(self) -> tuple[Clique, ...]:
        """The maximal cliques, each ascending.

        Raises:
            InputError: there are more than 100,000, which is possible only without chordality.
        """
        if self.is_chordal:
            found = [mask | 1 << variable for variable, mask in self._earlier.items()]
        else:
            found = list(_maximal_cliques(self.masks))
        largest = [
            one for one in found if not any(one != two and one & two == one for two in found)
        ]
        return tuple(sorted(tuple(members(mask)) for mask in largest))

    def oriented(self) -> DAG:
        """Return the directed graph that implies the same independences.

        Raises:
            InputError: the graph is not chordal; then there is none.

        Examples:
            >>> UndirectedGraph(3, [(0, 2), (1, 2)]).oriented().edges
            ((0, 2), (2, 1))
        """
        if not self.is_chordal:
            raise InputError("only a chordal graph has an orientation; triangulate it first")
        return DAG(
            self.num_variables,
            [(u, v) for v, mask in self._earlier.items() for u in members(mask)],
        )

    def triangulated(self) -> UndirectedGraph:
        """Return a chordal graph that contains this one.

        Variables are eliminated in the order of the fewest edges to add.
        """
        if self.is_chordal:
            return self
        near, waiting, added = list(self.masks), set(range(self.num_variables)), list(self.edges)
        while waiting:
            chosen = min(
                waiting, key=lambda variable: (len(_missing(near[variable], near)), variable)
            )
            for u, v in _missing(near[chosen], near):
                near[u] |= 1 << v
                near[v] |= 1 << u
                added.append((u, v))
            waiting.remove(chosen)
            for other in members(near[chosen]):
                near[other] &= ~(1 << chosen)
        return UndirectedGraph(self.num_variables, tuple(added))

    @cached_property
    def components(self) -> tuple[Clique, ...]:
        """The connected components, each ascending."""
        left, found = (1 << self.num_variables) - 1, []
        while left:
            reached = _reached(left & -left, left, self.masks)
            found.append(tuple(members(reached)))
            left &= ~reached
        return tuple(found)


def _as_edge(edge: Iterable[int], num_variables: int) -> Edge:
    given = as_list(edge) or ()
    ends = sorted(check_whole_number(end, "an edge's end", at_least=0) for end in given)
    if len(ends) != 2 or len(set(ends)) != 2 or ends[1] >= num_variables:
        raise InputError(
            f"{brief(edge)} is not an edge between two of {num_variables} variables, numbered "
            f"from 0"
        )
    return ends[0], ends[1]


def separates(mask: int, u: int, v: int, masks: Sequence[int]) -> bool:
    """Return whether removing the variables of a mask leaves no path from u to v."""
    return not _reached(1 << u, ~mask, masks) >> v & 1


def _reached(start: int, inside: int, masks: Sequence[int]) -> int:
    """Return the variables that paths inside a set lead to."""
    reached = fresh = start
    while fresh:
        near = 0
        for variable in members(fresh):
            near |= masks[variable]
        fresh = near & inside & ~reached
        reached |= fresh
    return reached


def _missing(mask: int, masks: list[int]) -> list[Edge]:
    """Return the pairs of a set that are not neighbours."""
    return [(u, v) for u, v in combinations(members(mask), 2) if not masks[u] >> v & 1]


def _maximal_cliques(masks: tuple[int, ...]) -> Iterator[int]:
    """Yield the maximal cliques of any graph (Bron and Kerbosch, with pivots)."""
    stack, found = [(0, (1 << len(masks)) - 1, 0)], 0
    while stack:
        clique, open_, closed = stack.pop()
        if not open_ and not closed:
            found += 1
            if found > _MOST_CLIQUES:
                raise InputError(f"the graph has more than {_MOST_CLIQUES:,} maximal cliques")
            yield clique
            continue
        pivot = max(members(open_ | closed), key=lambda each: (masks[each] & open_).bit_count())
        for variable in members(open_ & ~masks[pivot]):
            near = masks[variable]
            stack.append((clique | 1 << variable, open_ & near, closed & near))
            open_ &= ~(1 << variable)
            closed |= 1 << variable
