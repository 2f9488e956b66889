"""Tasks: the explained prediction is that of a node, of a pair of nodes, or of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..arrays import FloatArray, IntArray, as_list, check_node
from ..errors import InputError
from ..graph import Graph, SampledEdges, Subgraph
from ..predictors import Predictor
from ..variables import GRAPH, VariableId

__all__ = [
    "TASKS",
    "GraphOutput",
    "NodeOutputs",
    "Outputs",
    "PairOutputs",
    "PairTask",
    "Task",
    "query_predictor",
]


class Outputs(Protocol):
    """The recorded outputs of a model, and how to query them."""

    @property
    def belong_to_nodes(self) -> bool:
        """Whether each prediction belongs to a recorded node, and is part of its variable."""
        ...

    def query(
        self, predictor: Predictor, x: FloatArray, subgraph: Subgraph, edges: SampledEdges | None
    ) -> Any:
        """Return the model's output for features ``x [B, n, F]``."""
        ...

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        """Return the required shape of the output without its last dimension."""
        ...

    def take(self, scores: FloatArray) -> FloatArray:
        """Select the recorded scores from the output, as ``[B, predictions, C]``."""
        ...

    def graphs(self, nodes: int) -> tuple[IntArray, IntArray] | None:
        """Return the graph of each node and of each prediction; None if these are not of graphs.

        A prediction of a graph depends on all nodes of that graph, and on no others.
        """
        ...


def query_predictor(
    predictor: Predictor,
    x: FloatArray,
    subgraph: Subgraph,
    edges: SampledEdges | None,
    *pairs: IntArray,
) -> Any:
    """Return the output for features ``x [B, n, F]``, with the edges of each sample if given."""
    if edges is None:
        return predictor(x, subgraph, *pairs)
    return predictor.on_edges(x, subgraph, edges, *pairs)


@dataclass(frozen=True)
class NodeOutputs:
    """The predictions of some nodes, given by their positions in the subgraph."""

    rows: IntArray
    belong_to_nodes: bool = True

    def query(
        self, predictor: Predictor, x: FloatArray, subgraph: Subgraph, edges: SampledEdges | None
    ) -> Any:
        return query_predictor(predictor, x, subgraph, edges)

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples, nodes)

    def take(self, scores: FloatArray) -> FloatArray:
        if len(self.rows) == scores.shape[1]:  # all rows: avoid a copy of a large array
            return scores
        return scores[:, self.rows]

    def graphs(self, nodes: int) -> tuple[IntArray, IntArray] | None:
        return None


@dataclass(frozen=True)
class GraphOutput:
    """The one prediction of the whole graph."""

    belong_to_nodes: bool = False

    def query(
        self, predictor: Predictor, x: FloatArray, subgraph: Subgraph, edges: SampledEdges | None
    ) -> Any:
        return query_predictor(predictor, x, subgraph, edges)

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples,)

    def take(self, scores: FloatArray) -> FloatArray:
        return scores[:, None]

    def graphs(self, nodes: int) -> tuple[IntArray, IntArray] | None:
        return np.zeros(nodes, dtype=np.int64), np.zeros(1, dtype=np.int64)


@dataclass(frozen=True)
class PairOutputs:
    """The predictions of pairs of nodes ``[2, P]``, given by their positions in the subgraph."""

    pairs: IntArray
    belong_to_nodes: bool = False

    def query(
        self, predictor: Predictor, x: FloatArray, subgraph: Subgraph, edges: SampledEdges | None
    ) -> Any:
        return query_predictor(predictor, x, subgraph, edges, self.pairs)

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples, self.pairs.shape[1])

    def take(self, scores: FloatArray) -> FloatArray:
        return scores

    def graphs(self, nodes: int) -> tuple[IntArray, IntArray] | None:
        return None


class Task(Protocol):
    """The differences between explaining nodes, pairs of nodes and graphs."""

    @property
    def name(self) -> str: ...

    @property
    def separate(self) -> bool:
        """Whether targets are separate graphs, each of which is needed whole."""
        ...

    def check(self, target: Any, graph: Graph) -> VariableId:
        """Return the id of the target's variable, or raise an InputError."""
        ...

    def ends(self, target: VariableId) -> IntArray:
        """Return the nodes of a target; empty for a graph."""
        ...

    def candidates(self, target: VariableId, graph: Graph, hops: int) -> IntArray:
        """Return the nodes that may explain the target, ascending."""
        ...

    def target_at(self, node: int, graph: Graph) -> VariableId:
        """Return a target that includes a node."""
        ...

    def centre(self, targets: Sequence[VariableId], recorded: IntArray) -> IntArray | None:
        """Return the nodes whose predictions are recorded; None if the whole graph is needed."""
        ...

    def outputs(
        self, targets: Sequence[VariableId], recorded: IntArray, subgraph: Subgraph
    ) -> tuple[Outputs, Sequence[VariableId]]:
        """Return the outputs that are recorded on a subgraph, and the variable of each."""
        ...


