"""How a PyTorch module is called on a subgraph: its inputs as tensors, and its arguments."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..arrays import IntArray
from ..errors import InputError, ModelError
from ..graph import SampledEdges, Subgraph
from ..limits import brief
from .torch_tools import UNSUPPORTED, first_tensor

__all__ = ["ModuleCall", "Request", "inputs_of_data", "joined_inputs", "takes_batch", "takes_input"]

_PAIR_NAMES = ("edge_label_index", "pairs")
_FEATURE_NAMES = ("x", "features", "input")
_PER_EDGE = ("edge_weight", "edge_attr", "edge_type")


class ModuleCall:
    """How a module is called: with a graph, with a data object, or with features alone."""

    def __init__(self, module: nn.Module, output: Callable[[Any], Any]) -> None:
        self._module, self._output = module, output
        parameters = _parameters(module)
        self._names = {each.name for each in parameters}
        self._needs_batch = any(p.name == "batch" and p.default is p.empty for p in parameters)
        self._takes_anything = any(each.kind is each.VAR_KEYWORD for each in parameters)
        variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        required = [
            each for each in parameters if each.default is each.empty and each.kind not in variable
        ]
        self._required = [each.name for each in required]
        only = required[0].name if len(required) == 1 else ""
        unspecific = any(each.kind is each.VAR_POSITIONAL for each in parameters)
        self.style = "graph"
        if only and not unspecific and "edge_index" not in self._names:
            self.style = "features" if only in _FEATURE_NAMES else "data"

    def __call__(self, x: Tensor, request: Request) -> Tensor:
        inputs = request.inputs
        if self._needs_batch and self.style == "graph" and "batch" not in inputs:
            inputs["batch"] = torch.zeros(
                request.nodes, dtype=torch.long, device=request.edge_index.device
            )
        if request.pairs is not None:
            name = next((each for each in _PAIR_NAMES if each in self._names), _PAIR_NAMES[0])
            inputs[name] = request.pairs
        if self.style == "features":
            answer = self._module(x)
        elif self.style == "data":
            from torch_geometric.data import Data

            answer = self._module(Data(x=x, edge_index=request.edge_index, **inputs))
        else:
            wanted = {name: value for name, value in inputs.items() if self._takes(name)}
            answer = self._module(x, request.edge_index, **wanted)
        scores = self._output(answer)
        if not isinstance(scores, Tensor):
            raise ModelError(
                f"the model returned a {type(scores).__name__}, not a tensor; wrap it in a "
                f"TorchModulePredictor with output, a function that selects the scores"
            )
        return scores

    def alone(self, x: Tensor, request: Request) -> Tensor:
        """Return the output for one sample ``x [n, F]``.

        A module that takes features alone may need them as a batch, ``[1, n, F]``.
        """
        if self.style != "features":
            return self(x, request)
        try:
            return self(x[None], request)[0]
        except UNSUPPORTED:
            return self(x, request)

    def check_inputs(self, inputs: Mapping[str, Any], task: str) -> None:
        """Raise an InputError for unknown inputs, and for missing required ones."""
        if self.style != "graph":
            return
        unknown = [name for name in inputs if not (name in self._names or self._takes_anything)]
        added = {"batch", *(_PAIR_NAMES if task == "edge" else ())}
        missing = [name for name in self._required[2:] if name not in inputs and name not in added]
        if unknown or missing:
            problem = f"does not take {unknown}" if unknown else f"also needs {missing}"
            raise InputError(
                f"the model {problem}; the arguments of its forward are "
                f"{', '.join(sorted(self._names))}, and inputs= has {sorted(inputs)}"
            )

    def names_input(self, name: str) -> bool:
        """Return whether the module has an argument of this name, or takes a data object."""
        return self.style == "data" or name in self._names

    def _takes(self, name: str) -> bool:
        # The batch vector is left out if the module does not take it. All other inputs were passed
        # by the user.
        return name in self._names or self._takes_anything or name != "batch"


def _parameters(module: nn.Module) -> list[inspect.Parameter]:
    """Return the arguments of a module's forward; for TorchScript from its schema."""
    if not isinstance(module, torch.jit.ScriptModule):
        return list(inspect.signature(module.forward).parameters.values())
    forward: Any = module.forward
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=each.default_value if each.has_default_value() else inspect.Parameter.empty,
        )
        for each in forward.schema.arguments[1:]
    ]


def inputs_of_data(model: Any, data: Any) -> dict[str, Any]:
    """Return the further inputs in a data object, such as edge weights, that the model takes."""
    found = {name: value for name, value in data.to_dict().items() if isinstance(value, Tensor)}
    for name in ("x", "edge_index", "adj_t", "y", *(n for n in found if n.endswith("_mask"))):
        found.pop(name, None)
    if not isinstance(model, nn.Module):
        return {}
    call = ModuleCall(model, first_tensor)
    return {name: value for name, value in found.items() if call.names_input(name)}


