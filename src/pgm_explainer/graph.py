"""The graph along which messages are passed, with receptive fields and exact subgraphs.

Examples:
    >>> from pgm_explainer.graph import FLOWS
    >>> FLOWS  # in which direction messages pass along an edge
    ('source_to_target', 'target_to_source', 'both')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import IntArray, check_whole_number

__all__ = ["FLOWS", "Graph", "SampledEdges", "Subgraph"]

FLOWS = ("source_to_target", "target_to_source", "both")
"""The direction of messages along an edge, as named by PyTorch Geometric; or both directions."""

_NEARLY_ALL = 0.8


@dataclass(frozen=True)
class Subgraph:
    """A subgraph, with its nodes relabelled from 0 in the order of ``nodes``.

    Attributes:
        nodes: indices in the whole graph, ascending.
        edge_index: ``[2, e]``, with relabelled nodes, in the original order.
        edges: the column of each edge in the ``edge_index`` of the whole graph.
        whole_nodes, whole_edges: the numbers of nodes and edges in the whole graph.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.graph import Graph
        >>> graph = Graph(np.array([[0, 1, 2], [1, 2, 3]]), 4)
        >>> whole = graph.whole
        >>> whole.nodes.tolist(), whole.edge_index.tolist()
        ([0, 1, 2, 3], [[0, 1, 2], [1, 2, 3]])
    """

    nodes: IntArray
    edge_index: IntArray
    edges: IntArray
    whole_nodes: int
    whole_edges: int

    @property
    def is_whole(self) -> bool:
        """Whether this is the whole graph."""
        return (len(self.nodes), len(self.edges)) == (self.whole_nodes, self.whole_edges)

    def positions(self, nodes: IntArray) -> IntArray:
        """Return the positions in ``self.nodes`` of nodes given by their indices."""
        return np.searchsorted(self.nodes, nodes)


@dataclass(frozen=True, eq=False)
class SampledEdges:
    """The edges of a subgraph in each sample of a batch.

    Attributes:
        kept: ``[B, e]``, whether the sample has the edge.
        edge_index: the ends of the edges, ``[B, 2, e]``; None for those of the subgraph.
        edges: the column of the whole graph's ``edge_index`` from which an edge takes its further
            inputs, such as a weight, ``[B, e]``; None for its own.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.graph import SampledEdges
        >>> batch = SampledEdges(np.array([[True, False], [True, True]]))
        >>> batch.kept.sum(axis=1).tolist()
        [1, 2]
    """

    kept: NDArray[np.bool_]
    edge_index: IntArray | None = None
    edges: IntArray | None = None

    def __len__(self) -> int:
        return len(self.kept)

    def flat(
        self, part: Subgraph, order: IntArray | None = None
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return the sample, the ends ``[2, M]`` and the column of each edge of all samples.

        Args:
            order: the order of the edges within a sample; None for that of the subgraph.
        """
        sample, at = np.nonzero(self.kept if order is None else self.kept[:, order])
        at = at if order is None else order[at]
        ends = part.edge_index[:, at]
        if self.edge_index is not None:
            ends = self.edge_index[sample, :, at].T
        return sample, ends, part.edges[at] if self.edges is None else self.edges[sample, at]

    @property
    def only_removed(self) -> bool:
        """Whether samples differ only in which edges they lack."""
        return self.edge_index is None and self.edges is None

    def with_more_removed(self, further: int) -> SampledEdges:
        """Return these samples and further ones, in which half of all edges are removed."""
        random = np.random.default_rng(0).random((further, self.kept.shape[1]))
        return SampledEdges(np.concatenate((self.kept, random < 0.5)))

    def first(self, count: int) -> SampledEdges:
        """Return the edges of the first samples."""
        return self._at(slice(count))

    def _at(self, some: slice) -> SampledEdges:
        ends = None if self.edge_index is None else self.edge_index[some]
        return SampledEdges(self.kept[some], ends, None if self.edges is None else self.edges[some])

    @classmethod
    def joined(cls, some: Sequence[SampledEdges]) -> SampledEdges:
        """Return the edges of several batches as one; all batches must have the same arrays."""
        ends = [each.edge_index for each in some if each.edge_index is not None]
        edges = [each.edges for each in some if each.edges is not None]
        return cls(
            np.concatenate([each.kept for each in some]),
            np.concatenate(ends) if ends else None,
            np.concatenate(edges) if edges else None,
        )

    @property
    def columns(self) -> list[NDArray[Any]]:
        """What can differ between samples, as arrays ``[B, e]``; the first marks removed edges."""
        ends = [] if self.edge_index is None else [*self.edge_index.transpose(1, 0, 2)]
        return [~self.kept, *ends, *([] if self.edges is None else [self.edges])]

    def mixed(self, samples: IntArray) -> SampledEdges:
        """Return new samples; ``samples [n, e]`` says from which sample each edge is taken."""
        at = np.arange(samples.shape[1])
        ends = None
        if self.edge_index is not None:
            ends = np.stack([each[samples, at] for each in self.edge_index.transpose(1, 0, 2)], 1)
        edges = None if self.edges is None else self.edges[samples, at]
        return SampledEdges(self.kept[samples, at], ends, edges)

    def of_sample(self, part: Subgraph, sample: int) -> Subgraph:
        """Return the subgraph of one sample."""
        _, edge_index, edges = self._at(slice(sample, sample + 1)).flat(part)
        return Subgraph(
            part.nodes,
            np.ascontiguousarray(edge_index),
            edges,
            part.whole_nodes,
            part.whole_edges,
        )