@dataclass(frozen=True)
class NodeTask:
    """Node predictions; each recorded node's prediction is part of its variable."""

    name: str = "node"
    separate: bool = False

    def check(self, target: Any, graph: Graph) -> VariableId:
        if target is None:
            raise InputError("a node task requires a target; call explain(node)")
        return check_node(target, graph.num_nodes)

    def ends(self, target: VariableId) -> IntArray:
        return np.array([target], dtype=np.int64)

    def candidates(self, target: VariableId, graph: Graph, hops: int) -> IntArray:
        reached = graph.within_hops(self.ends(target), hops)
        return reached[reached != target]

    def target_at(self, node: int, graph: Graph) -> VariableId:
        return node

    def centre(self, targets: Sequence[VariableId], recorded: IntArray) -> IntArray | None:
        return recorded

    def outputs(
        self, targets: Sequence[VariableId], recorded: IntArray, subgraph: Subgraph
    ) -> tuple[Outputs, Sequence[VariableId]]:
        return NodeOutputs(subgraph.positions(recorded)), recorded.tolist()


@dataclass(frozen=True)
class PairTask:
    """Predictions for pairs of nodes, such as links; both nodes are candidates too.

    Attributes:
        sources: the nodes that may be the first of a pair; None for all.
    """

    name: str = "edge"
    separate: bool = False
    sources: range | None = None

    def check(self, target: Any, graph: Graph) -> VariableId:
        if target is None:
            raise InputError("an edge task requires a target; call explain((u, v))")
        ends = as_list(target) or []
        if len(ends) != 2:
            raise InputError(
                f"the target of an edge task must be a pair of nodes (u, v), not {target!r}"
            )
        return tuple(check_node(end, graph.num_nodes) for end in ends)

    def ends(self, target: VariableId) -> IntArray:
        return np.array(target, dtype=np.int64)

    def candidates(self, target: VariableId, graph: Graph, hops: int) -> IntArray:
        return graph.within_hops(self.ends(target), hops)

    def target_at(self, node: int, graph: Graph) -> VariableId:
        senders = graph.senders(node).tolist()
        if self.sources is None:
            return (senders[0] if senders else node, node)
        return (next(filter(self.sources.__contains__, senders), self.sources.start), node)

    def centre(self, targets: Sequence[VariableId], recorded: IntArray) -> IntArray | None:
        return np.unique(np.array(targets, dtype=np.int64))

    def outputs(
        self, targets: Sequence[VariableId], recorded: IntArray, subgraph: Subgraph
    ) -> tuple[Outputs, Sequence[VariableId]]:
        return PairOutputs(subgraph.positions(np.array(targets, dtype=np.int64).T)), targets


@dataclass(frozen=True)
class GraphTask:
    """The prediction of the whole graph, for which every node is a candidate."""

    name: str = "graph"
    separate: bool = False

    def check(self, target: Any, graph: Graph) -> VariableId:
        if target is not None:
            raise InputError(
                f"a graph task has no target, but {target!r} was passed; call explain() without a "
                f"target"
            )
        return GRAPH

    def ends(self, target: VariableId) -> IntArray:
        return np.empty(0, dtype=np.int64)

    def candidates(self, target: VariableId, graph: Graph, hops: int) -> IntArray:
        return np.arange(graph.num_nodes)

    def target_at(self, node: int, graph: Graph) -> VariableId:
        return GRAPH

    def centre(self, targets: Sequence[VariableId], recorded: IntArray) -> IntArray | None:
        return None

    def outputs(
        self, targets: Sequence[VariableId], recorded: IntArray, subgraph: Subgraph
    ) -> tuple[Outputs, Sequence[VariableId]]:
        return GraphOutput(), targets


TASKS: dict[str, Task] = {task.name: task for task in (NodeTask(), PairTask(), GraphTask())}