def takes_input(model: nn.Module, name: str) -> bool:
    """Return whether a module has an argument of this name, or takes a data object."""
    return ModuleCall(model, first_tensor).names_input(name)


def takes_batch(model: nn.Module) -> bool:
    """Return whether a module takes the vector ``batch``, the graph of each node."""
    return takes_input(model, "batch")


def joined_inputs(model: nn.Module, objects: Sequence[Any]) -> dict[str, Any]:
    """Return the further inputs of many data objects, one after the other.

    A data object may have any attributes. If the model takes data objects, attributes without a row
    for each node or edge are left out.

    Raises:
        InputError: some of the objects lack an input of the others, or the model takes an input
            that has no row for each node or edge.
    """
    found = [inputs_of_data(model, each) for each in objects]
    names = {name for each in found for name in each if name != "batch"}
    joined: dict[str, Any] = {}
    for name in sorted(names):
        missing = [at for at, each in enumerate(found) if name not in each]
        if missing:
            raise InputError(f"graph {missing[0]} has no {brief(name)}, but other graphs have")
        other = [
            at
            for at, (each, data) in enumerate(zip(found, objects, strict=True))
            if each[name].dim() == 0 or len(each[name]) not in (len(data.x), data.num_edges)
        ]
        if not other:
            joined[name] = torch.cat([each[name] for each in found])
        elif ModuleCall(model, first_tensor).style != "data":
            raise InputError(
                f"the input {brief(name)} of graph {other[0]} has no row for each node or edge; "
                f"with many graphs, such inputs are not supported: explain the graphs one at a time"
            )
    return joined


