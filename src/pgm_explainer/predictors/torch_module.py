"""PyTorch and PyTorch Geometric modules as black boxes, as they are.

Many perturbed copies of a graph go through the module in one call where that gives the same
answers as one by one: stacked ``[B, n, F]`` if its layers take that, else as one graph of separate
blocks, else one at a time. Which of them is found by trying, on the module itself.
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
    NOT_THIS_WAY,
    LastParts,
    as_features,
    count_hops,
    distinct_samples,
    first_tensor,
    flow_of,
    same_answers,
)

__all__ = ["BATCHINGS", "TorchModulePredictor", "inputs_of_data"]

BATCHINGS = ("stacked", "blocks", "single")
_TASKS = ("node", "graph", "edge")
_PAIR_NAMES = ("edge_label_index", "pairs")
_PER_EDGE = ("edge_weight", "edge_attr", "edge_type")
_FEATURE_NAMES = ("x", "features", "input")


class TorchModulePredictor(Predictor):
    """A module ``model(x, edge_index, **inputs)``, ``model(data)`` or ``model(x)``.

    Args:
        module: the model; its mode is restored after each call, its parameters are never touched.
        task: ``node``, ``graph`` or ``edge``.
        inputs: further keyword inputs, such as ``edge_weight`` or ``edge_attr``. Those with a row
            per edge or per node are cut to the part of the graph that is asked about.
        output: picks the scores from what the module returns; by default the first tensor.
        batching: ``auto`` to find out, or one of ``stacked``, ``blocks``, ``single``.

    Attributes:
        used: the way of batching found for the last part of the graph.
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
            raise InputError(f"output must be a function of the model's answer, not {output!r}")
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
        self._ways: LastParts[str] = LastParts()

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        features = as_features(x, self.module)
        question = _Question.about(part, self.task, pairs, self.inputs, features)

        def ask() -> Tensor:
            way = "single"
            if len(features) > 1:
                way = self.used = self._choose(part, question, features[0])
            return _WAYS[way](self._call, question, features)

        scores = evaluated(self.module, ask)
        return scores[:, 0] if self.task == "graph" else scores

    def _choose(self, part: Subgraph, question: _Question, features: Tensor) -> str:
        """Return the first way whose answers are those of asking one by one; once for a part."""
        if self.batching != "auto":
            return self.batching
        way = self._ways.get(part)
        if way is None:
            way = self._find_way(question, features)
            self._ways.remember(part, way)
        return way

    def _find_way(self, question: _Question, features: Tensor) -> str:
        trials = distinct_samples(features)
        truth = _one_by_one(self._call, question, trials.clone())
        for way in BATCHINGS[:-1]:
            try:
                answer = _WAYS[way](self._call, question, trials.clone())
            except NOT_THIS_WAY:
                continue
            if same_answers(answer, truth):
                return way
        return "single"


