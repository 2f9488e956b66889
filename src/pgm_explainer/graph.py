"""The graph messages flow along: who can reach whom, and how to cut a part out of it exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import IntArray

__all__ = ["FLOWS", "Graph", "Subgraph"]

FLOWS = ("source_to_target", "target_to_source", "both")
"""Which way messages go along an edge, as PyTorch Geometric calls it; or both ways."""

_NEARLY_ALL = 0.8


@dataclass(frozen=True)
class Subgraph:
    """A part of the graph, with its nodes renumbered from 0 in the order of ``nodes``.

    Attributes:
        nodes: ids in the whole graph, ascending.
        edge_index: ``[2, e]``, in the part's own numbering, in the caller's order.
        edges: for each of those edges, its column in the caller's ``edge_index``.
        whole_nodes, whole_edges: how many of each the whole graph has.
    """

    nodes: IntArray
    edge_index: IntArray
    edges: IntArray
    whole_nodes: int
    whole_edges: int

    @property
    def is_whole(self) -> bool:
        """Whether the part is all of the graph."""
        return (len(self.nodes), len(self.edges)) == (self.whole_nodes, self.whole_edges)

    def positions(self, nodes: IntArray) -> IntArray:
        """Return the positions in ``self.nodes`` of nodes given by their ids."""
        return np.searchsorted(self.nodes, nodes)


@dataclass(frozen=True)
class _Incidence:
    """The edges at each node, as one array with an offset per node.

    Of a large graph these are the largest arrays we make, so they take the smallest type that does.
    """

    offsets: NDArray[np.integer[Any]]
    edges: NDArray[np.integer[Any]]

    @classmethod
    def of(cls, endpoints: IntArray, num_nodes: int) -> _Incidence:
        counts = np.bincount(endpoints, minlength=num_nodes)
        small = np.min_scalar_type(-1 - len(endpoints))
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(small)
        return cls(offsets, np.argsort(endpoints, kind="stable").astype(small))

    def with_counts(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return all edges at ``nodes``, and how many there are at each.

        The rest of the graph is not touched.
        """
        starts = self.offsets[nodes].astype(np.int64)
        counts = self.offsets[nodes + 1] - starts
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.edges[np.repeat(starts, counts) + within].astype(np.int64), counts

    def at(self, nodes: IntArray) -> IntArray:
        """Return all edges at ``nodes``."""
        return self.with_counts(nodes)[0]