def _distinct(values: IntArray) -> IntArray:
    """Return the distinct values, ascending; for few values several times as fast as np.unique."""
    ascending = np.sort(values, axis=None)
    return ascending[np.append(True, ascending[1:] != ascending[:-1])[: len(ascending)]]


@dataclass(frozen=True)
class _Incidence:
    """The edges at each node, in compressed sparse row form.

    These are the largest arrays for a large graph, so they have the smallest sufficient type.
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
        """Return all edges at ``nodes``, and their number at each node.

        The cost does not depend on the size of the graph.
        """
        starts = self.offsets[nodes].astype(np.int64)
        counts = self.offsets[nodes + 1] - starts
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.edges[np.repeat(starts, counts) + within].astype(np.int64), counts

    def at(self, nodes: IntArray) -> IntArray:
        """Return all edges at ``nodes``."""
        return self.with_counts(nodes)[0]


class Graph:
    """A directed graph with an index, so that the cost of a neighbourhood depends on its size only.

    Duplicate edges and self-loops are kept, as they may affect the model.

    Args:
        edge_index: ``[2, E]``, the source row first.
        num_nodes: N.
        flow: the direction of messages, one of :data:`FLOWS`.
        offsets: if these are several graphs without edges between them, the first node of each,
            and N. The edges are in the order of the graphs.

    Examples:
        >>> path = Graph(np.array([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> path.within_hops(np.array([3]), 2).tolist()
        [1, 2, 3]
    """

    def __init__(
        self,
        edge_index: IntArray,
        num_nodes: int,
        flow: str = "source_to_target",
        offsets: IntArray | None = None,
    ) -> None:
        self.edge_index = edge_index
        self.num_nodes = check_whole_number(num_nodes, "num_nodes", at_least=0)
        self.flow = flow
        self.offsets = np.array([0, num_nodes]) if offsets is None else offsets

    @cached_property
    def _messages(self) -> IntArray:
        """Senders and receivers ``[2, M]``; message m goes along edge m modulo E."""
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
        """Return the edges that messages go along, ascending."""
        return _distinct(messages % max(1, self.edge_index.shape[1]))

    @property
    def in_neighbours(self) -> tuple[NDArray[np.integer[Any]], NDArray[np.int32]]:
        """The senders to each node in compressed sparse row form: offsets and senders."""
        senders: NDArray[np.int32] = self._messages[0].astype(np.int32)[self._incoming.edges]
        return self._incoming.offsets, senders

    @property
    def in_degrees(self) -> IntArray:
        """The number of messages that each node receives."""
        return np.diff(self._incoming.offsets)

    @cached_property
    def is_undirected(self) -> bool:
        """Whether the graph has the opposite of every edge."""
        source, target = self.edge_index
        codes = np.unique(source * self.num_nodes + target)
        return bool(np.array_equal(codes, np.unique(target * self.num_nodes + source)))

    @property
    def num_graphs(self) -> int:
        """The number of graphs, which is 1 unless ``offsets`` were given."""
        return len(self.offsets) - 1

    @cached_property
    def edge_offsets(self) -> IntArray:
        """The first edge of each graph, and the number of all edges."""
        graph_of = np.searchsorted(self.offsets, self.edge_index[0], side="right") - 1
        return np.searchsorted(graph_of, np.arange(self.num_graphs + 1))

    def edges_into(self, nodes: IntArray) -> IntArray:
        """Return the edges along which any of ``nodes`` receive messages, ascending."""
        return self._edges_of(self._incoming.at(nodes))

    def senders(self, node: int) -> IntArray:
        """Return the senders to a node, one for each message."""
        return self._messages[0, self._incoming.at(np.array([node]))]

    def within_hops(self, nodes: IntArray, hops: int) -> IntArray:
        """Return the nodes whose messages reach ``nodes`` in at most ``hops`` steps, ascending.

        They include ``nodes``.
        """
        # np.zeros allocates only the pages that are written, so the cost stays local.
        seen = np.zeros(self.num_nodes, dtype=bool)
        frontier = _distinct(nodes)
        seen[frontier] = True
        reached = [frontier]
        for _ in range(hops):
            sources = self._messages[0, self._incoming.at(frontier)]
            frontier = _distinct(sources[~seen[sources]])
            if not len(frontier):
                break
            seen[frontier] = True
            reached.append(frontier)
        return np.sort(np.concatenate(reached))

    def visits(self, start: IntArray, nodes: IntArray, steps: int) -> NDArray[np.float64]:
        """Return the expected number of visits to each of ``nodes`` by random walks from ``start``.

        One walk starts at each node of ``start``, which counts as a visit. Each step goes against
        the direction of messages along a uniformly chosen edge.

        Args:
            start: the first nodes of the walks.
            nodes: the nodes whose visits are counted, ascending. Together with ``start``, these
                must be all nodes within ``steps`` hops.
            steps: the length of walks.

        Examples:
            >>> path = Graph(np.array([[0, 1, 2, 1], [1, 2, 3, 3]]), num_nodes=4)
            >>> path.visits(np.array([3]), np.array([0, 1, 2]), steps=2).tolist()
            [0.5, 1.0, 0.5]
        """
        around = np.sort(np.concatenate((nodes, start)))  # searchsorted finds the first duplicate
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
        """Return the subgraph on which a model of ``hops`` layers predicts ``nodes`` exactly.

        The subgraph has all edges with an end within ``hops`` of ``nodes``. The outermost nodes are
        included only to preserve the degrees of the others. If this is nearly the whole graph, the
        whole graph is returned.
        """
        inner = self.within_hops(nodes, hops)
        if len(inner) > _NEARLY_ALL * self.num_nodes:  # cutting would cost more than it saves
            return self.whole
        touching = np.concatenate((self._incoming.at(inner), self._outgoing.at(inner)))
        edges = self._edges_of(touching)
        ends = self.edge_index[:, edges]
        kept = _distinct(np.append(inner, ends))
        place = np.empty(self.num_nodes, dtype=np.int64)  # only the entries of nodes are written
        place[kept] = np.arange(len(kept))
        return self._part(kept, place[ends], edges)

    def outside(self, part: Subgraph) -> IntArray:
        """Return one node outside a subgraph, as an array; empty if the subgraph has all nodes."""
        gaps = np.flatnonzero(part.nodes != np.arange(len(part.nodes)))
        first = gaps[:1] if len(gaps) else np.array([len(part.nodes)])
        return first[first < self.num_nodes]

    def induced(self, nodes: IntArray) -> Subgraph:
        """Return the subgraph induced by ``nodes`` (ascending)."""
        edges = self._edges_of(self._incoming.at(nodes))
        ends = self.edge_index[:, edges]
        inside = np.isin(ends, nodes).all(axis=0)
        return self._part(nodes, np.searchsorted(nodes, ends[:, inside]), edges[inside])

    def component(self, first: int, stop: int) -> Graph:
        """Return the nodes from ``first`` to ``stop`` as a separate graph."""
        part = self.induced(np.arange(first, stop))
        return Graph(part.edge_index, stop - first, self.flow)

    @cached_property
    def whole(self) -> Subgraph:
        """The whole graph as a subgraph, with a copy of the caller's edges."""
        everything: NDArray[np.int64] = np.arange(self.num_nodes)
        edges = np.arange(self.edge_index.shape[1])
        return self._part(everything, np.array(self.edge_index), edges)

    def _part(self, nodes: IntArray, edge_index: IntArray, edges: IntArray) -> Subgraph:
        return Subgraph(nodes, edge_index, edges, self.num_nodes, self.edge_index.shape[1])
