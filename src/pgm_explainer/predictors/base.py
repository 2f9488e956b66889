"""The base class of predictors, which wrap a model and declare what it can do."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray, as_array, check_whole_number
from ..errors import InputError
from ..graph import FLOWS, SampledEdges, Subgraph
from ..limits import brief

__all__ = [
    "PREDICTED",
    "AdaptedPredictor",
    "Predictor",
    "PredictorLike",
    "SharedRows",
    "check_capabilities",
    "is_torch_module",
]

PREDICTED = ("node", "graph", "edge")
"""What a model predicts: the names of tasks."""


class Predictor(ABC):
    """A model that returns scores for a batch of features of a graph.

    A subclass defines ``__call__`` and overrides the attributes whose defaults do not apply.

    Attributes:
        accepts_subgraph: whether the model can be called on a subgraph. If not, every call is on
            the whole graph, so that large graphs are slow to explain.
        latency_bound: whether a few large batches are faster than many small ones, as for a model
            behind a network connection.
        num_layers: the number of message-passing layers; None if unknown.
        flow: the direction of messages along an edge, one of :data:`~pgm_explainer.graph.FLOWS`.
        batches_graphs: whether the model can predict several graphs in one call.
        works_elsewhere: whether a call leaves the processors of this machine free, as for a model
            on an accelerator or behind a network connection. Meanwhile, the next samples are drawn.
        module: the PyTorch module of the model; None if there is none. When a job is resumed, its
            weights show whether the model is the same.
        inputs: further inputs of the model, by name.

    Examples:
        >>> class Sum(Predictor):
        ...     accepts_subgraph = True
        ...     def __call__(self, x, subgraph, pairs=None):
        ...         source, target = subgraph.edge_index
        ...         scores = x.copy()
        ...         np.add.at(scores, (slice(None), target), x[:, source])
        ...         return scores
        >>> Sum().num_layers is None, Sum().flow
        (True, 'source_to_target')
    """

    accepts_subgraph: bool = False
    latency_bound: bool = False
    batches_graphs: bool = False
    num_layers: int | None = None
    flow: str = FLOWS[0]
    works_elsewhere: bool = False
    module: Any = None
    inputs: Mapping[str, Any] = MappingProxyType({})

    @abstractmethod
    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any:
        """Return scores for features ``x [B, n, F]`` of the nodes of a subgraph.

        Args:
            x: features, a copy that may be modified.
            part: the subgraph, which must not be modified.
            pairs: in an edge task, the pairs of nodes ``[2, P]`` to score, given by their positions
                in the subgraph; otherwise not passed.

        Returns:
            ``[B, n, C]`` for a node task, ``[B, C]`` for a graph task, ``[B, P, C]`` for an edge
            task: logits, probabilities, log-probabilities or values, as an array or a tensor.
        """

    def on_edges(
        self, x: FloatArray, part: Subgraph, edges: SampledEdges, pairs: IntArray | None = None
    ) -> Any:
        """Return scores as :meth:`__call__` does, for samples that have different edges.

        By default the model is called on one sample at a time. ``edges`` holds the edges of each
        sample.
        """
        if not self.accepts_subgraph:
            raise InputError(
                "the edges of this model cannot be perturbed, because it is not called with "
                "edge_index; pass a function of x and edge_index, or a module"
            )
        further = () if pairs is None else (pairs,)
        scores = [
            as_array(
                self(x[at : at + 1].copy(), edges.of_sample(part, at), *further),
                "the model's output",
            )
            for at in range(len(x))
        ]
        return np.concatenate(scores)

    def on_rows(self, x: SharedRows, part: Subgraph, pairs: IntArray | None = None) -> Any:
        """Return scores as :meth:`__call__` does, for features of which most rows are equal."""
        return self(x.dense(), part) if pairs is None else self(x.dense(), part, pairs)

    def saves_on_rows(self, x: SharedRows, part: Subgraph, pairs: IntArray | None = None) -> bool:
        """Return whether the model is faster with :meth:`on_rows`, with the same scores."""
        return False

    def of_nodes(
        self,
        x: FloatArray | SharedRows,
        part: Subgraph,
        nodes: IntArray,
        edges: SampledEdges | None = None,
    ) -> Any:
        """Return scores ``[B, nodes, C]`` of some nodes, given by their positions, in a node task.

        By default all nodes are predicted.

        Args:
            edges: the edges of each sample; None for those of the subgraph.
        """
        if isinstance(x, SharedRows):
            return self.on_rows(x, part)[:, nodes]
        scores = self(x, part) if edges is None else self.on_edges(x, part, edges)
        return scores[:, nodes]

    def saves_on_nodes(
        self,
        x: FloatArray | SharedRows,
        part: Subgraph,
        nodes: IntArray,
        edges: SampledEdges | None = None,
    ) -> bool:
        """Return whether the model is faster with :meth:`of_nodes`, with the same scores."""
        return False

    def size(
        self, part: Subgraph, nodes: IntArray | None = None, same_edges: bool = True
    ) -> tuple[int, int]:
        """Return how many nodes and messages of a sample the model holds at once.

        Args:
            part: the subgraph.
            nodes: the nodes of :meth:`of_nodes`, if it is used.
            same_edges: whether all samples have the edges of the subgraph.
        """
        return len(part.nodes), len(part.edges)

    def takes_by_node(self, part: Subgraph) -> bool:
        """Return whether features in the memory order ``[n, B, F]`` are passed on without a copy.

        They have the shape ``[B, n, F]`` in any case.
        """
        return False

    @property
    def accepts_edges(self) -> bool:
        """Whether :meth:`on_edges` can be used; by default, if the model accepts subgraphs."""
        return bool(self.accepts_subgraph)

    def has_edge_inputs(self, whole: Subgraph) -> bool:
        """Return whether the model has further inputs for each edge of the whole graph."""
        return self.accepts_edges

    def shaped(self, x: FloatArray) -> FloatArray:
        """Return features ``[B, n, F]`` in the shape that the model takes."""
        return x

    def has_prediction(self, nodes: IntArray) -> NDArray[np.bool_]:
        """Return which nodes have a prediction in a node task; by default all."""
        return np.ones(len(nodes), dtype=bool)


@runtime_checkable
class PredictorLike(Protocol):
    """A custom object with the attribute ``accepts_subgraph`` that is not a :class:`Predictor`."""

    accepts_subgraph: bool

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any: ...


class AdaptedPredictor(Predictor):
    """A predictor that wraps a :class:`PredictorLike` object.

    Its attributes are read once, on creation; missing ones have the defaults of the base class.
    """

    def __init__(self, model: PredictorLike) -> None:
        self.model = model
        for name in ("accepts_subgraph", "latency_bound", "num_layers", "flow"):
            setattr(self, name, getattr(model, name, getattr(Predictor, name)))
        module, inputs = getattr(model, "module", None), getattr(model, "inputs", None)
        self.module = module if is_torch_module(module) else None
        self.inputs = inputs if isinstance(inputs, Mapping) else {}

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any:
        return self.model(x, part) if pairs is None else self.model(x, part, pairs)


def is_torch_module(model: Any) -> bool:
    """Return whether this is a PyTorch module, without importing torch.

    Examples:
        >>> from pgm_explainer.predictors import is_torch_module
        >>> is_torch_module(lambda x: x)
        False
    """
    return any(
        each.__module__ == "torch.nn.modules.module" and each.__name__ == "Module"
        for each in type(model).__mro__
    )


def check_capabilities(predictor: Predictor) -> None:
    """Raise an InputError if a predictor declares an invalid capability."""
    for name in ("accepts_subgraph", "latency_bound"):
        declared = getattr(predictor, name)
        if not isinstance(declared, (bool, np.bool_)):
            raise InputError(
                f"{name} of the model must be True or False, not {reprlib.repr(declared)}"
            )
    if predictor.num_layers is not None:
        check_whole_number(predictor.num_layers, "the model's num_layers", at_least=0)
    flow = predictor.flow
    if not isinstance(flow, str) or flow not in FLOWS:
        raise InputError(
            f"the flow of a model must be one of {', '.join(FLOWS)}, not {brief(flow)}"
        )


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Features ``[B, n, F]``, given as rows of a table.

    Attributes:
        table: rows ``[rows, F]``, each of which may be used many times.
        index: the row of each node in each sample, ``[B, n]``.

    Examples:
        >>> rows = SharedRows(np.eye(3), np.array([[0, 2], [2, 2]]))
        >>> rows.shape, rows.dense()[0].tolist()
        ((2, 2, 3), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    """

    table: FloatArray
    index: IntArray

    @property
    def shape(self) -> tuple[int, int, int]:
        samples, nodes = self.index.shape
        return samples, nodes, self.table.shape[1]

    def __len__(self) -> int:
        return len(self.index)

    def dense(self) -> FloatArray:
        """Return the features as an array that may be modified."""
        return self.table[self.index]

    def compact(self) -> SharedRows:
        """Return the same features with a table of only those rows that are used."""
        used, index = np.unique(self.index, return_inverse=True)
        return SharedRows(self.table[used], index.reshape(self.index.shape))