class Graph:
    """Directed edges, indexed once, so that asking for a neighbourhood costs only its own size.

    Duplicate edges and self-loops are kept as they are: the model may count them.

    Args:
        edge_index: ``[2, E]``, the source row first.
        num_nodes: N.
        flow: which way messages go, one of :data:`FLOWS`.

    Examples:
        >>> path = Graph(np.array([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> path.within_hops(np.array([3]), 2).tolist()
        [1, 2, 3]
    """

    def __init__(
        self, edge_index: IntArray, num_nodes: int, flow: str = "source_to_target"
    ) -> None:
        self.edge_index = edge_index
        self.num_nodes = num_nodes
        self.flow = flow

    @cached_property
    def _messages(self) -> IntArray:
        """Senders and receivers ``[2, M]``; column m is about edge m modulo E."""
        if self.flow == "both":
            return np.concatenate((self.edge_index, self.edge_index[::-1]), axis=1)
        return self.edge_index if self.flow == "source_to_target" else self.edge_index[::-1]

    @cached_property
    def _incoming(self) -> _Incidence:
        return _Incidence.of(self._messages[1], self.num_nodes)

    @cached_property
    def _outgoing(self) -> _Incidence:
        return _Incidence.of(self._messages[0], self.num_nodes)

    def _edges_of(self, messages: IntArray) -> IntArray:
        """The edges, ascending, that messages go along."""
        return np.unique(messages % max(1, self.edge_index.shape[1]))

    @property
    def in_neighbours(self) -> tuple[NDArray[np.integer[Any]], NDArray[np.int32]]:
        """Who sends to each node: where its senders begin, and all senders."""
        senders: NDArray[np.int32] = self._messages[0].astype(np.int32)[self._incoming.edges]
        return self._incoming.offsets, senders

    @property
    def in_degrees(self) -> IntArray:
        """How many messages each node receives."""
        return np.diff(self._incoming.offsets)

    def senders(self, node: int) -> IntArray:
        """Return who sends to a node, once for each message."""
        return self._messages[0, self._incoming.at(np.array([node]))]

    def within_hops(self, nodes: IntArray, hops: int) -> IntArray:
        """Return, ascending, every node whose messages reach ``nodes`` in at most ``hops`` steps.

        The nodes themselves are among them.
        """
        # A fresh array of zeros costs only the pages that are touched, so this stays local.
        seen = np.zeros(self.num_nodes, dtype=bool)
        frontier = np.unique(nodes)
        seen[frontier] = True
        reached = [frontier]
        for _ in range(hops):
            sources = self._messages[0, self._incoming.at(frontier)]
            frontier = np.unique(sources[~seen[sources]])
            if not len(frontier):
                break
            seen[frontier] = True
            reached.append(frontier)
        return np.sort(np.concatenate(reached))

    def visits(self, start: IntArray, nodes: IntArray, steps: int) -> NDArray[np.float64]:
        """Return how often walks, one from each of ``start``, come by each of ``nodes`` on average.

        A walk goes from a node along any of the edges that lead to it, all as likely, against the
        messages; it begins with a visit.

        Args:
            start: where walks begin.
            nodes: ascending; with ``start``, all that lie within so many steps of it.
            steps: how long walks are.

        Examples:
            >>> path = Graph(np.array([[0, 1, 2, 1], [1, 2, 3, 3]]), num_nodes=4)
            >>> path.visits(np.array([3]), np.array([0, 1, 2]), steps=2).tolist()
            [0.5, 1.0, 0.5]
        """
        around = np.sort(np.concatenate((nodes, start)))  # whoever is there twice is found first
        here = np.zeros(len(around))
        here[np.searchsorted(around, start)] = 1
        visits = here.copy()
        for _ in range(steps):
            walkers = np.flatnonzero(here)
            if not len(walkers):
                break
            messages, counts = self._incoming.with_counts(around[walkers])
            moved = np.repeat(here[walkers] / np.maximum(counts, 1), counts)
            places = np.searchsorted(around, self._messages[0, messages])
            here = np.asarray(np.bincount(places, moved, len(around)), dtype=np.float64)
            visits += here
        return visits[np.searchsorted(around, nodes)]

    def cut(self, nodes: IntArray, hops: int) -> Subgraph:
        """Cut out what a model of ``hops`` layers needs to predict ``nodes`` as it would in full.

        The part holds every edge that touches a node within ``hops`` of ``nodes``, at either end:
        the outermost nodes are there only so that everyone further in keeps its degree. If that is
        nearly all of the graph, it is the whole graph.
        """
        inner = self.within_hops(nodes, hops)
        if len(inner) > _NEARLY_ALL * self.num_nodes:  # then cutting saves less than it costs
            return self.whole
        touching = np.concatenate((self._incoming.at(inner), self._outgoing.at(inner)))
        edges = self._edges_of(touching)
        ends = self.edge_index[:, edges]
        kept = np.union1d(inner, ends)
        return self._part(kept, np.searchsorted(kept, ends), edges)

    def outside(self, part: Subgraph) -> IntArray:
        """Return one node that is not in a part; none if the part holds them all."""
        gaps = np.flatnonzero(part.nodes != np.arange(len(part.nodes)))
        first = gaps[:1] if len(gaps) else np.array([len(part.nodes)])
        return first[first < self.num_nodes]

    def induced(self, nodes: IntArray) -> Subgraph:
        """Return ``nodes`` (ascending) and the edges among them."""
        edges = self._edges_of(self._incoming.at(nodes))
        ends = self.edge_index[:, edges]
        inside = np.isin(ends, nodes).all(axis=0)
        return self._part(nodes, np.searchsorted(nodes, ends[:, inside]), edges[inside])

    @cached_property
    def whole(self) -> Subgraph:
        """The graph as a part of itself; a copy, since the edges here are the caller's."""
        everything: NDArray[np.int64] = np.arange(self.num_nodes)
        edges = np.arange(self.edge_index.shape[1])
        return self._part(everything, np.array(self.edge_index), edges)

    def _part(self, nodes: IntArray, edge_index: IntArray, edges: IntArray) -> Subgraph:
        return Subgraph(nodes, edge_index, edges, self.num_nodes, self.edge_index.shape[1])
