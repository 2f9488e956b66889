"""Input of the explainer: a model with arrays, or with a data object of PyTorch Geometric."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arrays import (
    FloatArray,
    IntArray,
    check_edge_index,
    check_features,
)
from ..errors import InputError, PGMExplainerWarning
from ..feature_names import FeatureNames, check_feature_names
from ..graph import Graph
from ..limits import brief
from ..node_names import NodeNames
from ..predictors import (
    IntegerPredictor,
    Predictor,
    SequencePredictor,
    as_predictor,
    is_torch_module,
)
from .graph_set import GraphSetTask, is_batch, is_graph_set, read_graphs
from .naming import (
    own_feature_names,
    own_names,
    own_title,
    read_graph_names,
    read_node_names,
    read_typed_feature_names,
    read_typed_names,
)
from .node_types import TypedNodes
from .sources import Source, has_graph, read_source
from .tasks import TASKS, LoneNodeTask, PairTask, Task

__all__ = ["Inputs", "read_inputs"]

_ASSUMED_LAYERS = 3
"""The number of layers of the paper's models, assumed for a plain function."""


@dataclass(frozen=True)
class Inputs:
    """A model and its graph, validated.

    Attributes:
        num_layers: the number of message-passing layers.
        kinds: the index of each node's type; None if there is only one type.
        names: the names of nodes, if they have names other than their indices.
        types: the node types, if there are several.
        feature_names: the names of feature columns, if they have any.
        offsets: of many graphs, the first node of each, and the number of all nodes; else None.
        titles: of many graphs, the name of each; empty if it has none.
        steps: the number of time steps T of features ``[N, T, F]``, which ``x`` has as
            ``[N, T * F]``; None for features ``[N, F]``.
        has_integers: whether some features are integers, which must stay integers.
    """

    predictor: Predictor
    x: FloatArray
    graph: Graph
    num_layers: int
    kinds: IntArray | None = None
    names: NodeNames = field(default_factory=NodeNames)
    types: TypedNodes | None = None
    feature_names: FeatureNames = ()
    offsets: IntArray | None = None
    titles: Sequence[str] = ()
    steps: int | None = None
    has_integers: bool = False

    @property
    def width(self) -> int:
        """The number of features of a node, at each time step if there are several."""
        return int(self.x.shape[1]) // (self.steps or 1)

    def task(self, name: str, own_predictions: bool) -> Task:
        """Return the task with this name, for these inputs."""
        if self.offsets is not None:
            return GraphSetTask(self.offsets, self.titles)
        if name == "edge" and self.types is not None:
            return PairTask(sources=self.types.sources)
        return TASKS[name] if own_predictions else LoneNodeTask()


