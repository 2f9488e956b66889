"""Adapter for DGL models, called as ``model(graph, features)``.

DGL is not a dependency of this package. For torch 2.13, install version 1.1.3 with
``pip install --no-deps dgl==1.1.3``. Later versions need a C++ library built for the exact version
of torch, and do not load. DGL also imports numpy, scipy, networkx, requests, tqdm, psutil and
packaging. Set ``DGLBACKEND=pytorch`` in the environment; otherwise DGL writes a file to the home
folder, and fails if it cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from ..arrays import FloatArray, IntArray, check_name
from ..errors import InputError, ModelError, PGMExplainerError
from ..graph import Subgraph
from ..limits import brief
from .base import Predictor
from .torch_tools import (
    SubgraphCache,
    check_ready,
    distinct_samples,
    evaluated,
    first_tensor,
    same_scores,
    some_parameter,
)

__all__ = ["DglPredictor"]

_TASKS = ("node", "graph")


class DglPredictor(Predictor):
    """A module called as ``model(graph, features)``, with a homogeneous ``dgl.DGLGraph``.

    A batch of samples is passed as one large graph that consists of disconnected copies. Its batch
    sizes are set as by ``dgl.batch``, so that readouts (which pool all nodes of a copy) work. For
    each subgraph, a trial call first checks that this gives the same scores as one sample at a
    time. If not, samples are passed one at a time.

    As in DGL's subgraphs, ``graph.ndata[dgl.NID]`` and ``graph.edata[dgl.EID]`` hold the indices of
    nodes and edges in the whole graph. With these a model can look up further data, such as edge
    weights. Data that a model stores in the graph is discarded after the call.

    DGL's layers reject nodes without incoming edges by default. If the model does so, such nodes of
    a subgraph get a self-loop. In the whole graph these nodes do have incoming edges, so they are
    at the boundary of the subgraph, where the self-loops do not affect the recorded predictions.

    Args:
        model: the model; its training mode is restored after each call, and its parameters are
            never modified.
        task: ``node`` or ``graph``.
        output: a function that takes the model's output and returns the scores, with a row for
            each node or graph; by default the first tensor.

    Attributes:
        batched: whether the samples of the last call were passed in one batch.

    Raises:
        PGMExplainerError: DGL is not installed or does not load.
    """

    accepts_subgraph = True

    def __init__(
        self,
        model: nn.Module,
        task: str = "node",
        *,
        output: Callable[[Any], Any] | None = None,
    ) -> None:
        check_ready(model)
        check_name(task, "task", _TASKS)
        if output is not None and not callable(output):
            raise InputError(
                f"output must be a function of the model's output, not {brief(output)}"
            )
        _dgl()
        self.module = model
        self.task = task
        self.batched: bool | None = None
        self._output = output or first_tensor
        self._copies: _Copies | None = None
        self._modes: SubgraphCache[_Mode] = SubgraphCache()

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        if pairs is not None:
            raise InputError(
                "DglPredictor does not support edge tasks; it supports node and graph tasks"
            )
        features = self._tensor(x)
        scores = evaluated(self.module, lambda: self._scores(features, part))
        return scores[:, 0] if self.task == "graph" else scores

    def _scores(self, features: Tensor, part: Subgraph) -> Tensor:
        mode = self._modes.find(part, lambda: self._find_mode(part, features[0]))
        copies = self._copies
        if copies is None or copies.part is not part:
            copies = self._copies = _Copies(part, features.device, mode.self_loops)
        self.batched = mode.batched
        return (self._batched if mode.batched else self._one_by_one)(copies, features)

    def _find_mode(self, part: Subgraph, features: Tensor) -> _Mode:
        """Find out by trial how the model can be called on a subgraph."""
        self_loops = self._needs_self_loops(part, features)
        copies = _Copies(part, features.device, self_loops)
        return _Mode(self_loops, self._batching_is_exact(copies, features))

    def _tensor(self, x: FloatArray) -> Tensor:
        like = some_parameter(self.module)
        # Always a copy, because the model may modify its input.
        if like is None:
            return torch.tensor(x)
        integers = x.dtype.kind in "iu"  # such as the indices of an embedding
        return torch.tensor(x, dtype=None if integers else like.dtype, device=like.device)

    def _needs_self_loops(self, part: Subgraph, features: Tensor) -> bool:
        """Return whether the model rejects a subgraph with nodes without incoming edges."""
        try:
            self._one_by_one(_Copies(part, features.device), features[None].clone())
        except _dgl().DGLError as error:
            if _is_whole(part) or "0-in-degree" not in str(error):
                raise
            return True
        return False

    def _batching_is_exact(self, copies: _Copies, features: Tensor) -> bool:
        trials = distinct_samples(features)
        try:
            single = self._one_by_one(copies, trials.clone())
            batched = self._batched(copies, trials)
        # DGL's errors have no narrower base class. The model may not support batches; other
        # failures are raised again by the actual call.
        except Exception:
            return False
        return same_scores(batched, single)

    def _batched(self, copies: _Copies, x: Tensor) -> Tensor:
        scores = self._call(copies.graph(len(x)), x.flatten(0, 1), self._rows(x) * len(x))
        return scores.reshape(len(x), self._rows(x), -1)

    def _one_by_one(self, copies: _Copies, x: Tensor) -> Tensor:
        graph = copies.graph(1)
        return torch.stack([self._call(graph, each, self._rows(x)) for each in x])

    def _rows(self, x: Tensor) -> int:
        """Return the number of predictions per sample."""
        return x.shape[1] if self.task == "node" else 1

    def _call(self, graph: Any, x: Tensor, rows: int) -> Tensor:
        """Return scores ``[rows, C]``."""
        scores = self._output(self.module(graph.local_var(), x))
        if not isinstance(scores, Tensor):
            raise ModelError(
                f"the model returned a {type(scores).__name__}, not a tensor; pass output, a "
                f"function that selects the scores from the model's output"
            )
        if scores.dim() < 2:  # one score per prediction, or the scores of the only prediction
            scores = scores.reshape(-1, 1) if rows > 1 else scores.reshape(1, -1)
        if scores.dim() != 2 or len(scores) != rows:
            raise ModelError(
                f"the model returned scores of shape {list(scores.shape)} for {len(x)} nodes; a "
                f"{self.task} task needs [{rows}, classes]; pass output, a function that selects "
                f"the scores, such as output=lambda heads: heads.mean(1) for attention heads"
            )
        return scores


@dataclass(frozen=True)
class _Mode:
    """How a model is called on a subgraph."""

    self_loops: bool
    batched: bool


class _Copies:
    """A subgraph as DGL graphs of one or more disconnected copies."""

    def __init__(self, part: Subgraph, device: torch.device, self_loops: bool = False) -> None:
        self.part = part
        self._nodes = torch.tensor(part.nodes, device=device)
        self._edges = torch.tensor(part.edges, device=device)
        self._ends = torch.tensor(part.edge_index, device=device)
        self._made: tuple[int, Any] = (0, None)
        if self_loops:
            self._add_loops()

    def _add_loops(self) -> None:
        """Add a self-loop to every node without incoming edges."""
        incoming = torch.bincount(self._ends[1], minlength=len(self._nodes))
        bare = torch.nonzero(incoming == 0).flatten()
        self._ends = torch.cat((self._ends, bare.expand(2, -1)), dim=1)
        self._edges = torch.cat((self._edges, torch.zeros_like(bare)))  # 0 is a placeholder

    def graph(self, samples: int) -> Any:
        """Return a graph of this many copies; the last one is cached."""
        if self._made[0] != samples:
            self._made = (samples, self._make(samples))
        return self._made[1]

    def _make(self, samples: int) -> Any:
        dgl, nodes = _dgl(), len(self._nodes)
        offsets = nodes * torch.arange(samples, device=self._ends.device)
        source, target = (self._ends[:, None, :] + offsets[:, None]).flatten(1)
        graph = dgl.graph((source, target), num_nodes=nodes * samples)
        # As dgl.batch does, but without creating a graph for every copy.
        graph.set_batch_num_nodes(torch.full_like(offsets, nodes))
        graph.set_batch_num_edges(torch.full_like(offsets, len(self._edges)))
        graph.ndata[dgl.NID] = self._nodes.repeat(samples)
        graph.edata[dgl.EID] = self._edges.repeat(samples)
        return graph


def _is_whole(part: Subgraph) -> bool:
    return len(part.nodes) == part.whole_nodes and len(part.edges) == part.whole_edges


def _dgl() -> Any:
    """Return the dgl package.

    Raises:
        PGMExplainerError: it is not installed or does not load.
    """
    try:
        return import_module("dgl")
    except Exception as error:  # a DGL for another version of torch fails in many ways
        raise PGMExplainerError(
            f"DGL does not load ({type(error).__name__}: {error}); with torch 2.13, "
            f"'pip install --no-deps dgl==1.1.3' works, together with networkx, requests, tqdm, "
            f"psutil and packaging, and DGLBACKEND=pytorch in the environment"
        ) from error
