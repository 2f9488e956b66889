"""Adapter for PyTorch and PyTorch Geometric modules.

A batch of samples is passed in one call if this gives the same scores as one sample at a time:
stacked as ``[B, n, F]`` if the layers support it, else as one graph of disconnected copies, else
one sample at a time. The way of batching is determined by trial calls of the module.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..arrays import FloatArray, IntArray
from ..errors import InputError, ModelError
from ..graph import Subgraph
from .base import Predictor
from .torch_state import check_ready, evaluated
from .torch_tools import (
    UNSUPPORTED,
    SubgraphCache,
    as_features,
    count_hops,
    distinct_samples,
    first_tensor,
    flow_of,
    same_scores,
)

__all__ = ["BATCHINGS", "TorchModulePredictor", "inputs_of_data"]

BATCHINGS = ("stacked", "blocks", "single")
_LARGE_OUTPUT = 1 << 20
"""From this number of scores per sample on, a batch takes much memory and is hardly faster."""
_TASKS = ("node", "graph", "edge")
_PAIR_NAMES = ("edge_label_index", "pairs")
_PER_EDGE = ("edge_weight", "edge_attr", "edge_type")
_FEATURE_NAMES = ("x", "features", "input")


class TorchModulePredictor(Predictor):
    """A module ``model(x, edge_index, **inputs)``, ``model(data)`` or ``model(x)``.

    Args:
        module: the model; its training mode is restored after each call, and its parameters are
            never modified.
        task: ``node``, ``graph`` or ``edge``.
        inputs: further keyword inputs, such as ``edge_weight`` or ``edge_attr``. Those with a row
            per edge or per node are cut to the subgraph.
        output: selects the scores from the module's output; by default the first tensor.
        batching: ``auto`` to determine it, or one of ``stacked``, ``blocks``, ``single``.

    Attributes:
        used: the way of batching used for the last subgraph.
    """

    def __init__(
        self,
        module: nn.Module,
        task: str = "node",
        inputs: Mapping[str, Any] | None = None,
        output: Callable[[Any], Any] | None = None,
        batching: str = "auto",
    ) -> None:
        for what, value, known in (
            ("batching", batching, ("auto", *BATCHINGS)),
            ("task", task, _TASKS),
        ):
            if not isinstance(value, str) or value not in known:
                raise InputError(f"unknown {what} {value!r}; choose one of: {', '.join(known)}")
        if inputs is not None and not isinstance(inputs, Mapping):
            raise InputError(f"inputs must be a mapping from names to tensors, not {inputs!r}")
        if output is not None and not callable(output):
            raise InputError(f"output must be a function of the model's output, not {output!r}")
        check_ready(module)
        self.module = module
        self.task = task
        self.batching = batching
        self.used: str | None = None
        self._call = _Call(module, output or first_tensor)
        self._call.check_inputs(inputs or {}, task)
        self.accepts_subgraph = self._call.style != "features"
        self.num_layers = count_hops(module)
        self.flow = flow_of(module)
        self.inputs = {name: _as_input(name, value) for name, value in (inputs or {}).items()}
        self._batchings: SubgraphCache[str] = SubgraphCache()

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        features = as_features(x, self.module)
        request = _Request.on(part, self.task, pairs, self.inputs, features)

        def call() -> Tensor:
            batching = "single"
            if len(features) > 1:
                batching = self.used = self._choose(part, request, features[0])
            return _CALLS[batching](self._call, request, features)

        scores = evaluated(self.module, call)
        return scores[:, 0] if self.task == "graph" else scores

    def _choose(self, part: Subgraph, request: _Request, features: Tensor) -> str:
        """Return the first way of batching that gives the scores of single samples; cached."""
        if self.batching != "auto":
            return self.batching
        batching = self._batchings.get(part)
        if batching is None:
            batching = self._find_batching(request, features)
            self._batchings.remember(part, batching)
        return batching

    def _find_batching(self, request: _Request, features: Tensor) -> str:
        trials = distinct_samples(features)
        first = _one_by_one(self._call, request, trials[:1].clone())
        if first.numel() >= _LARGE_OUTPUT:
            return "single"
        rest = _one_by_one(self._call, request, trials[1:].clone())
        expected = torch.cat((first, rest))
        for batching in BATCHINGS[:-1]:
            try:
                scores = _CALLS[batching](self._call, request, trials.clone())
            except UNSUPPORTED:
                continue
            if same_scores(scores, expected):
                return batching
        return "single"


@dataclass(frozen=True)
class _Request:
    """A subgraph and further inputs as tensors.

    Attributes:
        rows: the number of predictions per sample.
        per_node, per_edge, shared: further inputs with a row per node, with a row per edge, and
            others.
    """

    edge_index: Tensor
    nodes: int
    rows: int
    pairs: Tensor | None
    per_node: Mapping[str, Tensor]
    per_edge: Mapping[str, Tensor]
    shared: Mapping[str, Tensor]

    @classmethod
    def on(
        cls,
        part: Subgraph,
        task: str,
        pairs: IntArray | None,
        inputs: Mapping[str, Tensor],
        like: Tensor,
    ) -> _Request:
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
        num_pairs = 0 if pairs is None else pairs.shape[1]
        return cls(
            torch.from_numpy(part.edge_index).to(device),
            nodes,
            {"node": nodes, "graph": 1, "edge": num_pairs}[task],
            None if pairs is None else torch.from_numpy(pairs).to(device),
            sorted_inputs["node"],
            sorted_inputs["edge"],
            sorted_inputs[""],
        )

    @property
    def inputs(self) -> dict[str, Tensor]:
        return {**self.per_node, **self.per_edge, **self.shared}

    def repeated(self, samples: int) -> _Request:
        """Return the request on one graph of this many disconnected copies."""
        device = self.edge_index.device
        offsets = torch.arange(samples, device=device) * self.nodes
        batch = self.per_node.get("batch", torch.zeros(self.nodes, dtype=torch.long, device=device))
        graphs = int(batch.max()) + 1
        copies = torch.arange(samples, device=device).repeat_interleave(self.nodes)
        per_node = {name: _copies(value, samples) for name, value in self.per_node.items()}
        return _Request(
            _shifted(self.edge_index, offsets),
            self.nodes * samples,
            self.rows * samples,
            None if self.pairs is None else _shifted(self.pairs, offsets),
            {**per_node, "batch": batch.repeat(samples) + copies * graphs},
            {name: _copies(value, samples) for name, value in self.per_edge.items()},
            self.shared,
        )


class _Call:
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

    def __call__(self, x: Tensor, request: _Request) -> Tensor:
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

    def alone(self, x: Tensor, request: _Request) -> Tensor:
        """Return the output for one sample ``x [n, F]``; a module of features may need a batch."""
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
        # Only the batch vector is optional; all other inputs were passed by the user.
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


def _stacked(call: _Call, request: _Request, x: Tensor) -> Tensor:
    answer = call(x, request)
    if answer.dim() == 2 and request.rows > 1:  # one score per prediction
        answer = answer.unsqueeze(-1)
    if answer.dim() == 2:
        answer = answer.unsqueeze(1)
    if answer.dim() != 3 or answer.shape[:2] != (len(x), request.rows):
        raise _misshapen(answer, request)
    return answer


def _blocks(call: _Call, request: _Request, x: Tensor) -> Tensor:
    answer = call(x.flatten(0, 1), request.repeated(len(x)))
    if answer.dim() not in (1, 2) or len(answer) != len(x) * request.rows:
        raise _misshapen(answer, request)
    return answer.reshape(len(x), request.rows, -1)


def _one_by_one(call: _Call, request: _Request, x: Tensor) -> Tensor:
    answers = []
    for each in x:
        answer = call.alone(each, request)
        if answer.dim() == 0:
            answer = answer[None]
        if answer.dim() == 1:  # one score per prediction, or the scores of the only prediction
            answer = answer.reshape(request.rows, -1) if request.rows > 1 else answer[None]
        if answer.dim() != 2 or len(answer) != request.rows:
            raise _misshapen(answer, request)
        answers.append(answer)
    return torch.stack(answers)


_CALLS: dict[str, Callable[[_Call, _Request, Tensor], Tensor]] = {
    "stacked": _stacked,
    "blocks": _blocks,
    "single": _one_by_one,
}


def _misshapen(answer: Tensor, request: _Request) -> ModelError:
    one_row = answer.dim() == 2 and len(answer) == 1
    hint = ""
    if one_row:
        hint = "; for a model with one row of scores for a whole graph, set task='graph'"
    return ModelError(
        f"the model returned scores of shape {list(answer.shape)}; for {request.nodes} nodes this "
        f"task needs one row of scores for each of {request.rows} prediction(s){hint}"
    )


def _row_kind(name: str, value: Tensor, part: Subgraph) -> str:
    """Return whether an input has rows per ``node`` or ``edge``; in doubt its name decides."""
    length = len(value) if value.dim() else -1
    if name in _PER_EDGE and value.dim() and length != part.whole_edges:
        raise InputError(
            f"the input {name!r} has {length} rows, but the graph has {part.whole_edges} edges"
        )
    if length == part.whole_edges and (name.startswith("edge") or length != part.whole_nodes):
        return "edge"
    return "node" if length == part.whole_nodes else ""


def _as_input(name: str, value: Any) -> Any:
    """Return an array as a tensor; other values, such as flags, are returned unchanged."""
    if not isinstance(value, (Tensor, list)) and not hasattr(value, "__array__"):
        return value
    try:
        tensor = value if isinstance(value, (Tensor, list)) else np.array(value)
        return torch.as_tensor(tensor)
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"the input {name!r} cannot be read as a tensor: {error}") from error


def _copies(value: Tensor, samples: int) -> Tensor:
    return value.repeat(samples, *([1] * (value.dim() - 1)))


def _shifted(pairs: Tensor, offsets: Tensor) -> Tensor:
    """Repeat pairs of nodes once for each offset."""
    return (pairs[:, None, :] + offsets[:, None]).flatten(1)


def inputs_of_data(model: Any, data: Any) -> dict[str, Any]:
    """Return the further inputs in a data object, such as edge weights, that the model takes."""
    found = {name: value for name, value in data.to_dict().items() if isinstance(value, Tensor)}
    for name in ("x", "edge_index", "y", *(n for n in found if n.endswith("_mask"))):
        found.pop(name, None)
    if not isinstance(model, nn.Module):
        return {}
    call = _Call(model, first_tensor)
    return {name: value for name, value in found.items() if call.names_input(name)}