def read_inputs(
    model: Any,
    x: Any,
    edge_index: Any,
    task: str,
    inputs: Mapping[str, Any] | None,
    target_type: str | Sequence[str] | None,
    names: Any = None,
    feature_names: Any = None,
) -> Inputs:
    """Validate the inputs and convert them to arrays."""
    if inputs is not None and not isinstance(inputs, Mapping):
        raise InputError(f"inputs must be a mapping from names to tensors, not {brief(inputs)}")
    unnamed = [name for name in inputs or () if not isinstance(name, str)]
    if unnamed:
        raise InputError(
            f"inputs must be a mapping from names to tensors; {brief(unnamed[0])} is not a name"
        )
    if edge_index is None and is_graph_set(x) and (task == "graph" or not is_batch(x)):
        found = _read_many(model, x, task, inputs, target_type, names)
        if feature_names is None:
            feature_names = own_feature_names(x[0], found.width)
        return replace(found, feature_names=check_feature_names(feature_names, found.width))
    of_kinds = hasattr(x, "node_types")  # HeteroData, recognised without importing it
    if edge_index is not None and (of_kinds or hasattr(x, "edge_index")):
        raise InputError(
            "edge_index was passed together with a data object, which has its own edges; pass the "
            "data object alone, or x and edge_index"
        )
    if of_kinds:
        return _read_hetero(model, x, task, inputs, target_type, names, feature_names)
    if target_type is not None:
        raise InputError(
            f"target_type={brief(target_type)} applies to HeteroData graphs only; leave it out"
        )
    if edge_index is None and hasattr(x, "edge_index"):
        source, inputs = _read_data(model, x, inputs)
    elif edge_index is None and not has_graph(x):
        raise InputError(
            "edge_index is missing; pass x and edge_index, a Data object, a graph of networkx or "
            "DGL, or, for task='graph', a list of Data objects"
        )
    else:
        source = read_source(x, edge_index, names)
        inputs = {**_edge_inputs(model, source), **({} if inputs is None else inputs)}
    names = source.names if names is None else names
    feature_names = source.feature_names if feature_names is None else feature_names
    edge_index, features = source.edge_index, check_features(source.x, with_steps=True)
    try:
        edges = check_edge_index(edge_index, len(features))
    except InputError as error:
        if features.ndim == 2:
            raise
        raise InputError(
            f"{error}; x of shape {features.shape} was read as [nodes, time steps, features]"
        ) from None
    predictor, features, steps = _flattened(as_predictor(model, task, inputs), features)
    if features.dtype.kind in "iu":
        predictor = IntegerPredictor(predictor)
    graph = Graph(edges, len(features), predictor.flow)
    found = Inputs(predictor, features, graph, _layers_of(predictor), steps=steps)
    return replace(
        found,
        has_integers=features.dtype.kind in "iu",
        names=read_node_names(names, len(features)),
        feature_names=check_feature_names(feature_names, found.width),
    )


def _read_data(
    model: Any, data: Any, inputs: Mapping[str, Any] | None
) -> tuple[Source, dict[str, Any]]:
    """Return a ``Data`` object of PyTorch Geometric, and the further inputs of the model."""
    from ..predictors.torch_call import inputs_of_data

    if data.x is None:
        raise InputError("the data object has no node features x; set data.x")
    further = inputs_of_data(model, data)
    try:
        rows, *_, width = data.x.shape
    except Exception:  # no array of at least two dimensions
        raise InputError(
            f"data.x must be a tensor [nodes, features], not {brief(data.x)}"
        ) from None
    names, titles = own_names(data, rows), own_feature_names(data, width)
    if data.edge_index is not None or getattr(data, "adj_t", None) is None:
        if data.edge_index is None:
            raise InputError("the data object has no edges; set data.edge_index")
        source = Source(data.x, data.edge_index, names, titles)
    else:
        found = read_source(data.x, data.adj_t)  # its rows are the receivers
        ends = found.edge_index[::-1]
        source = replace(found, edge_index=ends, names=names, feature_names=titles)
        further = {**_edge_inputs(model, source), **further}
    return source, {**further, **({} if inputs is None else inputs)}


def _edge_inputs(model: Any, source: Source) -> dict[str, Any]:
    """Return the edge values that the model takes; warn if it does not take the weights."""
    given = {name: value for name, value in source.inputs.items() if value is not None}
    if not given:
        return {}
    taken: list[str] = []
    if is_torch_module(model):
        from ..predictors.torch_call import takes_input

        taken = [name for name in given if takes_input(model, name)]
    if "edge_weight" in given and "edge_weight" not in taken:
        warnings.warn(
            "the edges have weights, but the model takes no argument edge_weight, so they are not "
            "passed to it",
            PGMExplainerWarning,
            stacklevel=4,
        )
    return {name: given[name] for name in taken}


def _flattened(predictor: Predictor, x: FloatArray) -> tuple[Predictor, FloatArray, int | None]:
    """Return features ``[N, T, F]`` as ``[N, T * F]``, a predictor for these, and T."""
    if x.ndim == 2:
        return predictor, x, None
    return SequencePredictor(predictor, x.shape[1]), x.reshape(len(x), -1), x.shape[1]


