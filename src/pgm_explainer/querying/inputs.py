"""What the caller hands over: a model with arrays, or with a data object of PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import (
    FloatArray,
    IntArray,
    check_edge_index,
    check_features,
    check_node,
    check_whole_number,
)
from ..errors import InputError
from ..graph import FLOWS, Graph
from ..predictors import Predictor, as_predictor
from ..variables import VariableId

__all__ = ["NodeNames", "Source", "read_source"]

_ASSUMED_HOPS = 3
"""The paper's models have three layers; a plain function does not say how many it has."""


@dataclass(frozen=True)
class NodeNames(Sequence[VariableId]):
    """Nodes called by kind and number, such as ``("author", 5)``.

    Attributes:
        kinds: the names of the kinds, in the order in which their nodes are numbered.
        sizes: how many nodes each kind has.
        default: the kind meant by a number alone.
        widths: how many features each kind has.
    """

    kinds: tuple[str, ...]
    sizes: tuple[int, ...]
    default: str
    widths: tuple[int, ...]

    def __len__(self) -> int:
        return sum(self.sizes)

    def __getitem__(self, number: int) -> VariableId:  # type: ignore[override]
        for kind, size in zip(self.kinds, self.sizes, strict=True):
            if number < size:
                return (kind, number)
            number -= size
        raise IndexError(number)

    def widths_of(self, nodes: IntArray) -> IntArray:
        """Return how many features nodes have, by their numbers among all nodes."""
        kinds = np.searchsorted(np.cumsum(self.sizes), nodes, side="right")
        return np.array(self.widths)[kinds]

    def number(self, name: Any) -> int:
        """Return a node's number among all nodes, from ``(kind, number)`` or a number alone."""
        kind, within = name if isinstance(name, tuple) and len(name) == 2 else (self.default, name)
        if not isinstance(kind, str) or kind not in self.kinds:
            raise InputError(f"there are no nodes of kind {kind!r}, only {', '.join(self.kinds)}")
        if kind != self.default:
            raise InputError(
                f"the model predicts nodes of kind {self.default!r} (target_type), so there is no "
                f"prediction of {name!r} to explain"
            )
        at = self.kinds.index(kind)
        return sum(self.sizes[:at]) + check_node(within, self.sizes[at], f"{kind} node")


@dataclass(frozen=True)
class Source:
    """A model and its graph, ready to be asked.

    Attributes:
        hops: how far messages travel in the model.
        kinds: the number of each node's kind; None if all nodes are alike.
        names: what nodes are called, if not by their numbers.
    """

    predictor: Predictor
    x: FloatArray
    graph: Graph
    hops: int
    kinds: IntArray | None = None
    names: NodeNames | None = None


def read_source(
    model: Any,
    x: Any,
    edge_index: Any,
    task: str,
    inputs: Mapping[str, Any] | None,
    target_type: str | None,
) -> Source:
    """Check what was handed over and bring it into one form."""
    if inputs is not None and not isinstance(inputs, Mapping):
        raise InputError(f"inputs must be a mapping from names to tensors, not {inputs!r}")
    of_kinds = hasattr(x, "node_types")  # HeteroData, recognised without importing it
    if edge_index is not None and (of_kinds or hasattr(x, "edge_index")):
        raise InputError("a data object has its own edges: pass it alone, or x and edge_index")
    if of_kinds:
        if inputs:
            raise InputError("inputs do not go together with HeteroData")
        return _read_hetero(model, x, task, target_type)
    if target_type is not None:
        raise InputError("target_type is for graphs with several kinds of nodes (HeteroData)")
    if edge_index is None and hasattr(x, "edge_index"):
        from ..predictors.torch_module import inputs_of_data

        inputs = {**inputs_of_data(model, x), **(inputs or {})}
        x, edge_index = x.x, x.edge_index
        if x is None:
            raise InputError("the data object has no node features x")
    if edge_index is None:
        raise InputError("edge_index is needed: pass x and edge_index, or a Data object")
    features = check_features(x)
    edges = check_edge_index(edge_index, len(features))
    predictor = as_predictor(model, task, inputs)
    graph = Graph(edges, len(features), _flow_of(predictor))
    return Source(predictor, features, graph, _hops_of(predictor))


def _read_hetero(model: Any, data: Any, task: str, target_type: str | None) -> Source:
    from ..predictors.hetero import HeteroPredictor, flatten

    if task != "node":
        raise InputError(
            f"a graph with several kinds of nodes can be explained by node, not {task}"
        )
    if not data.node_types:
        raise InputError("the HeteroData object holds no nodes: set x for each kind of node")
    if not isinstance(target_type, str) or target_type not in data.node_types:
        raise InputError(
            f"target_type must say which kind of node is predicted: {', '.join(data.node_types)}; "
            f"it is {target_type!r}"
        )
    layout, x, edge_index = flatten(data)
    predictor = HeteroPredictor(model, layout, target_type)
    sizes, widths = tuple(layout.sizes.values()), tuple(layout.widths.values())
    names = NodeNames(tuple(layout.sizes), sizes, target_type, widths)
    graph = Graph(edge_index, len(x), _flow_of(predictor))
    return Source(predictor, x, graph, _hops_of(predictor), layout.kinds, names)


def _hops_of(predictor: Predictor) -> int:
    """Return how far messages travel in a model, as far as it tells."""
    told = getattr(predictor, "num_layers", None)
    if told is None:
        return _ASSUMED_HOPS
    return check_whole_number(told, "the model's num_layers", at_least=0)


def _flow_of(predictor: Predictor) -> str:
    """Return which way messages go in a model, as far as it tells."""
    flow = getattr(predictor, "flow", FLOWS[0])
    if not isinstance(flow, str) or flow not in FLOWS:
        raise InputError(f"the flow of a model must be one of {', '.join(FLOWS)}, not {flow!r}")
    return flow
