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

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..arrays import FloatArray, IntArray, check_name
from ..errors import InputError, ModelError
from ..graph import FLOWS, SampledEdges, Subgraph
from ..limits import brief
from .base import Predictor, SharedRows
from .torch_call import ModuleCall, Request
from .torch_rows import RowTensor
from .torch_tools import (
    UNSUPPORTED,
    SubgraphCache,
    as_features,
    check_ready,
    count_hops,
    distinct_samples,
    evaluated,
    faster_with_matrix,
    first_tensor,
    flow_of,
    gives,
    like_floats,
    same_scores,
    takes_any_matrix,
)

__all__ = ["BATCHINGS", "TorchModulePredictor"]

BATCHINGS = ("sparse", "stacked", "blocks", "single")
_LARGE_OUTPUT = 1 << 20
"""With at least this many scores per sample, a batch takes much memory and is hardly faster."""
_TASKS = ("node", "graph", "edge")


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
        check_name(batching, "batching", ("auto", *BATCHINGS))
        check_name(task, "task", _TASKS)
        if inputs is not None and not isinstance(inputs, Mapping):
            raise InputError(f"inputs must be a mapping from names to tensors, not {brief(inputs)}")
        if output is not None and not callable(output):
            raise InputError(
                f"output must be a function of the model's output, not {brief(output)}"
            )
        check_ready(module)
        self.module = module
        self.task = task
        self.batching = batching
        self.used: str | None = None
        self._call = ModuleCall(module, output or first_tensor)
        self._call.check_inputs({} if inputs is None else inputs, task)
        self.accepts_subgraph = self._call.style != "features"
        self.batches_graphs = self._call.names_input("batch")
        self.num_layers = count_hops(module)
        self.flow = flow_of(module)
        self.inputs = {
            name: _as_input(name, value)
            for name, value in ({} if inputs is None else inputs).items()
        }
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
        few = SharedRows(x.table, x.index[:2])
        return self._saving.find(part, lambda: self._try_rows(few, part, pairs))

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

        def find() -> str:
            expected = torch.cat([one(0), one(1)])
            # With other layers, a batch may be right for some edges and wrong for others.
            simple = only_removed and self._may_be_sparse and takes_any_matrix(self.module)
            if simple and gives(lambda: many(2, True), expected):
                return "sparse"
            return "blocks" if gives(lambda: many(2, False), expected) else "single"

        return self._edge_batchings.find(part, find)

    def _choose(self, part: Subgraph, request: Request, features: Tensor) -> str:
        """Return the first way of batching that gives the same scores as single samples; cached."""
        if self.batching != "auto":
            return self.batching
        return self._batchings.find(part, lambda: self._find_batching(request, features))

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
            if gives(partial(_CALLS[batching], self._call, request, trials.clone()), expected):
                return batching
        return "single"


def _stacked(call: ModuleCall, request: Request, x: Tensor) -> Tensor:
    answer = call(x, request)
    if answer.dim() == 2 and request.rows > 1:  # one score per prediction
        answer = answer.unsqueeze(-1)
    if answer.dim() == 2:
        answer = answer.unsqueeze(1)
    if answer.dim() != 3 or answer.shape[:2] != (len(x), request.rows):
        raise _misshapen(answer, request)
    return answer


def _blocks(call: ModuleCall, request: Request, x: Tensor) -> Tensor:
    return _rows_of(call(x.flatten(0, 1), request.copies(len(x))), len(x), request)


def _sparse(call: ModuleCall, request: Request, x: Tensor) -> Tensor:
    return _rows_of(call(x.flatten(0, 1), request.copies(len(x), sparse=True)), len(x), request)


def _rows_of(answer: Tensor, samples: int, request: Request) -> Tensor:
    """Return the output for a graph of disconnected copies as ``[samples, rows, C]``."""
    if answer.dim() not in (1, 2) or len(answer) != samples * request.rows:
        raise _misshapen(answer, request)
    return answer.reshape(samples, request.rows, -1)


def _one_by_one(call: ModuleCall, request: Request, x: Tensor) -> Tensor:
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


_CALLS: dict[str, Callable[[ModuleCall, Request, Tensor], Tensor]] = {
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
    except (RuntimeError, TypeError, ValueError, MemoryError) as error:
        raise InputError(f"the input {brief(name)} cannot be read as a tensor: {error}") from error