def _read_many(
    model: Any,
    graphs: Any,
    task: str,
    inputs: Mapping[str, Any] | None,
    target_type: Any,
    names: Any,
) -> Inputs:
    """Return many graphs as one, with the further inputs of data objects joined."""
    if task != "graph" or target_type is not None:
        raise InputError(
            f"a list of graphs is for task='graph', not task={brief(task)}; for a task within one "
            f"graph, pass that graph, such as graphs[0]"
        )
    joined = read_graphs(graphs)
    found = dict({} if inputs is None else inputs)
    if is_torch_module(model):
        from ..predictors.torch_call import joined_inputs, takes_batch

        found = {**joined_inputs(model, joined.objects), **found}
        if takes_batch(model):
            found["batch"] = joined.graph_of
    predictor, x, steps = _flattened(as_predictor(model, task, found, many_graphs=True), joined.x)
    if x.dtype.kind in "iu":
        predictor = IntegerPredictor(predictor)
    graph = Graph(joined.edge_index, len(x), predictor.flow, joined.offsets)
    return Inputs(
        predictor,
        x,
        graph,
        _layers_of(predictor),
        names=read_graph_names(names, graphs, np.diff(joined.offsets).tolist()),
        offsets=joined.offsets,
        titles=[own_title(graphs[at]) for at in range(len(graphs))],
        steps=steps,
        has_integers=x.dtype.kind in "iu",
    )


def _read_hetero(
    model: Any,
    data: Any,
    task: str,
    inputs: Mapping[str, Any] | None,
    target_type: Any,
    names: Any,
    feature_names: Any,
) -> Inputs:
    from ..predictors.hetero import HeteroPredictor, flatten, inputs_of_hetero

    if not data.node_types:
        raise InputError("the HeteroData object has no nodes; set x for each node type")
    predicted = _check_target_type(target_type, task, data.node_types)
    if not is_torch_module(model):
        raise InputError(f"a HeteroData graph needs a PyTorch module as model, not {brief(model)}")
    layout, x, edge_index = flatten(data)
    found = {**inputs_of_hetero(model, data), **({} if inputs is None else inputs)}
    predictor = HeteroPredictor(model, layout, predicted, task, found)
    sizes, widths = tuple(layout.sizes.values()), tuple(layout.widths.values())
    if names is None:
        names = {kind: own_names(data[kind], size) for kind, size in layout.sizes.items()}
    if feature_names is None:
        titles = {kind: own_feature_names(data[kind], w) for kind, w in layout.widths.items()}
        feature_names = titles
    labels = read_typed_names(names, layout.sizes)
    types = TypedNodes(tuple(layout.sizes), sizes, predicted, widths, labels)
    graph = Graph(edge_index, len(x), predictor.flow)
    return Inputs(
        predictor,
        x,
        graph,
        _layers_of(predictor),
        layout.kinds,
        NodeNames(types, range(len(x)), typed=True),
        types,
        read_typed_feature_names(feature_names, layout.widths),
        has_integers=bool(layout.integers),
    )


def _check_target_type(
    target_type: Any, task: str, node_types: Sequence[str]
) -> str | tuple[str, str] | None:
    """Return the predicted node type, the two of an edge task, or None for a graph task."""
    known = ", ".join(node_types)
    if task == "graph":
        if target_type is not None:
            raise InputError(
                f"target_type={brief(target_type)} does not apply to task='graph'; leave it out"
            )
        return None
    if task == "edge":
        ends = target_type if isinstance(target_type, (tuple, list)) else ()
        types = [end for end in (*ends[:1], *ends[-1:]) if isinstance(end, str)]
        if len(ends) in (2, 3) and len(types) == 2 and set(types) <= set(node_types):
            return types[0], types[1]
        raise InputError(
            f"target_type must be the two node types of a pair, or an edge type, with types from "
            f"{known}, not {brief(target_type)}"
        )
    if not isinstance(target_type, str) or target_type not in node_types:
        raise InputError(
            f"target_type must be the predicted node type, one of {known}, not {brief(target_type)}"
        )
    return target_type


def _layers_of(predictor: Predictor) -> int:
    return _ASSUMED_LAYERS if predictor.num_layers is None else int(predictor.num_layers)
