"""Many graphs, each with its own prediction, joined into one graph without edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import FloatArray, IntArray, check_edge_index, check_features, check_node
from ..errors import InputError
from ..graph import Graph, Subgraph
from ..limits import brief
from ..variables import GRAPH, VariableId
from .tasks import Outputs

__all__ = [
    "GraphSet",
    "GraphSetOutputs",
    "GraphSetTask",
    "is_batch",
    "is_graph_set",
    "read_graphs",
]


@dataclass(frozen=True, eq=False)
class GraphSet:
    """Many graphs joined into one.

    Attributes:
        x, edge_index: the features and edges of all graphs.
        offsets: the first node of each graph, followed by the total number of nodes.
        objects: the PyTorch Geometric data objects; empty if graphs were given as arrays.
    """

    x: FloatArray
    edge_index: IntArray
    offsets: IntArray
    objects: Sequence[Any] = ()

    @property
    def graph_of(self) -> IntArray:
        """The graph of each node."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def is_graph_set(x: Any) -> bool:
    """Return whether this is a list, or a data set or a batch of PyTorch Geometric, of graphs."""
    if hasattr(x, "node_types") or isinstance(x, (str, np.ndarray)):
        return False
    try:
        if hasattr(x, "edge_index") and not (is_batch(x) or hasattr(x, "indices")):
            return False  # one graph: data sets also have the edges of all their graphs
        if hasattr(x, "shape") or not hasattr(x, "__len__") or not hasattr(x, "__getitem__"):
            return False
        if not len(x):
            return isinstance(x, list)
        first = x[0]
    except Exception:  # an object of any type may raise anything
        return False
    return hasattr(first, "edge_index") or _is_pair(first)


def is_batch(x: Any) -> bool:
    """Return whether this is a batch of at least two graphs, which is also one graph of all."""
    return hasattr(x, "get_example") and x.num_graphs > 1


def _is_pair(graph: Any) -> bool:
    try:
        x, edge_index = graph if isinstance(graph, (tuple, list)) else ()
        return len(x.shape) in (2, 3) and len(edge_index.shape) == 2
    except Exception:  # not two arrays; an object of any type may raise anything
        return False


def read_graphs(graphs: Any) -> GraphSet:
    """Join graphs: data objects of PyTorch Geometric, or pairs ``(x, edge_index)``.

    Raises:
        InputError: there are no graphs, or one is invalid; the message gives its position.
    """
    count = len(graphs)
    if not count:
        raise InputError("there are no graphs to explain; pass at least one")
    features: list[FloatArray] = []
    edges: list[IntArray] = []
    objects: list[Any] = []
    offset = 0
    for at in range(count):
        graph = graphs[at]
        is_object = hasattr(graph, "edge_index")
        if not is_object and not _is_pair(graph):
            raise InputError(
                f"graph {at} must be a Data object or a pair (x, edge_index), not {brief(graph)}"
            )
        given = (graph.x, graph.edge_index) if is_object else graph
        try:
            x = check_features(given[0], with_steps=True)
            edge_index = check_edge_index(given[1], len(x))
        except InputError as error:
            raise InputError(f"graph {at}: {error}") from None
        if features and x.shape[1:] != features[0].shape[1:]:
            raise InputError(
                f"graph {at} has {_widths(x)} per node, but graph 0 has {_widths(features[0])}; "
                f"all graphs need the same features"
            )
        features.append(x)
        edges.append(edge_index + offset)
        offset += len(x)
        if is_object:
            objects.append(graph)
    offsets = np.cumsum([0, *(len(x) for x in features)])
    whole = np.concatenate(features)
    return GraphSet(whole, np.concatenate(edges, axis=1), offsets, objects)


def _widths(x: FloatArray) -> str:
    steps = f"{x.shape[1]} time steps of " if x.ndim == 3 else ""
    return f"{steps}{x.shape[-1]} features"


@dataclass(frozen=True, eq=False)
class GraphSetOutputs(Outputs):
    """The predictions of some of the graphs in a subgraph.

    Attributes:
        rows: the positions of these graphs in the subgraph.
        graph_of: the position of the graph of each node of the subgraph.
    """

    rows: IntArray
    graph_of: IntArray

    def leading_shape(self, samples: int, nodes: int) -> tuple[int, ...]:
        return (samples, int(self.graph_of[-1]) + 1)

    def take(self, scores: FloatArray) -> FloatArray:
        return scores[:, self.rows]

    def graphs(self, nodes: int) -> tuple[IntArray, IntArray] | None:
        return self.graph_of, self.rows


@dataclass(frozen=True, eq=False)
class GraphSetTask:
    """The task of predicting many graphs; the candidates of a graph are its own nodes.

    Attributes:
        offsets: as in :class:`GraphSet`.
        titles: the name of each graph; empty if it has none.
    """

    offsets: IntArray
    titles: Sequence[str] = ()
    name: str = "graph"
    separate: bool = True

    def check(self, target: Any, graph: Graph) -> VariableId:
        count = len(self.offsets) - 1
        if target is None:
            raise InputError(f"there are {count} graphs; call explain(i) with the position of one")
        if isinstance(target, tuple) and len(target) == 2:
            name, position = target
            target = position if isinstance(name, str) and name == GRAPH else target
        if isinstance(target, str):
            target = self._position_of(target, count)
        return (GRAPH, check_node(target, count, "graph"))

    def _position_of(self, title: str, count: int) -> int:
        found = [at for at, each in enumerate(self.titles) if each == title]
        if len(found) != 1:
            known = f"{len(found)} graphs are" if found else "no graph is"
            raise InputError(
                f"{known} called {brief(title)}; give the position of one, from 0 to {count - 1}"
            )
        return found[0]

    def ends(self, target: VariableId) -> IntArray:
        return np.empty(0, dtype=np.int64)

    def nodes(self, target: VariableId) -> tuple[int, int]:
        """Return the first node of a graph, and the first node of the next one."""
        at = _position(target)
        return int(self.offsets[at]), int(self.offsets[at + 1])

    def title(self, target: VariableId) -> str:
        """Return the name of a graph; empty if it has none."""
        return self.titles[_position(target)] if self.titles else ""

    def candidates(self, target: VariableId, graph: Graph, hops: int) -> IntArray:
        return np.arange(*self.nodes(target))

    def target_at(self, node: int, graph: Graph) -> VariableId:
        return (GRAPH, int(np.searchsorted(self.offsets, node, side="right")) - 1)

    def centre(self, targets: Sequence[VariableId], recorded: IntArray) -> IntArray | None:
        return np.unique(np.concatenate([np.arange(*self.nodes(each)) for each in targets]))

    def outputs(
        self, targets: Sequence[VariableId], recorded: IntArray, subgraph: Subgraph
    ) -> tuple[Outputs, Sequence[VariableId]]:
        numbers = np.searchsorted(self.offsets, subgraph.nodes, side="right") - 1
        present, graph_of = np.unique(numbers, return_inverse=True)
        rows = np.searchsorted(present, [_position(each) for each in targets])
        return GraphSetOutputs(rows, graph_of), targets


def _position(target: VariableId) -> int:
    return int(target[1]) if isinstance(target, tuple) else 0
