"""Adapter for heterogeneous graphs (``HeteroData``), which have several node or edge types.

Internally, such a graph is one homogeneous graph: all nodes are numbered one type after the other.
If a node type has fewer features than another, they are padded with zeros. The padding is not
passed to the model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..arrays import FloatArray, IntArray, check_edge_index, check_features
from ..errors import InputError, ModelError
from ..graph import SampledEdges, Subgraph
from ..limits import brief
from .base import Predictor
from .torch_tools import (
    UNSUPPORTED,
    SubgraphCache,
    as_features,
    check_ready,
    count_hops,
    distinct_samples,
    evaluated,
    first_tensor,
    flow_of,
    gives,
)

__all__ = ["HeteroPredictor", "Layout", "flatten", "inputs_of_hetero"]

EdgeType = tuple[str, str, str]

_PAIRS, _BATCH = "edge_label_index", "batch_dict"


@dataclass(frozen=True)
class Layout:
    """The order of node and edge types in the homogeneous graph.

    Attributes:
        sizes, widths: the number of nodes and of features of each node type.
        edge_types: the number of edges of each edge type, in the order of the edges.
        integers: the node types whose features are integers, such as the indices of an embedding.
    """

    sizes: dict[str, int]
    widths: dict[str, int]
    edge_types: dict[EdgeType, int]
    integers: frozenset[str] = frozenset()

    @property
    def kinds(self) -> IntArray:
        """The index of each node's type."""
        return np.repeat(np.arange(len(self.sizes)), list(self.sizes.values()))

    def start(self, kind: str) -> int:
        """Return the index of the first node of a type."""
        names = list(self.sizes)
        return sum(self.sizes[name] for name in names[: names.index(kind)])

    @property
    def edge_ranges(self) -> list[tuple[EdgeType, int, int]]:
        """Each edge type, with the start and the end (exclusive) of its edges."""
        stops = np.cumsum(list(self.edge_types.values())).tolist()
        return [
            (edge_type, stop - count, stop)
            for (edge_type, count), stop in zip(self.edge_types.items(), stops, strict=True)
        ]

    def check_inputs(self, inputs: Mapping[str, Any]) -> None:
        """Raise an InputError if a dictionary of tensors does not fit the types."""
        rows: dict[Any, int] = {**self.sizes, **self.edge_types}
        for name, value in inputs.items():
            for kind, tensor in value.items() if isinstance(value, Mapping) else ():
                if kind not in rows:
                    raise InputError(
                        f"the input {brief(name)} has the unknown type {brief(kind)}; the types "
                        f"are {', '.join(map(str, rows))}"
                    )
                length = len(tensor) if isinstance(tensor, Tensor) and tensor.dim() else rows[kind]
                if length != rows[kind]:
                    raise InputError(
                        f"the input {brief(name)} of type {brief(kind)} has {length} rows, but "
                        f"there are {rows[kind]} of that type"
                    )


def flatten(data: Any) -> tuple[Layout, FloatArray, IntArray]:
    """Convert a ``HeteroData`` object to one graph: its layout, padded features and edges."""
    if not data.node_types or any("x" not in data[kind] for kind in data.node_types):
        missing = [kind for kind in data.node_types if "x" not in data[kind]]
        raise InputError(f"every node type needs features x, but {missing} have none")
    features = {kind: check_features(data[kind].x) for kind in data.node_types}
    sizes = {kind: len(x) for kind, x in features.items()}
    widths = {kind: x.shape[1] for kind, x in features.items()}
    integers = frozenset(kind for kind, x in features.items() if x.dtype.kind in "iu")
    widest = max(widths.values())
    padded = [np.pad(x, ((0, 0), (0, widest - x.shape[1]))) for x in features.values()]
    ends = {
        kind: check_edge_index(data[kind].get("edge_index"), sum(sizes.values()))
        for kind in data.edge_types
    }
    counts = {kind: pairs.shape[1] for kind, pairs in ends.items()}
    layout = Layout(sizes, widths, counts, integers)
    edges = [np.zeros((2, 0), dtype=np.int64)]
    for (source, relation, target), pairs in ends.items():
        for end, row in ((source, pairs[0]), (target, pairs[1])):
            if row.size and row.max() >= sizes[end]:
                raise InputError(
                    f"an edge {brief(relation)} contains {end} {row.max()}, but there are only "
                    f"{sizes[end]} nodes of type {brief(end)}"
                )
        edges.append(pairs + np.array([[layout.start(source)], [layout.start(target)]]))
    x = np.concatenate(padded)
    # The predictor converts them back to integers for node types with integer features.
    return layout, x.astype(np.float64) if integers else x, np.concatenate(edges, axis=1)


