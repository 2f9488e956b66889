"""Adapter for PyTorch and PyTorch Geometric modules.

A batch of samples is passed to the module in one call, if possible. Trial calls find the first of
these ways that gives the same scores as one sample at a time:

- ``sparse``: one graph of disconnected copies, with a sparse matrix of edges. Only for layers of
  PyTorch Geometric that support it.
- ``stacked``: features stacked as ``[B, n, F]``.
- ``blocks``: one graph of disconnected copies, with an ``edge_index``.
- ``single``: one sample at a time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..arrays import FloatArray, IntArray
from ..errors import InputError, ModelError
from ..graph import FLOWS, SampledEdges, Subgraph
from .base import Predictor
from .shared_rows import SharedRows
from .torch_request import Request
from .torch_rows import RowTensor
from .torch_state import check_ready, evaluated
from .torch_tools import (
    UNSUPPORTED,
    SubgraphCache,
    as_features,
    count_hops,
    distinct_samples,
    faster_with_matrix,
    first_tensor,
    flow_of,
    like_floats,
    same_scores,
    takes_any_matrix,
)

__all__ = [
    "BATCHINGS",
    "TorchModulePredictor",
    "inputs_of_data",
    "joined_inputs",
    "takes_batch",
    "takes_input",
]

BATCHINGS = ("sparse", "stacked", "blocks", "single")
_LARGE_OUTPUT = 1 << 20
"""With at least this many scores per sample, a batch takes much memory and is hardly faster."""
_TASKS = ("node", "graph", "edge")
_PAIR_NAMES = ("edge_label_index", "pairs")
_FEATURE_NAMES = ("x", "features", "input")


class TorchModulePredictor(Predictor):
    """A module ``model(x, edge_index, **inputs)``, ``model(data)`` or ``model(x)``.

    Args:
        module: the model; its training mode is restored after each call, and its parameters are
            never modified.
        task: ``node``, ``graph`` or ``edge``.
        inputs: further keyword arguments, such as ``edge_weight`` or ``edge_attr``. If an input has
            a row per edge or per node, only the rows of the subgraph are passed.
        output: a function that takes the module's output and returns the scores; by default the
            first tensor.
        batching: how samples are batched: ``sparse`` or ``blocks`` (one graph of disconnected
            copies, with a sparse matrix or an ``edge_index``), ``stacked`` (features
            ``[B, n, F]``), ``single`` (one sample at a time), or ``auto`` to find it by trial
            calls.
        many_graphs: whether there are several graphs, given by the input ``batch``; the scores are
            then ``[B, graphs, C]``.

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
        many_graphs: bool = False,
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
        self.batches_graphs = self._call.names_input("batch")
        self.num_layers = count_hops(module)
        self.flow = flow_of(module)
        self.inputs = {name: _as_input(name, value) for name, value in (inputs or {}).items()}
        self._many_graphs = many_graphs
        self._batchings: SubgraphCache[str] = SubgraphCache()
        self._edge_batchings: SubgraphCache[str] = SubgraphCache()
        self._requests: SubgraphCache[Request] = SubgraphCache()
        self._saving: SubgraphCache[bool] = SubgraphCache()

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        features = as_features(x, self.module)
        request = self._request(part, pairs, features)

        def call() -> Tensor:
            batching = "single"
            if len(features) > 1:
                batching = self.used = self._choose(part, request, features[0])
            return _CALLS[batching](self._call, request, features)

        scores = evaluated(self.module, call)
        return scores[:, 0] if self.task == "graph" and not self._many_graphs else scores

    def on_rows(self, x: SharedRows, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        """Return scores, computing the first product of each distinct row only once."""
        if self.saves_on_rows(x, part, pairs):
            try:
                return self._on_rows(x, part, pairs)[0]
            except UNSUPPORTED:  # a model may do in one sample what it did not do in the trial
                self._saving.remember(part, False)
        return self(x.dense(), part, pairs)

    def saves_on_rows(self, x: SharedRows, part: Subgraph, pairs: IntArray | None = None) -> bool:
        """Return whether the model needs features only for products with weights; tried once."""
        known = self._saving.get(part)
        if known is None:
            known = self._try_rows(SharedRows(x.table, x.index[:2]), part, pairs)
            self._saving.remember(part, known)
        return known

    def _try_rows(self, x: SharedRows, part: Subgraph, pairs: IntArray | None) -> bool:
        expected = self(x.dense(), part, pairs)
        if len(x) < 2 or self._batchings.get(part) == "single":
            return False
        try:
            scores, needed = self._on_rows(x, part, pairs)
        except UNSUPPORTED:
            return False
        return not needed and same_scores(scores, expected)

    def _on_rows(
        self, x: SharedRows, part: Subgraph, pairs: IntArray | None
    ) -> tuple[Tensor, bool]:
        """Return scores, and whether the model needed the whole matrix of features."""
        compact = x.compact()
        table = as_features(compact.table, self.module)
        features = RowTensor(table, torch.from_numpy(compact.index.ravel()).to(table.device))
        request = self._request(part, pairs, table)
        batch = request.copies(len(x), sparse=self._batchings.get(part) == "sparse")
        answer = evaluated(self.module, lambda: self._call(features, batch))
        scores = _rows_of(answer, len(x), request)
        single = self.task == "graph" and not self._many_graphs
        return scores[:, 0] if single else scores, features.was_created

    def on_edges(
        self, x: FloatArray, part: Subgraph, edges: SampledEdges, pairs: IntArray | None = None
    ) -> Tensor:
        """Return scores for samples that have different edges, if possible from one call."""
        if self._call.style == "features":
            raise InputError(
                "the edges of this model cannot be perturbed, because its forward does not take "
                "edge_index"
            )
        features = as_features(x, self.module)

        def one(at: int) -> Tensor:
            sample = edges.of_sample(part, at)
            like = like_floats(features, self.module)
            request = Request.on(sample, self.task, pairs, self.inputs, like)
            return _one_by_one(self._call, request, features[at : at + 1])

        def many(stop: int, sparse: bool) -> Tensor:
            request = self._request(part, pairs, features)
            batch = request.with_edges(part, edges.first(stop), self.inputs, sparse)
            return _rows_of(self._call(features[:stop].flatten(0, 1), batch), stop, request)

        def call() -> Tensor:
            only_removed = edges.edge_index is None and edges.edges is None
            batching = "single"
            if len(x) > 1:
                batching = self._edge_batching(part, one, many, only_removed)
            if batching != "single":
                return many(len(x), batching == "sparse")
            return torch.cat([one(at) for at in range(len(x))])

        scores = evaluated(self.module, call)
        return scores[:, 0] if self.task == "graph" and not self._many_graphs else scores

    def has_edge_inputs(self, whole: Subgraph) -> bool:
        """Return whether any of the inputs has a row for each edge."""
        features = torch.empty(0)
        return bool(Request.on(whole, self.task, None, self.inputs, features).per_edge)

    def _request(self, part: Subgraph, pairs: IntArray | None, features: Tensor) -> Request:
        """Return the inputs on a subgraph; cached until the model's device or precision changes."""
        known = self._requests.get(part) if pairs is None else None
        like = like_floats(features, self.module)
        same = known is not None and known.edge_index.device == features.device
        if known is None or not same or known.precision != like.dtype:
            known = Request.on(part, self.task, pairs, self.inputs, like)
            if pairs is None:
                self._requests.remember(part, known)
        return known

    @property
    def _may_be_sparse(self) -> bool:
        """Whether a sparse matrix of edges is tried: for layers that are faster with it.

        Other models may have a faster way for stacked samples.
        """
        return self.flow == FLOWS[0] and faster_with_matrix(self.module)

    def _edge_batching(
        self,
        part: Subgraph,
        one: Callable[[int], Tensor],
        many: Callable[[int, bool], Tensor],
        only_removed: bool,
    ) -> str:
        """Return the way of batching for samples with different edges; determined once."""
        if self.batching != "auto":
            return "blocks" if self.batching == "stacked" else self.batching
        batching = self._edge_batchings.get(part)
        if batching is None:
            batching, expected = "single", torch.cat([one(0), one(1)])
            # With other layers, a batch may be right for some edges and wrong for others.
            simple = only_removed and self._may_be_sparse and takes_any_matrix(self.module)
            for trial in ("sparse", "blocks") if simple else ("blocks",):
                try:
                    if same_scores(many(2, trial == "sparse"), expected):
                        batching = trial
                        break
                except UNSUPPORTED:
                    continue
            self._edge_batchings.remember(part, batching)
        return batching

    def _choose(self, part: Subgraph, request: Request, features: Tensor) -> str:
        """Return the first way of batching that gives the scores of single samples; cached."""
        if self.batching != "auto":
            return self.batching
        batching = self._batchings.get(part)
        if batching is None:
            batching = self._find_batching(request, features)
            self._batchings.remember(part, batching)
        return batching

    def _find_batching(self, request: Request, features: Tensor) -> str:
        trials = distinct_samples(features)
        first = _one_by_one(self._call, request, trials[:1].clone())
        if first.numel() >= _LARGE_OUTPUT:
            return "single"
        rest = _one_by_one(self._call, request, trials[1:].clone())
        expected = torch.cat((first, rest))
        for batching in BATCHINGS[:-1]:
            if batching == "sparse" and not self._may_be_sparse:
                continue
            try:
                scores = _CALLS[batching](self._call, request, trials.clone())
            except UNSUPPORTED:
                continue
            if same_scores(scores, expected):
                return batching
        return "single"


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


def _stacked(call: _Call, request: Request, x: Tensor) -> Tensor:
    answer = call(x, request)
    if answer.dim() == 2 and request.rows > 1:  # one score per prediction
        answer = answer.unsqueeze(-1)
    if answer.dim() == 2:
        answer = answer.unsqueeze(1)
    if answer.dim() != 3 or answer.shape[:2] != (len(x), request.rows):
        raise _misshapen(answer, request)
    return answer


def _blocks(call: _Call, request: Request, x: Tensor) -> Tensor:
    return _rows_of(call(x.flatten(0, 1), request.copies(len(x))), len(x), request)


def _sparse(call: _Call, request: Request, x: Tensor) -> Tensor:
    return _rows_of(call(x.flatten(0, 1), request.copies(len(x), sparse=True)), len(x), request)


def _rows_of(answer: Tensor, samples: int, request: Request) -> Tensor:
    """Return the output for a graph of disconnected copies as ``[samples, rows, C]``."""
    if answer.dim() not in (1, 2) or len(answer) != samples * request.rows:
        raise _misshapen(answer, request)
    return answer.reshape(samples, request.rows, -1)


def _one_by_one(call: _Call, request: Request, x: Tensor) -> Tensor:
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


_CALLS: dict[str, Callable[[_Call, Request, Tensor], Tensor]] = {
    "sparse": _sparse,
    "stacked": _stacked,
    "blocks": _blocks,
    "single": _one_by_one,
}


def _misshapen(answer: Tensor, request: Request) -> ModelError:
    one_row = answer.dim() == 2 and len(answer) == 1
    hint = ""
    if one_row:
        hint = "; for a model with one row of scores for a whole graph, set task='graph'"
    return ModelError(
        f"the model returned scores of shape {list(answer.shape)}; for {request.nodes} nodes this "
        f"task needs one row of scores for each of {request.rows} prediction(s){hint}"
    )


def _as_input(name: str, value: Any) -> Any:
    """Return an array as a tensor; other values, such as flags, are returned unchanged."""
    if not isinstance(value, (Tensor, list)) and not hasattr(value, "__array__"):
        return value
    try:
        tensor = value if isinstance(value, (Tensor, list)) else np.array(value)
        return torch.as_tensor(tensor)
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"the input {name!r} cannot be read as a tensor: {error}") from error


