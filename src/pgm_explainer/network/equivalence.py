"""I-equivalence classes of networks."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError
from ..limits import brief
from ..structure import DAG

__all__ = ["CPDAG", "cpdag", "equivalent"]

Edge = tuple[int, int]


@dataclass(frozen=True)
class CPDAG:
    """The equivalence class of a network.

    Attributes:
        directed: edges that every network of the class has.
        undirected: edges whose direction differs within the class, smaller variable first.

    Examples:
        >>> from pgm_explainer.network import CPDAG
        >>> CPDAG(3, directed=((0, 2), (1, 2)), undirected=()).directed
        ((0, 2), (1, 2))
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
    adjacent: set[Edge] = {pair for u, v in dag.edges for pair in ((u, v), (v, u))}
    directed = {
        (parent, child)
        for child in range(dag.num_variables)
        for parent in dag.parents(child)
        if any(other != parent and (other, parent) not in adjacent for other in dag.parents(child))
    }
    grown = True
    while grown:
        open_edges = [e for e in sorted(adjacent) if e not in directed and e[::-1] not in directed]
        forced = {e for e in open_edges if _forced(e, directed, adjacent, dag.num_variables)}
        directed |= forced
        grown = bool(forced)
    free = {(u, v) for u, v in adjacent - directed if (v, u) not in directed and u < v}
    return CPDAG(dag.num_variables, tuple(sorted(directed)), tuple(sorted(free)))


def _forced(edge: Edge, directed: set[Edge], adjacent: set[Edge], size: int) -> bool:
    """Apply Meek's rules 1 to 3; the fourth is needed only with background knowledge."""
    u, v = edge
    into_v = [w for w in range(size) if (w, v) in directed]
    if any((w, u) in directed and (w, v) not in adjacent for w in range(size)):
        return True  # else w -> u <- v would be a new v-structure
    if any((u, w) in directed for w in into_v):
        return True  # else v -> u closes a cycle
    beside = [w for w in into_v if (u, w) in adjacent and (w, u) not in directed]
    return any((a, b) not in adjacent for a in beside for b in beside if a < b)


def equivalent(one: DAG, other: DAG) -> bool:
    """Return whether two networks imply the same independences.

    Examples:
        >>> from pgm_explainer.network import equivalent
        >>> from pgm_explainer.structure import DAG
        >>> equivalent(DAG(2, [(0, 1)]), DAG(2, [(1, 0)]))  # an arrow alone has no direction
        True
    """
    return cpdag(one) == cpdag(other)