class HeteroPredictor(Predictor):
    """A module ``model(x_dict, edge_index_dict, **inputs)``.

    The module returns a tensor, or a dictionary of tensors by node type. In a node task it predicts
    the nodes of one type. Nodes of other types have no prediction, so their variables only record
    whether they were perturbed. In an edge task the module is also passed ``edge_label_index``. In
    a graph task it is passed ``batch_dict``, if its ``forward`` has that argument.

    Args:
        target_type: the predicted node type, the types of both nodes of a pair, or None for a
            graph.
        inputs: further inputs by name, such as ``edge_attr_dict``. If a tensor of a dictionary by
            node or edge type has a row per node or edge, only the rows of the subgraph are passed.
    """

    accepts_subgraph = True

    def __init__(
        self,
        module: nn.Module,
        layout: Layout,
        target_type: str | tuple[str, str] | None,
        task: str = "node",
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        check_ready(module)
        self.module, self.layout, self.target_type, self.task = module, layout, target_type, task
        self.num_layers, self.flow = count_hops(module), flow_of(module)
        self.inputs = {
            name: value
            for name, value in ({} if inputs is None else inputs).items()
            if name != _PAIRS
        }
        names = _check_arguments(module, self.inputs, task)
        layout.check_inputs(self.inputs)
        self._takes_batch = task == "graph" and _BATCH in names
        self._in_blocks: SubgraphCache[bool] = SubgraphCache()
        self._edges_in_blocks: SubgraphCache[bool] = SubgraphCache()
        self._no_prediction: Tensor | None = None
        self._takes_integers: bool | None = None

    def has_prediction(self, nodes: IntArray) -> NDArray[np.bool_]:
        """Return which nodes are of the predicted type."""
        if self.task != "node":
            return super().has_prediction(nodes)
        return self.layout.kinds[nodes] == list(self.layout.sizes).index(str(self.target_type))

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        features, view = as_features(x, self.module), _View(self.layout, part, self.inputs)

        def many(some: Tensor) -> Tensor:
            return self._blocks(view, some, pairs)

        def call() -> Tensor:
            in_blocks = len(features) > 1 and self._batches(part, many, features[0])
            answer = many(features) if in_blocks else _one_by_one(many, features)
            return self._spread(view, answer)

        return evaluated(self.module, call)

    def on_edges(
        self, x: FloatArray, part: Subgraph, edges: SampledEdges, pairs: IntArray | None = None
    ) -> Tensor:
        """Return scores for samples that have different edges, if possible from one call."""
        if edges.edge_index is not None or edges.edges is not None:
            raise InputError(
                "the edges of a HeteroData graph can only be removed, because other ends or inputs "
                "may be of another type; use Edges(how='remove')"
            )
        features, view = as_features(x, self.module), _View(self.layout, part, self.inputs)

        def one(at: int) -> Tensor:
            sample = _View(self.layout, edges.of_sample(part, at), self.inputs)
            return self._blocks(sample, features[at : at + 1], pairs)

        def many(stop: int) -> Tensor:
            return self._blocks(view, features[:stop], pairs, edges.first(stop))

        def exact() -> bool:
            expected = torch.cat([one(0), one(1)])
            return gives(lambda: many(2), expected)

        def call() -> Tensor:
            if len(x) > 1 and self._edges_in_blocks.find(part, exact):
                return self._spread(view, many(len(x)))
            return self._spread(view, torch.cat([one(at) for at in range(len(x))]))

        return evaluated(self.module, call)

    def _spread(self, view: _View, answer: Tensor) -> Tensor:
        """Return scores with a row for every node, including nodes without a prediction."""
        if self.task != "node":
            return answer[:, 0] if self.task == "graph" else answer
        if self._no_prediction is None:
            self._no_prediction = answer[0, 0].clone()
        scores = self._no_prediction.expand(len(answer), view.num_nodes, -1).clone()
        rows = torch.from_numpy(view.members[str(self.target_type)])
        scores[:, rows.to(scores.device)] = answer
        return scores

    def _batches(self, part: Subgraph, many: Callable[[Tensor], Tensor], features: Tensor) -> bool:
        """Return whether samples can be batched on a subgraph; determined once."""

        def exact() -> bool:
            trials = distinct_samples(features)
            expected = _one_by_one(many, trials)
            return gives(lambda: many(trials), expected)

        return self._in_blocks.find(part, exact)

    def _blocks(
        self,
        view: _View,
        x: Tensor,
        pairs: IntArray | None = None,
        edges: SampledEdges | None = None,
    ) -> Tensor:
        """Return the output for one graph of disconnected copies as ``[samples, rows, C]``."""
        features, edge_index, inputs = view.blocks(x, edges)
        rows, what = 1, "one for the graph"
        if self.task == "node":
            rows = len(view.members[str(self.target_type)])
            what = f"one for each node of type {self.target_type!r}"
        elif pairs is not None:
            rows, what = pairs.shape[1], "one for each pair"
            inputs[_PAIRS] = view.pairs(pairs, tuple(self.target_type or ()), x)
        elif self._takes_batch:
            inputs[_BATCH] = view.batches(x)
        answer = self._answer(features, edge_index, inputs)
        if isinstance(answer, Mapping) and self.task == "node":
            answer = answer[self.target_type]
        answer = first_tensor(answer)
        if not isinstance(answer, Tensor) or answer.dim() == 0 or len(answer) != len(x) * rows:
            shape = list(answer.shape) if isinstance(answer, Tensor) else type(answer).__name__
            raise ModelError(
                f"the model returned {shape} instead of {len(x) * rows} row(s), {what}"
            )
        return answer.reshape(len(x), rows, -1)

    def _answer(self, features: dict[str, Tensor], edge_index: Any, inputs: dict[str, Any]) -> Any:
        """Call the module, with integer features if it takes them; see ``IntegerPredictor``."""
        if not self.layout.integers or self._takes_integers is False:
            return self.module(features, edge_index, **inputs)
        whole = {
            kind: x.long() if kind in self.layout.integers else x for kind, x in features.items()
        }
        if self._takes_integers:
            return self.module(whole, edge_index, **inputs)
        try:
            answer = self.module(whole, edge_index, **inputs)
        except UNSUPPORTED as error:
            try:
                answer = self.module(features, edge_index, **inputs)
            except UNSUPPORTED:
                raise error from None
            self._takes_integers = False
        else:
            self._takes_integers = True
        return answer


def _one_by_one(call: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    return torch.cat([call(each[None]) for each in x])


def _check_arguments(module: nn.Module, inputs: Mapping[str, Any], task: str) -> set[str]:
    """Return the arguments of a module's forward; raise an InputError if inputs do not fit."""
    parameters = list(inspect.signature(module.forward).parameters.values())
    names = {each.name for each in parameters}
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    anything = any(each.kind is each.VAR_KEYWORD for each in parameters)
    unknown = [name for name in inputs if name not in names and not anything]
    added = {_PAIRS if task == "edge" else _BATCH}
    missing = [
        each.name
        for each in parameters[2:]
        if each.default is each.empty
        and each.kind not in variable
        and each.name not in {*inputs, *added}
    ]
    if unknown or missing:
        problem = f"does not take {unknown}" if unknown else f"also needs {missing}"
        raise InputError(
            f"the model {problem}; the arguments of its forward are {', '.join(sorted(names))}, "
            f"and inputs= has {sorted(inputs)}"
        )
    return names


def inputs_of_hetero(module: nn.Module, data: Any) -> dict[str, Any]:
    """Return the further inputs in a ``HeteroData`` object that the model takes.

    For example, the argument ``edge_attr_dict`` is read from the attribute ``edge_attr`` of all
    types.
    """
    names = list(inspect.signature(module.forward).parameters)[2:]
    found = {
        name: data.collect(name.removesuffix("_dict"), True)
        for name in names
        if name.endswith("_dict") and name != _BATCH
    }
    return {name: values for name, values in found.items() if values}


class _View:
    """A subgraph, split by node and edge types."""

    def __init__(self, layout: Layout, part: Subgraph, inputs: Mapping[str, Any]) -> None:
        self._layout, self._part, self._inputs = layout, part, inputs
        self.num_nodes = len(part.nodes)
        kinds = layout.kinds[part.nodes]
        self.members: dict[str, NDArray[np.int64]] = {
            name: np.flatnonzero(kinds == number) for number, name in enumerate(layout.sizes)
        }
        self._rank = np.empty(len(part.nodes), dtype=np.int64)
        for members in self.members.values():
            self._rank[members] = np.arange(len(members))

    def blocks(
        self, x: Tensor, edges: SampledEdges | None = None
    ) -> tuple[dict[str, Tensor], dict[EdgeType, Tensor], dict[str, Any]]:
        """Return features, edges and further inputs of all samples, by type.

        Together they are one graph of disconnected copies.
        """
        everything = SampledEdges(np.ones((len(x), len(self._part.edges)), dtype=bool))
        sample, ends, columns = (edges or everything).flat(self._part)
        features = {
            kind: x[:, torch.from_numpy(members).to(x.device), : self._layout.widths[kind]].flatten(
                0, 1
            )
            for kind, members in self.members.items()
        }
        edge_index, rows = {}, {}
        for edge_type, first, stop in self._layout.edge_ranges:
            mine = (columns >= first) & (columns < stop)
            rows[edge_type] = columns[mine] - first
            copies, pairs = sample[mine], self._rank[ends[:, mine]]
            offsets = np.stack([copies * len(self.members[edge_type[at]]) for at in (0, 2)])
            edge_index[edge_type] = torch.from_numpy(pairs + offsets).to(x.device)
        further = {name: self._further(value, rows, x) for name, value in self._inputs.items()}
        return features, edge_index, further

    def pairs(self, pairs: IntArray, kinds: tuple[str, ...], x: Tensor) -> Tensor:
        """Return pairs of nodes of two types, for all samples."""
        sizes = np.array([[len(self.members[kind])] for kind in kinds])
        copies = np.arange(len(x))[:, None, None] * sizes
        blocks = (self._rank[pairs] + copies).transpose(1, 0, 2).reshape(2, -1)
        return torch.from_numpy(blocks).to(x.device)

    def batches(self, x: Tensor) -> dict[str, Tensor]:
        """Return, for each node type, the number of the sample that each node belongs to."""
        samples = torch.arange(len(x), device=x.device)
        return {
            kind: samples.repeat_interleave(len(members)) for kind, members in self.members.items()
        }

    def _further(self, value: Any, edges: Mapping[EdgeType, IntArray], x: Tensor) -> Any:
        """Return a further input with the rows of the nodes or edges of all samples."""
        if not isinstance(value, Mapping):
            return value
        cut = {}
        for kind, rows in value.items():
            if not isinstance(rows, Tensor):
                cut[kind] = rows
                continue
            if kind in edges:
                index: IntArray = edges[kind]
            else:
                nodes = self._part.nodes[self.members[kind]] - self._layout.start(kind)
                index = np.tile(nodes, len(x))
            rows = rows[torch.from_numpy(index).to(rows.device)]
            cut[kind] = rows.to(x) if rows.is_floating_point() else rows.to(x.device)
        return cut