def inputs_of_data(model: Any, data: Any) -> dict[str, Any]:
    """Return the further inputs in a data object, such as edge weights, that the model takes."""
    found = {name: value for name, value in data.to_dict().items() if isinstance(value, Tensor)}
    for name in ("x", "edge_index", "y", *(n for n in found if n.endswith("_mask"))):
        found.pop(name, None)
    if not isinstance(model, nn.Module):
        return {}
    call = _Call(model, first_tensor)
    return {name: value for name, value in found.items() if call.names_input(name)}


def takes_input(model: nn.Module, name: str) -> bool:
    """Return whether a module has an argument of this name, or takes a data object."""
    return _Call(model, first_tensor).names_input(name)


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
            raise InputError(f"graph {missing[0]} has no {name!r}, but other graphs have")
        other = [
            at
            for at, (each, data) in enumerate(zip(found, objects, strict=True))
            if each[name].dim() == 0 or len(each[name]) not in (len(data.x), data.num_edges)
        ]
        if not other:
            joined[name] = torch.cat([each[name] for each in found])
        elif _Call(model, first_tensor).style != "data":
            raise InputError(
                f"the input {name!r} of graph {other[0]} has no row for each node or edge; with "
                f"many graphs, such inputs are not supported: explain the graphs one at a time"
            )
    return joined
