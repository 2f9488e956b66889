"""Adapter for PyTorch and PyTorch Geometric modules.

A batch of samples is passed to the module in one call, if possible. Trial calls find the first of
these ways that gives the same scores as one sample at a time:

- ``shared``: one graph of disconnected copies, with message passing that exploits that all samples
  have the same edges. Only for some layers of PyTorch Geometric, on a CPU; see
  :mod:`.torch_shared`.
- ``sparse``: one graph of disconnected copies, with a sparse matrix of edges. Only for layers of
  PyTorch Geometric that support it.
- ``stacked``: features stacked as ``[B, n, F]``.
- ``blocks``: one graph of disconnected copies, with an ``edge_index``.
- ``single``: one sample at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..arrays import FloatArray, IntArray, check_name
from ..errors import InputError
from ..graph import FLOWS, SampledEdges, Subgraph
from ..limits import brief
from .base import PREDICTED, Predictor, SharedRows
from .torch_batches import CALLS, one_by_one, rows_of
from .torch_call import ModuleCall, Request
from .torch_edges import EdgeBatches
from .torch_layers import shared_layers
from .torch_rows import RowTensor
from .torch_shared import SharedCall
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
    some_parameter,
)

__all__ = ["BATCHINGS", "TorchModulePredictor"]

BATCHINGS = ("shared", "sparse", "stacked", "blocks", "single")
_LARGE_OUTPUT = 1 << 20
"""With at least this many scores per sample, a batch takes much memory and is hardly faster."""
_FEW = 6
"""On a new subgraph, fewer samples than this are faster without trials of the ways of batching."""
_WIDE = 256
"""With at least this many features, most time is for their first product, however batched."""


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
        batching: how samples are batched: ``shared``, ``sparse`` or ``blocks`` (one graph of
            disconnected copies, with shared edges, a sparse matrix or an ``edge_index``),
            ``stacked`` (features ``[B, n, F]``), ``single`` (one sample at a time), or ``auto`` to
            find it by trial calls.
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
        check_name(task, "task", PREDICTED)
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
        self._of_edges = EdgeBatches(
            module, self._call, task, self.inputs, batching, self._shared_call
        )
        self._batchings: SubgraphCache[str] = SubgraphCache()
        self._requests: SubgraphCache[Request] = SubgraphCache()
        self._saving: SubgraphCache[bool] = SubgraphCache()
        self._shared: SubgraphCache[tuple[Request, SharedCall]] = SubgraphCache()
        self._some_nodes: SubgraphCache[_SomeNodes] = SubgraphCache()

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        features = as_features(x, self.module)
        request = self._request(part, pairs, features)

        def call() -> Tensor:
            known = self.batching != "auto" or self._batchings.get(part) is not None
            # A sample of many graphs is large, so that a batch never has more than a few.
            few = 2 if self._many_graphs else _FEW
            if len(features) >= few or (len(features) > 1 and known):
                self.used = self._choose(part, request, features[0])
                return self._way(self.used, part, request)(features)
            return self._few(request, features)

        scores = evaluated(self.module, call)
        return scores[:, 0] if self.task == "graph" and not self._many_graphs else scores

    def _few(self, request: Request, features: Tensor) -> Tensor:
        """Return scores of a few samples on a subgraph that has no way of batching yet.

        If they can share edges, all are predicted at once, and the first is checked.
        """
        saves = len(features) > 2 and features.shape[-1] < _WIDE
        layers = shared_layers(self.module) if saves else []
        if not layers:
            return one_by_one(self._call, request, features)
        first = one_by_one(self._call, request, features[:1].clone())
        try:
            scores = SharedCall(self._call, layers, request)(features.clone())
            if same_scores(scores[:1], first):
                return scores
        except UNSUPPORTED:
            pass
        return torch.cat((first, one_by_one(self._call, request, features[1:])))

    def on_rows(self, x: SharedRows, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        """Return scores, computing the first product of each distinct row only once."""
        if self.saves_on_rows(x, part, pairs):
            try:
                return self._on_rows(x, part, pairs)[0]
            except UNSUPPORTED:  # samples may differ from those of the trial
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
        self,
        x: SharedRows,
        part: Subgraph,
        pairs: IntArray | None = None,
        shared: SharedCall | None = None,
    ) -> tuple[Tensor, bool]:
        """Return scores, and whether the model needed the whole matrix of features."""
        compact = x.compact()
        table = as_features(compact.table, self.module)
        index = torch.from_numpy(compact.index).to(table.device)
        request = self._request(part, pairs, table)
        batching = self._batchings.get(part)
        if shared is None and batching == "shared":
            shared = self._shared_call(part, request)
        if shared is not None:
            scores, created = evaluated(self.module, partial(shared.on_rows, table, index))
        else:
            features = RowTensor(table, index.flatten())
            batch = request.copies(len(x), sparse=batching == "sparse")
            answer = evaluated(self.module, lambda: self._call(features, batch))
            scores, created = rows_of(answer, len(x), request), features.was_created
        single = self.task == "graph" and not self._many_graphs
        return scores[:, 0] if single else scores, created

    def saves_on_nodes(
        self,
        x: FloatArray | SharedRows,
        part: Subgraph,
        nodes: IntArray,
        edges: SampledEdges | None = None,
    ) -> bool:
        """Return whether layers can be computed only where ``nodes`` depend on them."""
        if len(x) < 2 or self.task != "node":
            return False
        return self._of_some(x, part, nodes, edges) is not None

    def of_nodes(
        self,
        x: FloatArray | SharedRows,
        part: Subgraph,
        nodes: IntArray,
        edges: SampledEdges | None = None,
    ) -> Any:
        """Return scores of some nodes; layers are computed only where these depend on them."""
        shared = self._of_some(x, part, nodes, edges)
        try:
            if shared is not None and isinstance(x, SharedRows):
                if self.saves_on_rows(x, part):
                    return self._on_rows(x, part, shared=shared)[0]
            elif not isinstance(x, SharedRows) and shared is not None:
                kept = None if edges is None else torch.from_numpy(edges.kept)
                return evaluated(self.module, partial(shared, as_features(x, self.module), kept))
        except UNSUPPORTED:  # samples may differ from those of the trial
            self._some_nodes.remember(part, _SomeNodes(nodes, edges is None, None))
        return super().of_nodes(x, part, nodes, edges)

    def _of_some(
        self,
        x: FloatArray | SharedRows,
        part: Subgraph,
        nodes: IntArray,
        edges: SampledEdges | None,
    ) -> SharedCall | None:
        """Return the call for some nodes; None if not possible. Determined once."""
        known = self._some_nodes.get(part)
        if known is None or not known.matches(nodes, edges is None):
            first = SharedRows(x.table, x.index[:1]).dense() if isinstance(x, SharedRows) else x[:1]
            features = as_features(first.copy(), self.module)[0]
            request = self._request(part, None, features)
            trial = partial(self._try_some, part, request, features, nodes, edges)
            known = _SomeNodes(nodes, edges is None, evaluated(self.module, trial))
            self._some_nodes.remember(part, known)
        return known.call

    def _try_some(
        self,
        part: Subgraph,
        request: Request,
        features: Tensor,
        nodes: IntArray,
        edges: SampledEdges | None,
    ) -> SharedCall | None:
        trials = distinct_samples(features)
        needed = torch.from_numpy(nodes)
        kept = None
        if edges is None:
            if self._choose(part, request, features) != "shared":
                return None
            expected = self._shared_call(part, request)(trials.clone())
        elif edges.only_removed:
            several = edges.first(1).with_more_removed(len(trials) - 1)
            kept = torch.from_numpy(several.kept)
            expected = self._of_edges.one_by_one(part, None, trials, several)
        else:
            return None
        try:
            found = SharedCall(self._call, shared_layers(self.module), request, needed)
            same = same_scores(found(trials.clone(), kept), expected[:, needed])
            return found if same else None
        except UNSUPPORTED:
            return None

    def size(
        self, part: Subgraph, nodes: IntArray | None = None, same_edges: bool = True
    ) -> tuple[int, int]:
        """Return how many nodes and messages of a sample the model holds at once."""
        some, whole = self._some_nodes.get(part), self._shared.get(part)
        shared = None
        if some is not None and nodes is not None and some.matches(nodes, same_edges):
            shared = some.call
        elif whole and "shared" in (
            [self._batchings.get(part)] if same_edges else self._of_edges.known(part)
        ):
            shared = whole[1]
        return super().size(part) if shared is None else (shared.nodes, shared.held(same_edges))

    @property
    def works_elsewhere(self) -> bool:  # type: ignore[override]
        where = some_parameter(self.module)
        return where is not None and where.device.type != "cpu"

    def takes_by_node(self, part: Subgraph) -> bool:
        """Return whether samples share edges: their layers compute node by node."""
        return "shared" in (self.batching, self._batchings.get(part))

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
        request = self._request(part, pairs, features)
        call = partial(self._of_edges, part, request, pairs, features, edges)
        scores = evaluated(self.module, call)
        return scores[:, 0] if self.task == "graph" and not self._many_graphs else scores

    def has_edge_inputs(self, whole: Subgraph) -> bool:
        """Return whether any of the inputs has a row for each edge."""
        features = torch.empty(0)
        return bool(Request.on(whole, self.task, None, self.inputs, features).per_edge)

    def _request(self, part: Subgraph, pairs: IntArray | None, features: Tensor) -> Request:
        """Return the inputs on a subgraph; cached until the model's device or precision changes."""
        known = self._requests.get(part)
        like = like_floats(features, self.module)
        same = known is not None and known.edge_index.device == features.device
        if known is None or not same or known.precision != like.dtype or not known.asks(pairs):
            known = Request.on(part, self.task, pairs, self.inputs, like)
            self._requests.remember(part, known)
        return known

    def _try(self, batching: str, part: Subgraph, request: Request, features: Tensor) -> Tensor:
        return self._way(batching, part, request)(features)

    def _way(self, batching: str, part: Subgraph, request: Request) -> Callable[[Tensor], Tensor]:
        """Return the function that calls the module on a batch of features."""
        if batching == "shared":
            return self._shared_call(part, request)
        return partial(CALLS[batching], self._call, request)

    def _shared_call(self, part: Subgraph, request: Request) -> SharedCall:
        known = self._shared.get(part)
        if known is None or known[0] is not request:
            known = (request, SharedCall(self._call, shared_layers(self.module), request))
            self._shared.remember(part, known)
        return known[1]

    @property
    def _may_be_sparse(self) -> bool:
        """Whether a sparse matrix of edges is tried: for layers that are faster with it.

        Other models may have a faster way for stacked samples.
        """
        return self.flow == FLOWS[0] and faster_with_matrix(self.module)

    def _choose(self, part: Subgraph, request: Request, features: Tensor) -> str:
        """Return the first way of batching that gives the same scores as single samples; cached."""
        if self.batching != "auto":
            return self.batching
        return self._batchings.find(part, lambda: self._find_batching(part, request, features))

    def _find_batching(self, part: Subgraph, request: Request, features: Tensor) -> str:
        trials = distinct_samples(features)
        first = one_by_one(self._call, request, trials[:1].clone())
        if first.numel() >= _LARGE_OUTPUT:
            return "single"
        rest = one_by_one(self._call, request, trials[1:].clone())
        expected = torch.cat((first, rest))
        for batching in BATCHINGS[:-1]:
            if batching == "sparse" and not self._may_be_sparse:
                continue
            if batching == "shared" and not shared_layers(self.module):
                continue
            if gives(partial(self._try, batching, part, request, trials.clone()), expected):
                return batching
        return "single"


@dataclass(frozen=True)
class _SomeNodes:
    """Some nodes, and the call that computes layers only where these depend on them, if any."""

    nodes: IntArray
    same_edges: bool
    call: SharedCall | None

    def matches(self, nodes: IntArray, same_edges: bool) -> bool:
        return self.same_edges == same_edges and np.array_equal(self.nodes, nodes)


def _as_input(name: str, value: Any) -> Any:
    """Return an array as a tensor; other values, such as flags, are returned unchanged."""
    if not isinstance(value, (Tensor, list)) and not hasattr(value, "__array__"):
        return value
    try:
        tensor = value if isinstance(value, (Tensor, list)) else np.array(value)
        return torch.as_tensor(tensor)
    except Exception as error:  # torch, NumPy and the object itself raise many kinds of errors
        raise InputError(f"the input {brief(name)} cannot be read as a tensor: {error}") from error
