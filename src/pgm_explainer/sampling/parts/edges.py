"""Parts made of edges, which are removed, rewired, or given the inputs of other edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...arrays import IntArray, check_name, check_optional_flag
from ...choices import Described
from ...errors import InputError
from ...graph import Graph, SampledEdges, Subgraph
from ...variables import VariableId
from ..population import Population
from ..randomness import Draws
from .base import Batch, Parts

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["EDGE_CHANGES", "EdgeParts", "Edges"]

EDGE_CHANGES = ("remove", "rewire", "attributes")


@dataclass(frozen=True)
class Edges(Described):
    """Every edge is a part.

    Attributes:
        how: ``remove`` deletes an edge; ``rewire`` gives it the source of another edge, drawn at
            random; ``attributes`` gives it the further inputs, such as ``edge_weight`` and
            ``edge_attr``, of another edge.
        undirected: whether the two directions of an edge are one part. None means True if the
            graph has the opposite of every edge, and False otherwise.

    Repeated edges between the same nodes are one part.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import Edges, PGMExplainer
        >>> def model(x, edge_index):  # the sum of what a node receives
        ...     score = np.zeros((*x.shape[:2], 2))
        ...     np.add.at(score[..., 1].T, edge_index[1], x[:, edge_index[0], 0].T)
        ...     return score
        >>> x, edges = np.array([[0.0], [2.0], [0.1]]), np.array([[1, 2], [0, 0]])
        >>> PGMExplainer(model, x, edges, num_layers=1, parts=Edges()).explain(0).effects[0].node
        (1, 0)
    """

    how: str = "remove"
    undirected: bool | None = None
    name: str = field(default="edges", init=False)

    def __post_init__(self) -> None:
        check_name(self.how, "change of edges", EDGE_CHANGES)
        check_optional_flag(self.undirected, "undirected")

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> EdgeParts:
        part_of, pairs = number_edges(graph, self.undirected)
        names = [tuple(pair) for pair in pairs.tolist()]
        return EdgeParts(graph, config, first, part_of, names, self.how)


def number_edges(graph: Graph, undirected: bool | None) -> tuple[IntArray, IntArray]:
    """Return the number of each edge's part, and the ends ``[parts, 2]`` of each part."""
    if not graph.edge_index.shape[1]:
        raise InputError("the graph has no edges, so no edge can be perturbed")
    ends: IntArray = graph.edge_index
    if undirected is None:
        undirected = graph.is_undirected
    if undirected:
        ends = np.sort(ends, axis=0)
    codes = ends[0] * graph.num_nodes + ends[1]
    unique, part_of = np.unique(codes, return_inverse=True)
    return part_of.astype(np.int64), np.stack(np.divmod(unique, graph.num_nodes), axis=1)


class EdgeParts(Parts):
    """Sets of edges.

    Args:
        part_of: the number of each edge's part, from 0; -1 for edges that are never perturbed.
        names: the label of each part.
    """

    changes_edges = True

    def __init__(
        self,
        graph: Graph,
        config: SamplingConfig,
        first: int,
        part_of: IntArray,
        names: Sequence[VariableId],
        how: str,
    ) -> None:
        self.first, self.count = first, len(names)
        self.needs_whole_graph = how == "rewire"  # the new source may be anywhere
        self.changes_edge_inputs = how == "attributes"
        self._graph, self._config = graph, config
        self._part_of, self._names, self._how = part_of, names, how

    def labels(self, parts: IntArray) -> list[VariableId]:
        return [self._names[part] for part in (parts - self.first).tolist()]

    def reaching(self, nodes: IntArray) -> IntArray:
        # This includes edges whose messages cannot reach the target: an edge into one of the
        # outermost nodes changes its degree, by which many models scale the messages it sends.
        return self._parts_of(self._graph.edges_into(nodes))

    def within(self, subgraph: Subgraph) -> IntArray:
        return self._parts_of(subgraph.edges)

    def outermost(self, parts: IntArray, nodes: IntArray) -> IntArray:
        if self._how == "rewire":  # another rewired edge may bring it closer
            return np.empty(0, dtype=np.int64)
        return np.setdiff1d(parts, self._parts_of(self._graph.edges_into(nodes)))

    def _parts_of(self, edges: IntArray) -> IntArray:
        found = np.unique(self._part_of[edges])
        return self.first + found[found >= 0]

    @cached_property
    def _odd(self) -> tuple[IntArray, IntArray]:
        """For each part, the number of edges that are repeated, and the number of self-loops."""
        source, target = self._graph.edge_index
        codes = source * self._graph.num_nodes + target
        _, first, copies = np.unique(codes, return_index=True, return_counts=True)
        first, copies = first[self._part_of[first] >= 0], copies[self._part_of[first] >= 0]
        part, loop = self._part_of[first], source[first] == target[first]
        repeated = np.bincount(part[copies > 1], minlength=self.count)
        return repeated, np.bincount(part[loop], minlength=self.count)

    def notes(self, parts: IntArray) -> Sequence[str]:
        repeated, loops = (int(some[parts - self.first].sum()) for some in self._odd)
        done = {"remove": "removed", "rewire": "rewired"}.get(self._how, "perturbed")
        found = []
        if repeated:
            found.append(
                f"{_counted(repeated, 'edge')} in edge_index more than once; all copies of an edge "
                f"are {done} together"
            )
        if loops:
            found.append(
                f"{_counted(loops, 'self-loop')} in edge_index and {done} like other edges; layers "
                f"that add missing self-loops, such as GCNConv, hide the effect of this"
            )
        return found

    def perturb(
        self,
        batch: Batch,
        subgraph: Subgraph,
        samples: IntArray,
        parts: IntArray,
        perturbed: NDArray[np.bool_],
    ) -> Batch:
        part_of = self._part_of[subgraph.edges]
        at = np.searchsorted(parts, self.first + np.maximum(part_of, 0))
        # Edges that belong to no part use an extra last column, which is always False.
        at = np.where(part_of >= 0, at, len(parts))
        hit = np.pad(perturbed, ((0, 0), (0, 1)))[:, at]
        edges = batch.edges or SampledEdges(np.ones(hit.shape, dtype=bool))
        if self._how == "remove":
            return Batch(batch.x, replace(edges, kept=edges.kept & ~hit))
        # The random number of an edge depends on its column in the graph, not on the subgraph.
        draws = Draws.grid(self._config.seed, samples, subgraph.edges)
        uniforms = draws.uniforms(self._how)[..., 0]
        if self._how == "attributes":
            donors = (uniforms * self._graph.edge_index.shape[1]).astype(np.int64)
            return Batch(batch.x, replace(edges, edges=np.where(hit, donors, subgraph.edges)))
        # If there are many graphs, the new source is a node of the same graph.
        offsets = self._graph.edge_offsets
        graph_of = np.searchsorted(offsets, subgraph.edges, side="right") - 1
        donors = offsets[graph_of] + (uniforms * np.diff(offsets)[graph_of]).astype(np.int64)
        ends = np.repeat(subgraph.edge_index[None], len(samples), axis=0)
        source = 1 if self._graph.flow == "target_to_source" else 0
        new = subgraph.positions(self._graph.edge_index[source][donors])
        ends[:, source] = np.where(hit, new, ends[:, source])
        return Batch(batch.x, replace(edges, edge_index=ends))


def _counted(count: int, what: str) -> str:
    return f"{count} {what} is" if count == 1 else f"{count} {what}s are"
