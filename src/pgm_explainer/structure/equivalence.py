"""I-equivalence classes of networks, and how far two of them are apart."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError
from ..limits import brief
from .dag import DAG, mask_of, members

__all__ = [
    "CPDAG",
    "Pattern",
    "cpdag",
    "equivalent",
    "structural_distance",
]

Edge = tuple[int, int]


@dataclass(frozen=True)
class CPDAG:
    """The equivalence class of a network.

    Attributes:
        directed: edges that every network of the class has.
        undirected: edges whose direction differs within the class, smaller variable first.

    Examples:
        >>> from pgm_explainer.structure import DAG, cpdag
        >>> cpdag(DAG(4, [(0, 2), (1, 2), (2, 3)]))
        CPDAG(num_variables=4, directed=((0, 2), (1, 2), (2, 3)), undirected=())
    """

    num_variables: int
    directed: tuple[Edge, ...]
    undirected: tuple[Edge, ...]


def cpdag(dag: DAG) -> CPDAG:
    """Return the equivalence class of a network, by v-structures and Meek's rules.

    Examples:
        >>> cpdag(DAG(3, [(0, 1), (1, 2)])).undirected
        ((0, 1), (1, 2))
        >>> cpdag(DAG(3, [(0, 1), (2, 1)])).directed
        ((0, 1), (2, 1))
    """
    if not isinstance(dag, DAG):
        raise InputError(f"cpdag requires a DAG, not {brief(dag)}")
    return Pattern.of(dag).cpdag()


def equivalent(one: DAG, other: DAG) -> bool:
    """Return whether two networks imply the same independences.

    Examples:
        >>> from pgm_explainer.structure import DAG, equivalent
        >>> chain = DAG(3, [(0, 1), (1, 2)])
        >>> equivalent(chain, DAG(3, [(1, 0), (1, 2)])), equivalent(chain, DAG(3, [(0, 1), (2, 1)]))
        (True, False)
    """
    return cpdag(one) == cpdag(other)


def structural_distance(one: DAG, other: DAG) -> int:
    """Return the structural Hamming distance (SHD) of the equivalence classes of two networks.

    It is the number of pairs of variables whose edge differs: missing, undirected, or directed one
    way or the other (Tsamardinos, Brown and Aliferis, 2006).

    Examples:
        >>> chain = DAG(3, [(0, 1), (1, 2)])
        >>> structural_distance(chain, DAG(3, [(1, 0), (1, 2)]))
        0
        >>> structural_distance(chain, DAG(3, [(0, 1), (2, 1)]))
        2
    """
    kinds = []
    for dag in (one, other):
        found = cpdag(dag)
        kind = {(min(edge), max(edge)): edge for edge in found.directed}
        kinds.append({**kind, **dict.fromkeys(found.undirected, "undirected")})
    first, second = kinds
    return sum(first.get(pair) != second.get(pair) for pair in {*first, *second})


class Pattern:
    """A graph with directed and undirected edges; it can be changed in place.

    Attributes:
        into: for each variable, the mask of those with a directed edge to it.
        beside: for each variable, the mask of those with an undirected edge to it.
    """

    def __init__(self, into: list[int], beside: list[int]) -> None:
        self.into, self.beside = into, beside

    @classmethod
    def of(cls, dag: DAG) -> Pattern:
        """Return the equivalence class of a network."""
        parents = [mask_of(dag.parents(child)) for child in range(dag.num_variables)]
        return cls.of_parents(parents)

    @classmethod
    def of_parents(cls, parents: list[int]) -> Pattern:
        """Return the equivalence class of the network with these masks of parents."""
        into, beside = [0] * len(parents), [0] * len(parents)
        adjacent = _adjacent(parents)
        for child, mask in enumerate(parents):
            for parent in members(mask):
                if mask & ~(adjacent[parent] | 1 << parent):
                    into[child] |= 1 << parent  # part of a v-structure
                else:
                    beside[child] |= 1 << parent
                    beside[parent] |= 1 << child
        pattern = cls(into, beside)
        pattern.close()
        return pattern

    def copy(self) -> Pattern:
        return Pattern(self.into.copy(), self.beside.copy())

    def adjacent(self) -> list[int]:
        """Return the mask of all variables with an edge to each variable."""
        return [a | b for a, b in zip(_adjacent(self.into), self.beside, strict=True)]

    def orient(self, parent: int, child: int) -> None:
        """Direct an undirected edge."""
        self.beside[child] &= ~(1 << parent)
        self.beside[parent] &= ~(1 << child)
        self.into[child] |= 1 << parent

    def close(self) -> None:
        """Direct the edges that Meek's rules 1 to 3 determine; rule 4 needs other knowledge."""
        adjacent = self.adjacent()
        grown = True
        while grown:
            grown = False
            for child, mask in enumerate(self.beside):
                for parent in members(mask):
                    if self._is_forced(parent, child, adjacent):
                        self.orient(parent, child)
                        grown = True

    def _is_forced(self, u: int, v: int, adjacent: list[int]) -> bool:
        if self.into[u] & ~adjacent[v]:
            return True  # else w -> u <- v would be a new v-structure
        into_v = self.into[v]
        if any(self.into[w] >> u & 1 for w in members(into_v)):
            return True  # else v -> u closes a cycle
        beside = self.beside[u] & into_v
        return any(beside & ~(adjacent[w] | 1 << w) for w in members(beside))

    def extension(self) -> list[int] | None:
        """Return the parents, as masks, of a network with these edges and no new v-structure.

        None if there is none (Dor and Tarsi, 1992).
        """
        into, beside = self.into.copy(), self.beside.copy()
        adjacent = self.adjacent()
        parents, left = self.into.copy(), (1 << len(into)) - 1
        while left:
            sink = self._sink(left, into, beside, adjacent)
            if sink is None:
                return None
            parents[sink] |= beside[sink]
            gone = ~(1 << sink)
            left &= gone
            for other in members(adjacent[sink]):
                beside[other] &= gone
                adjacent[other] &= gone
            into[sink] = beside[sink] = adjacent[sink] = 0
        return parents

    @staticmethod
    def _sink(left: int, into: list[int], beside: list[int], adjacent: list[int]) -> int | None:
        """Return a variable that can be the last one: the largest, so that ties point to it."""
        for v in reversed(range(left.bit_length())):
            if not left >> v & 1:
                continue
            others = adjacent[v]
            has_child = any(into[w] >> v & 1 for w in members(others))
            if not has_child and all(
                others & ~(adjacent[w] | 1 << w) == 0 for w in members(beside[v])
            ):
                return v
        return None

    def cpdag(self) -> CPDAG:
        """Return the same edges as pairs."""
        size = len(self.into)
        directed = [(u, v) for v in range(size) for u in members(self.into[v])]
        free = [(u, v) for v in range(size) for u in members(self.beside[v]) if u < v]
        return CPDAG(size, tuple(sorted(directed)), tuple(sorted(free)))


def _adjacent(parents: list[int]) -> list[int]:
    adjacent = parents.copy()
    for child, mask in enumerate(parents):
        for parent in members(mask):
            adjacent[parent] |= 1 << child
    return adjacent