@dataclass(frozen=True)
class _Question:
    """A part of the graph as tensors, with what else the module needs to know of it.

    Attributes:
        rows: how many predictions one sample has.
        per_node, per_edge, shared: further inputs, by what their rows stand for.
    """

    edge_index: Tensor
    nodes: int
    rows: int
    pairs: Tensor | None
    per_node: Mapping[str, Tensor]
    per_edge: Mapping[str, Tensor]
    shared: Mapping[str, Tensor]

    @classmethod
    def about(
        cls,
        part: Subgraph,
        task: str,
        pairs: IntArray | None,
        inputs: Mapping[str, Tensor],
        like: Tensor,
    ) -> _Question:
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
        asked = 0 if pairs is None else pairs.shape[1]
        return cls(
            torch.from_numpy(part.edge_index).to(device),
            nodes,
            {"node": nodes, "graph": 1, "edge": asked}[task],
            None if pairs is None else torch.from_numpy(pairs).to(device),
            sorted_inputs["node"],
            sorted_inputs["edge"],
            sorted_inputs[""],
        )

    @property
    def inputs(self) -> dict[str, Tensor]:
        return {**self.per_node, **self.per_edge, **self.shared}

    def repeated(self, samples: int) -> _Question:
        """The question about one graph of as many separate copies."""
        device = self.edge_index.device
        offsets = torch.arange(samples, device=device) * self.nodes
        batch = self.per_node.get("batch", torch.zeros(self.nodes, dtype=torch.long, device=device))
        graphs = int(batch.max()) + 1
        copies = torch.arange(samples, device=device).repeat_interleave(self.nodes)
        per_node = {name: _copies(value, samples) for name, value in self.per_node.items()}
        return _Question(
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

    def __call__(self, x: Tensor, question: _Question) -> Tensor:
        inputs = question.inputs
        if self._needs_batch and self.style == "graph" and "batch" not in inputs:
            inputs["batch"] = torch.zeros(
                question.nodes, dtype=torch.long, device=question.edge_index.device
            )
        if question.pairs is not None:
            name = next((each for each in _PAIR_NAMES if each in self._names), _PAIR_NAMES[0])
            inputs[name] = question.pairs
        if self.style == "features":
            answer = self._module(x)
        elif self.style == "data":
            from torch_geometric.data import Data

            answer = self._module(Data(x=x, edge_index=question.edge_index, **inputs))
        else:
            wanted = {name: value for name, value in inputs.items() if self._takes(name)}
            answer = self._module(x, question.edge_index, **wanted)
        scores = self._output(answer)
        if not isinstance(scores, Tensor):
            raise ModelError(f"the model answered with a {type(scores).__name__}, not a tensor")
        return scores

    def alone(self, x: Tensor, question: _Question) -> Tensor:
        """Ask about one sample ``x [n, F]``; a module of features may be made for one, or many."""
        if self.style != "features":
            return self(x, question)
        try:
            return self(x[None], question)[0]
        except NOT_THIS_WAY:
            return self(x, question)

    def check_inputs(self, inputs: Mapping[str, Any], task: str) -> None:
        """Refuse inputs that the module does not take, and the lack of those that it must have."""
        if self.style != "graph":
            return
        unknown = [name for name in inputs if not (name in self._names or self._takes_anything)]
        ours = {"batch", *(_PAIR_NAMES if task == "edge" else ())}
        missing = [name for name in self._required[2:] if name not in inputs and name not in ours]
        if unknown or missing:
            problem = f"does not take {unknown}" if unknown else f"also needs {missing}"
            raise InputError(
                f"the model {problem}; its forward takes {', '.join(sorted(self._names))}, "
                f"and inputs= holds {sorted(inputs)}"
            )

    def names_input(self, name: str) -> bool:
        """Say whether the module names this input, or takes a data object with anything in it."""
        return self.style == "data" or name in self._names

    def _takes(self, name: str) -> bool:
        # A batch vector is ours to add; anything else was given by the user and must be taken.
        return name in self._names or self._takes_anything or name != "batch"


def _parameters(module: nn.Module) -> list[inspect.Parameter]:
    """The arguments of a module's forward; TorchScript has its own way to tell them."""
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


def _stacked(call: _Call, question: _Question, x: Tensor) -> Tensor:
    answer = call(x, question)
    if answer.dim() == 2 and question.rows > 1:  # one score per prediction
        answer = answer.unsqueeze(-1)
    if answer.dim() == 2:
        answer = answer.unsqueeze(1)
    if answer.dim() != 3 or answer.shape[:2] != (len(x), question.rows):
        raise _misshapen(answer, question)
    return answer


def _blocks(call: _Call, question: _Question, x: Tensor) -> Tensor:
    answer = call(x.flatten(0, 1), question.repeated(len(x)))
    if answer.dim() not in (1, 2) or len(answer) != len(x) * question.rows:
        raise _misshapen(answer, question)
    return answer.reshape(len(x), question.rows, -1)


def _one_by_one(call: _Call, question: _Question, x: Tensor) -> Tensor:
    answers = []
    for each in x:
        answer = call.alone(each, question)
        if answer.dim() == 0:
            answer = answer[None]
        if answer.dim() == 1:  # one score per prediction, or the scores of the only prediction
            answer = answer.reshape(question.rows, -1) if question.rows > 1 else answer[None]
        if answer.dim() != 2 or len(answer) != question.rows:
            raise _misshapen(answer, question)
        answers.append(answer)
    return torch.stack(answers)


_WAYS: dict[str, Callable[[_Call, _Question, Tensor], Tensor]] = {
    "stacked": _stacked,
    "blocks": _blocks,
    "single": _one_by_one,
}


def _misshapen(answer: Tensor, question: _Question) -> ModelError:
    one_row = answer.dim() == 2 and len(answer) == 1
    hint = "; one row for a whole graph is for task='graph'" if one_row else ""
    return ModelError(
        f"the model answered with shape {list(answer.shape)}; for {question.nodes} nodes this task "
        f"needs one row of scores for each of {question.rows} prediction(s){hint}"
    )


def _row_kind(name: str, value: Tensor, part: Subgraph) -> str:
    """Say what the rows of an input stand for; the name decides where the sizes leave it open."""
    length = len(value) if value.dim() else -1
    if name in _PER_EDGE and value.dim() and length != part.whole_edges:
        raise InputError(
            f"the input {name!r} has {length} rows, but the graph has {part.whole_edges} edges"
        )
    if length == part.whole_edges and (name.startswith("edge") or length != part.whole_nodes):
        return "edge"
    return "node" if length == part.whole_nodes else ""


def _as_input(name: str, value: Any) -> Any:
    """Arrays as tensors; anything else, such as a flag, as it is."""
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
    """Return what else a data object holds that the model takes: weights, attributes, a batch."""
    found = {name: value for name, value in data.to_dict().items() if isinstance(value, Tensor)}
    for name in ("x", "edge_index", "y", *(n for n in found if n.endswith("_mask"))):
        found.pop(name, None)
    if not isinstance(model, nn.Module):
        return {}
    call = _Call(model, first_tensor)
    return {name: value for name, value in found.items() if call.names_input(name)}
