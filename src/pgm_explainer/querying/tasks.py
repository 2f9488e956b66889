"""Tasks and their targets: a prediction of a node, of a pair of nodes, or of the graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ..arrays import FloatArray, IntArray, as_array, as_list, check_node, has_attributes
from ..errors import InputError
from ..graph import Graph, SampledEdges, Subgraph
from ..limits import brief
from ..node_names import NodeNames
from ..predictors import Predictor, SharedRows
from ..variables import GRAPH, VariableId
from .node_types import TypedNodes

__all__ = [
    "TASKS",
    "GraphOutput",
    "LoneNodeTask",
    "NodeOutputs",
    "Outputs",
    "PairOutputs",
    "PairTask",
    "Task",
    "explained_classes",
    "listed",
    "numbered",
]


class Outputs(ABC):
    """The recorded outputs of a model, and how to query them.

    Attributes:
        belong_to_nodes: whether each prediction belongs to a recorded node, and is part of its
            variable.
    """

    belong_to_nodes: ClassVar[bool] = False

    @property
    def arguments(self) -> tuple[IntArray, ...]:
        """The pairs of nodes that the model predicts, if it predicts pairs."""
        return ()

    def query(
        self,
        predictor: Predictor,
        x: FloatArray | SharedRows,
        subgraph: Subgraph,
        edges: SampledEdges | None,
    ) -> Any:
        """Return the model's output for features ``x [B, n, F]``.

        Args:
            predictor: the model.
            x: the features of each sample.
            subgraph: the subgraph that the model is called on.
            edges: the edges of each sample; None for those of the subgraph.
        """
        if isinstance(x, SharedRows):
            return predictor.on_rows(x, subgraph, *self.arguments)
        if edges is None:
            return predictor(x, subgraph, *self.arguments)
        return predictor.on_edges(x, subgraph, edges, *self.arguments)

    @abstractmethod
    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        """Return the required shape of the output without its last dimension."""

    @abstractmethod
    def take(self, scores: FloatArray) -> FloatArray:
        """Select the recorded scores from the output, as ``[B, predictions, C]``."""

    def graphs(self, nodes: int) -> tuple[IntArray, IntArray] | None:
        """Return the graph of each node and prediction; None if predictions are not of graphs.

        A prediction of a graph depends on all nodes of that graph, and on no others.
        """
        return None


@dataclass(frozen=True)
class NodeOutputs(Outputs):
    """The predictions of some nodes, given by their positions in the subgraph."""

    rows: IntArray
    belong_to_nodes: ClassVar[bool] = True

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples, nodes)

    def take(self, scores: FloatArray) -> FloatArray:
        if self.belong_to_nodes and len(self.rows) == scores.shape[1]:
            return scores  # all rows, in order: avoid a copy of a large array
        return scores[:, self.rows]

    def only(self) -> RecordedNodes:
        """Return the same outputs, for a model that computes only these."""
        return RecordedNodes(self.rows)


@dataclass(frozen=True)
class RecordedNodes(Outputs):
    """The predictions of some nodes, from a model that returns only these."""

    rows: IntArray

    def query(
        self,
        predictor: Predictor,
        x: FloatArray | SharedRows,
        subgraph: Subgraph,
        edges: SampledEdges | None,
    ) -> Any:
        return predictor.of_nodes(x, subgraph, self.rows, edges)

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples, len(self.rows))

    def take(self, scores: FloatArray) -> FloatArray:
        return scores


@dataclass(frozen=True)
class LoneNodeOutputs(NodeOutputs):
    """The predictions of some targets, which are separate variables."""

    belong_to_nodes: ClassVar[bool] = False


@dataclass(frozen=True)
class GraphOutput(Outputs):
    """The one prediction of the whole graph."""

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples,)

    def take(self, scores: FloatArray) -> FloatArray:
        return scores[:, None]

    def graphs(self, nodes: int) -> tuple[IntArray, IntArray] | None:
        return np.zeros(nodes, dtype=np.int64), np.zeros(1, dtype=np.int64)


@dataclass(frozen=True)
class PairOutputs(Outputs):
    """The predictions of pairs of nodes ``[2, P]``, given by their positions in the subgraph."""

    pairs: IntArray

    @property
    def arguments(self) -> tuple[IntArray, ...]:
        return (self.pairs,)

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples, self.pairs.shape[1])

    def take(self, scores: FloatArray) -> FloatArray:
        return scores


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
        ends = self.ends(target)
        reached = graph.within_hops(ends, hops)
        return reached[reached != ends]

    def target_at(self, node: int, graph: Graph) -> VariableId:
        return node

    def centre(self, targets: Sequence[VariableId], recorded: IntArray) -> IntArray | None:
        return recorded

    def outputs(
        self, targets: Sequence[VariableId], recorded: IntArray, subgraph: Subgraph
    ) -> tuple[Outputs, Sequence[VariableId]]:
        return NodeOutputs(subgraph.positions(recorded)), recorded.tolist()


@dataclass(frozen=True)
class LoneNodeTask(NodeTask):
    """Node predictions, without those of the candidates, so that a smaller subgraph is enough.

    The variable of a target is ``(node,)``, because the node itself is a part: it is perturbed too.
    """

    def check(self, target: Any, graph: Graph) -> VariableId:
        return (super().check(target[0] if self._is_variable(target) else target, graph),)

    def ends(self, target: VariableId) -> IntArray:
        return np.array(target, dtype=np.int64)

    def target_at(self, node: int, graph: Graph) -> VariableId:
        return (node,)

    def centre(self, targets: Sequence[VariableId], recorded: IntArray) -> IntArray | None:
        return np.unique(np.array(targets, dtype=np.int64))

    def outputs(
        self, targets: Sequence[VariableId], recorded: IntArray, subgraph: Subgraph
    ) -> tuple[Outputs, Sequence[VariableId]]:
        rows = subgraph.positions(np.array(targets, dtype=np.int64)[:, 0])
        return LoneNodeOutputs(rows), targets

    @staticmethod
    def _is_variable(target: Any) -> bool:
        return isinstance(target, tuple) and len(target) == 1


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
                f"the target of an edge task must be a pair of nodes (u, v), not {brief(target)}"
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
                f"a graph task has no target, but {brief(target)} was passed; call explain() "
                f"without a target"
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


def numbered(target: Any, task: str, names: NodeNames, types: TypedNodes | None) -> Any:
    """Return a target by the indices of its nodes, which may be given by name.

    Raises:
        InputError: no node has such a name.
    """
    if types is not None:
        return types.number(target)
    named = names.labels is not None
    if not named and isinstance(target, str) and task == "node":
        raise InputError(
            f"target must be a whole number, not {brief(target)}, because nodes have no names; "
            f"pass names= to the explainer to give nodes by name"
        )
    if not named or target is None or task == "graph":
        return target
    if task == "node":
        return names.number(target)
    ends = None if isinstance(target, str) else as_list(target)
    return target if ends is None else tuple(map(names.number, ends))


def explained_classes(
    chosen: Any, names: Sequence[VariableId], before: FloatArray, num_nodes: int | None
) -> IntArray:
    """Return the explained class of each prediction: the predicted one, or the chosen one.

    Args:
        chosen: a class; in a node task, also one for each node; None for the predicted class.
        names: the variables of the predictions.
        before: their probabilities (or values) ``[predictions, C]`` on the unperturbed features.
        num_nodes: the number of nodes in a node task, else None.

    Raises:
        InputError: the class does not exist, or there is not one for each node.
    """
    if chosen is None:
        return before.argmax(axis=-1)
    classes = as_array(chosen, "explained_class")
    if classes.ndim == 0:
        classes = np.full(len(names), classes)
    elif classes.shape == (num_nodes,):
        classes = classes[np.array(names, dtype=np.int64).ravel()]
    else:
        each = "node" if num_nodes is None else f"of the {num_nodes} nodes"
        raise InputError(
            f"explained_class must be one class, or in a node task one for each {each}; its shape "
            f"is {classes.shape}"
        )
    if classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= before.shape[1]:
        raise InputError(
            f"explained_class must be from 0 to {before.shape[1] - 1}, "
            f"not {np.asarray(chosen).tolist()}"
        )
    return classes.astype(np.int64)


def listed(targets: Iterable[Any], num_nodes: int, task: str = "node") -> list[Any]:
    """Return targets as a list; a boolean mask of all nodes becomes the indices of its nodes.

    In an edge task, an array or tensor ``[2, P]`` has a pair in each column, as the
    ``edge_label_index`` of PyTorch Geometric; an array ``[P, 2]`` has a pair in each row, unless P
    is 2. A list is always a list of pairs.
    """
    if has_attributes(targets, "shape"):
        array = as_array(targets, "targets")
        if array.ndim == 0:
            raise InputError(
                f"targets must be a list of targets, not {array}; call explain() for a single one"
            )
        is_mask = array.dtype == bool and array.shape == (num_nodes,)
        if task == "edge" and array.ndim == 2 and len(array) == 2:
            array = array.T
        return list(np.flatnonzero(array) if is_mask else array)
    found = as_list(targets)
    if found is None:
        raise InputError(f"targets must be a list of targets, not {brief(targets)}")
    return found
