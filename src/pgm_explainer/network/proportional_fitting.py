"""Maximum likelihood of Markov networks that are not chordal: iterative proportional fitting.

Each potential in turn is scaled so that its marginal equals the observed frequencies, until all
agree. The marginals come from a junction tree of the triangulated graph: a tour of the tree visits
every clique, and only the messages along the tour are renewed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..structure import UndirectedGraph
from .clique_table import check_cells
from .factors import Factor, multiply

__all__ = ["fit_proportionally"]

Values = NDArray[np.float64]
_CONVERGED = 1e-10
_MOST_TOURS, _FEWEST_TOURS = 2000, 20
_MOST_WORK = 1 << 28
"""The number of table entries that all tours together may visit, after the minimum of tours."""


def fit_proportionally(
    graph: UndirectedGraph,
    scopes: Sequence[tuple[int, ...]],
    counts: Sequence[NDArray[np.int64]],
    sizes: Sequence[int],
    smoothing: float,
) -> list[Values]:
    """Return potentials for the given scopes whose marginals are the observed frequencies.

    Args:
        graph: a graph with the scopes as cliques.
        scopes: the variables of each potential, ascending.
        counts: the number of samples of each joint state of a scope.
        sizes: the number of states of each variable.
        smoothing: pseudocount for every joint state of the largest scope; smaller scopes get the
            same total, so that their frequencies agree.
    """
    extra = smoothing * max(each.size for each in counts)
    wanted = [(each + extra / each.size) / (each.sum() + extra) for each in counts]
    return _Fit(graph, scopes, wanted, sizes).run()


class _Fit:
    """Potentials, the product of those in each clique of a junction tree, and messages."""

    def __init__(
        self,
        graph: UndirectedGraph,
        scopes: Sequence[tuple[int, ...]],
        wanted: Sequence[Values],
        sizes: Sequence[int],
    ) -> None:
        self._cliques = graph.triangulated().cliques
        for clique in self._cliques:
            check_cells([sizes[at] for at in clique], f"a clique of {len(clique)} variables")
        self._scopes, self._wanted = scopes, wanted
        self._near = _junction_tree(self._cliques)
        self._potentials = list(_uniform(scopes, sizes))
        self._inside: list[list[int]] = [[] for _ in self._cliques]
        for at, scope in enumerate(scopes):
            home = next(c for c, each in enumerate(self._cliques) if set(scope) <= set(each))
            self._inside[home].append(at)
        ones = [np.ones([sizes[at] for at in clique]) for clique in self._cliques]
        self._products = [Factor(*each) for each in zip(self._cliques, ones, strict=True)]
        for home, members in enumerate(self._inside):
            for at in members:
                self._scale(home, at, self._potentials[at])
        self._messages: dict[tuple[int, int], Factor] = {}

    def run(self) -> list[Values]:
        tour = list(_tour(self._near))
        outward: set[tuple[int, int]] = set()
        for here, there in tour:  # first, all messages towards the root
            if (there, here) in outward:
                self._send(here, there)
            outward.add((here, there))
        work = sum(each.values.size for each in self._products)
        for _ in range(min(_MOST_TOURS, max(_FEWEST_TOURS, _MOST_WORK // work))):
            furthest = self._fit(0)
            for here, there in tour:
                self._send(here, there)
                furthest = max(furthest, self._fit(there))
            if furthest < _CONVERGED:
                break
        return self._potentials

    def _fit(self, clique: int) -> float:
        """Scale the potentials of a clique, and return how far their marginals were off."""
        furthest = 0.0
        for at in self._inside[clique]:
            now = multiply(self._known(clique), self._scopes[at])
            furthest = max(furthest, float(abs(now - self._wanted[at]).max()))
            ratio = np.divide(self._wanted[at], now, out=np.zeros_like(now), where=now > 0)
            self._potentials[at] = self._potentials[at] * ratio
            self._scale(clique, at, ratio)
        return furthest

    def _scale(self, clique: int, at: int, ratio: Values) -> None:
        members = self._cliques[clique]
        shape = [
            size if each in self._scopes[at] else 1
            for each, size in zip(members, self._products[clique].values.shape, strict=True)
        ]
        values = self._products[clique].values * ratio.reshape(shape)
        self._products[clique] = Factor(members, values)

    def _known(self, clique: int, but: int = -1) -> list[Factor]:
        """Return the product of a clique and of the messages from all neighbours but one."""
        others = [each for each in self._near[clique] if each != but]
        return [self._products[clique], *(self._messages[each, clique] for each in others)]

    def _send(self, here: int, there: int) -> None:
        shared = tuple(at for at in self._cliques[here] if at in self._cliques[there])
        self._messages[here, there] = Factor(shared, multiply(self._known(here, there), shared))


def _uniform(scopes: Sequence[tuple[int, ...]], sizes: Sequence[int]) -> Iterator[Values]:
    """Yield potentials whose product is uniform: each is scaled for the variables it adds."""
    seen: set[int] = set()
    for scope in scopes:
        new = prod(sizes[at] for at in scope if at not in seen)
        seen |= set(scope)
        yield np.full([sizes[at] for at in scope], 1 / new)


def _junction_tree(cliques: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """Return the neighbours of each clique in a tree with the largest separators (Prim)."""
    near: list[list[int]] = [[] for _ in cliques]
    sets = [set(clique) for clique in cliques]
    closest = {at: (len(sets[at] & sets[0]), 0) for at in range(1, len(cliques))}
    while closest:
        chosen = max(closest, key=lambda at: (closest[at][0], -at))
        _, parent = closest.pop(chosen)
        near[parent].append(chosen)
        near[chosen].append(parent)
        for at, (shared, _) in closest.items():
            if len(sets[at] & sets[chosen]) > shared:
                closest[at] = (len(sets[at] & sets[chosen]), chosen)
    return near


def _tour(near: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield the steps of a walk along every edge and back, from the first clique."""
    path, waiting = [0], [list(near[0])]
    while path:
        if waiting[-1]:
            here, there = path[-1], waiting[-1].pop(0)
            yield here, there
            path.append(there)
            waiting.append([each for each in near[there] if each != here])
        else:
            left = path.pop()
            waiting.pop()
            if path:
                yield left, path[-1]