@dataclass(frozen=True)
class Request:
    """A subgraph and further inputs as tensors.

    Attributes:
        edge_index: edges ``[2, E]``, or a sparse matrix ``[receivers, senders]`` of edges.
        rows: the number of predictions per sample.
        per_node, per_edge, shared: further inputs with a row per node, with a row per edge, and
            others.
        precision: the type of the features.
    """

    edge_index: Tensor
    nodes: int
    rows: int
    pairs: Tensor | None
    per_node: Mapping[str, Tensor]
    per_edge: Mapping[str, Tensor]
    shared: Mapping[str, Tensor]
    precision: torch.dtype
    _last: dict[tuple[int, bool], Request] = field(default_factory=dict, compare=False)

    @classmethod
    def on(
        cls,
        part: Subgraph,
        task: str,
        pairs: IntArray | None,
        inputs: Mapping[str, Tensor],
        like: Tensor,
    ) -> Request:
        device = like.device
        sorted_inputs: dict[str, dict[str, Tensor]] = {"node": {}, "edge": {}, "": {}}
        index = {"node": torch.from_numpy(part.nodes), "edge": torch.from_numpy(part.edges)}
        for name, value in inputs.items():
            if not isinstance(value, Tensor):
                sorted_inputs[""][name] = value
                continue
            kind = _row_kind(name, value, part)
            cut = value[index[kind].to(value.device)] if kind else value
            sorted_inputs[kind][name] = cut.to(like) if cut.is_floating_point() else cut.to(device)
        nodes = len(part.nodes)
        graphs = 1
        if "batch" in sorted_inputs["node"]:  # a subgraph may contain only some of the graphs
            present, batch = torch.unique(sorted_inputs["node"]["batch"], return_inverse=True)
            sorted_inputs["node"]["batch"], graphs = batch, len(present)
        num_pairs = 0 if pairs is None else pairs.shape[1]
        return cls(
            torch.from_numpy(part.edge_index).to(device),
            nodes,
            {"node": nodes, "graph": graphs, "edge": num_pairs}[task],
            None if pairs is None else torch.from_numpy(pairs).to(device),
            sorted_inputs["node"],
            sorted_inputs["edge"],
            sorted_inputs[""],
            like.dtype,
        )

    def asks(self, pairs: IntArray | None) -> bool:
        """Return whether the request is for these pairs of nodes, or for none."""
        if pairs is None or self.pairs is None:
            return pairs is None and self.pairs is None
        return np.array_equal(self.pairs.cpu().numpy(), pairs)

    @property
    def inputs(self) -> dict[str, Tensor]:
        return {**self.per_node, **self.per_edge, **self.shared}

    def repeated(self, samples: int) -> Request:
        """Return the request on one graph of this many disconnected copies."""
        device = self.edge_index.device
        offsets = torch.arange(samples, device=device) * self.nodes
        batch = self.per_node.get("batch", torch.zeros(self.nodes, dtype=torch.long, device=device))
        graphs = int(batch.max()) + 1
        copies = torch.arange(samples, device=device).repeat_interleave(self.nodes)
        per_node = {name: _copies(value, samples) for name, value in self.per_node.items()}
        return Request(
            _shifted(self.edge_index, offsets),
            self.nodes * samples,
            self.rows * samples,
            None if self.pairs is None else _shifted(self.pairs, offsets),
            {**per_node, "batch": batch.repeat(samples) + copies * graphs},
            {name: _copies(value, samples) for name, value in self.per_edge.items()},
            self.shared,
            self.precision,
        )

    def interleaved(self, samples: int) -> Request:
        """Return the request on disconnected copies; the copies of a node follow each other.

        Pairs and graphs are in the order of the copies, as in :meth:`repeated`.
        """
        device = self.edge_index.device
        copies = torch.arange(samples, device=device)
        batch = self.per_node.get("batch", torch.zeros(self.nodes, dtype=torch.long, device=device))
        graphs = int(batch.max()) + 1
        pairs = self.pairs
        each = partial(torch.repeat_interleave, repeats=samples, dim=0)
        per_node = {name: each(value) for name, value in self.per_node.items()}
        return Request(
            (self.edge_index[:, :, None] * samples + copies).flatten(1),
            self.nodes * samples,
            self.rows * samples,
            None if pairs is None else (pairs[:, None] * samples + copies[:, None]).flatten(1),
            {**per_node, "batch": each(batch) + copies.repeat(self.nodes) * graphs},
            {name: each(value) for name, value in self.per_edge.items()},
            self.shared,
            self.precision,
        )

    def copies(self, samples: int, sparse: bool = False) -> Request:
        """Return the result of :meth:`repeated`, cached; optionally with a sparse edge matrix."""
        key = (samples, sparse)
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._sparse(samples) if sparse else self.repeated(samples)
        return self._last[key]

    def _sparse(self, samples: int) -> Request:
        # If the edges of one copy are sorted, the edges of all copies are sorted too.
        order = _by_receiver(self.edge_index, self.nodes)
        return replace(self, edge_index=self.edge_index[:, order]).repeated(samples).as_matrix()

    def as_matrix(self) -> Request:
        """Return the request with its edges, sorted by receiver, as a sparse matrix.

        Layers of PyTorch Geometric that support sparse matrices are then several times as fast.

        Raises:
            ModelError: there are further inputs for each edge, which the matrix cannot hold.
        """
        if self.per_edge:
            raise ModelError("a sparse matrix has no place for further inputs of edges")
        senders, receivers = self.edge_index
        counts = torch.bincount(receivers, minlength=self.nodes)
        offsets = torch.cat((counts.new_zeros(1), counts.cumsum(0)))
        ones = torch.ones(len(senders), dtype=self.precision, device=offsets.device)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse ", UserWarning)  # beta; not validated
            shape = (self.nodes, self.nodes)
            matrix = torch.sparse_csr_tensor(offsets, senders, ones, size=shape)
        return replace(self, edge_index=matrix)

    def with_edges(
        self,
        part: Subgraph,
        edges: SampledEdges,
        inputs: Mapping[str, Tensor],
        sparse: bool = False,
    ) -> Request:
        """Return the request on one graph of disconnected copies with different edges."""
        repeated = self.copies(len(edges))
        order = None
        if sparse and edges.edge_index is None:
            order = _by_receiver(self.edge_index, self.nodes).numpy()
        sample, ends, columns = edges.flat(part, order)
        device = self.edge_index.device
        column = torch.from_numpy(columns)
        edge_index = torch.from_numpy(ends + sample * self.nodes).to(device)
        if sparse and order is None:
            edge_index = edge_index[:, _by_receiver(edge_index, repeated.nodes)]
        found = replace(
            repeated,
            edge_index=edge_index,
            per_edge={
                name: inputs[name][column.to(inputs[name].device)].to(value)
                for name, value in self.per_edge.items()
            },
        )
        return found.as_matrix() if sparse else found


def _row_kind(name: str, value: Tensor, part: Subgraph) -> str:
    """Return whether an input has rows per ``node`` or ``edge``; if unclear, its name decides."""
    length = len(value) if value.dim() else -1
    if name in _PER_EDGE and value.dim() and length != part.whole_edges:
        raise InputError(
            f"the input {brief(name)} has {length} rows, but the graph has {part.whole_edges} edges"
        )
    if length == part.whole_edges and (name.startswith("edge") or length != part.whole_nodes):
        return "edge"
    return "node" if length == part.whole_nodes else ""


def _copies(value: Tensor, samples: int) -> Tensor:
    return value.repeat(samples, *([1] * (value.dim() - 1)))


def _shifted(pairs: Tensor, offsets: Tensor) -> Tensor:
    """Repeat pairs of nodes once for each offset."""
    return (pairs[:, None, :] + offsets[:, None]).flatten(1)


def _by_receiver(edge_index: Tensor, nodes: int) -> Tensor:
    """Return the order of edges by receiver, then sender."""
    senders, receivers = edge_index.cpu()
    return torch.argsort(receivers * nodes + senders)
