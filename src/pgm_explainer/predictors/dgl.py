"""DGL models as black boxes: called as ``model(graph, features)``.

DGL is not among this package's dependencies. With torch 2.13 the one to take is 1.1.3, installed
as ``pip install --no-deps dgl==1.1.3``: later ones look for a C++ library built for the very
version of torch, and do not load. Without its dependencies, it needs at import what is usually
there: numpy, scipy, networkx, requests, tqdm, psutil and (though it does not say so) packaging.
Set ``DGLBACKEND=pytorch`` in the environment: without it, DGL prints a notice and writes a file
into the home folder, and fails where it cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from ..arrays import FloatArray, IntArray
from ..errors import InputError, ModelError, PGMExplainerError
from ..graph import Subgraph
from .base import Predictor
from .torch_state import check_ready, evaluated
from .torch_tools import LastParts, distinct_samples, first_tensor, same_answers, some_parameter

__all__ = ["DglPredictor"]

_TASKS = ("node", "graph")


class DglPredictor(Predictor):
    """A module called as ``model(graph, features)``, with a homogeneous ``dgl.DGLGraph``.

    Many samples go through the model as one graph of separate blocks, with the sizes of the blocks
    set as by ``dgl.batch``, so that readouts work. For each part of the graph it is first checked
    on the model itself that this gives the answers of asking one by one; else, one by one it is.

    The graph carries, as DGL's own subgraphs do, the ids of its nodes and edges in the whole graph
    in ``graph.ndata[dgl.NID]`` and ``graph.edata[dgl.EID]``: enough for a model to look up what
    else it needs, such as edge weights. What a model stores in the graph is forgotten after.

    Where the model refuses nodes without incoming edges, as DGL's layers do by default, such nodes
    of a part are given a self-loop. The whole graph, which the model was made for, can have none of
    them, so they are at the rim of the part, from where nothing reaches a prediction that counts.

    Args:
        model: its mode is restored after each call, part by part; its parameters stay untouched.
        task: ``node`` or ``graph``.
        output: picks the scores, a row for each node or graph, from what the model returns; by
            default the first tensor.

    Attributes:
        batched: whether the samples of the last call went through the model together.

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
        if not isinstance(task, str) or task not in _TASKS:
            raise InputError(f"unknown task {task!r}; choose one of: {', '.join(_TASKS)}")
        if output is not None and not callable(output):
            raise InputError(f"output must be a function of the model's answer, not {output!r}")
        _dgl()
        self.module = model
        self.task = task
        self.batched: bool | None = None
        self._output = output or first_tensor
        self._copies: _Copies | None = None
        self._ways: LastParts[_Way] = LastParts()

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Tensor:
        if pairs is not None:
            raise InputError("DglPredictor is for node and graph tasks, not for pairs of nodes")
        features = self._tensor(x)
        scores = evaluated(self.module, lambda: self._scores(features, part))
        return scores[:, 0] if self.task == "graph" else scores

    def _scores(self, features: Tensor, part: Subgraph) -> Tensor:
        way = self._ways.get(part)
        if way is None:
            way = self._found_way(part, features[0])
            self._ways.remember(part, way)
        copies = self._copies
        if copies is None or copies.part is not part:
            copies = self._copies = _Copies(part, features.device, way.self_loops)
        self.batched = way.batched
        return (self._together if way.batched else self._one_by_one)(copies, features)

    def _found_way(self, part: Subgraph, features: Tensor) -> _Way:
        """Find out how the model takes a part, by trying."""
        self_loops = self._needs_self_loops(part, features)
        copies = _Copies(part, features.device, self_loops)
        return _Way(self_loops, self._batching_is_exact(copies, features))

    def _tensor(self, x: FloatArray) -> Tensor:
        like = some_parameter(self.module)
        # Always a copy: the model may write into its input, and the caller's array is not its own.
        if like is None:
            return torch.tensor(x)
        return torch.tensor(x, dtype=like.dtype, device=like.device)

    def _needs_self_loops(self, part: Subgraph, features: Tensor) -> bool:
        """Say whether the model takes a part only if no node is without incoming edges."""
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
            together = self._together(copies, trials)
        # DGL's own errors have no narrower parent. Made for one graph only, or not for these
        # features: asking will tell.
        except Exception:
            return False
        return same_answers(together, single)

    def _together(self, copies: _Copies, x: Tensor) -> Tensor:
        scores = self._ask(copies.graph(len(x)), x.flatten(0, 1), self._rows(x) * len(x))
        return scores.reshape(len(x), self._rows(x), -1)

    def _one_by_one(self, copies: _Copies, x: Tensor) -> Tensor:
        graph = copies.graph(1)
        return torch.stack([self._ask(graph, each, self._rows(x)) for each in x])

    def _rows(self, x: Tensor) -> int:
        """How many predictions one sample has."""
        return x.shape[1] if self.task == "node" else 1

    def _ask(self, graph: Any, x: Tensor, rows: int) -> Tensor:
        """Return scores ``[rows, C]``."""
        scores = self._output(self.module(graph.local_var(), x))
        if not isinstance(scores, Tensor):
            raise ModelError(f"the model answered with a {type(scores).__name__}, not a tensor")
        if scores.dim() < 2:  # one score per prediction, or the scores of the only prediction
            scores = scores.reshape(-1, 1) if rows > 1 else scores.reshape(1, -1)
        if scores.dim() != 2 or len(scores) != rows:
            raise ModelError(
                f"the model answered with shape {list(scores.shape)} for {len(x)} nodes; a "
                f"{self.task} task needs [{rows}, classes]: pass output, a function that picks "
                f"the scores from the answer (as output=lambda heads: heads.mean(1) for attention)"
            )
        return scores


@dataclass(frozen=True)
class _Way:
    """How a model takes a part of the graph."""

    self_loops: bool
    batched: bool


class _Copies:
    """A part of the graph as DGL graphs of one or more separate copies of it."""

    def __init__(self, part: Subgraph, device: torch.device, self_loops: bool = False) -> None:
        self.part = part
        self._nodes = torch.tensor(part.nodes, device=device)
        self._edges = torch.tensor(part.edges, device=device)
        self._ends = torch.tensor(part.edge_index, device=device)
        self._made: tuple[int, Any] = (0, None)
        if self_loops:
            self._add_loops()

    def _add_loops(self) -> None:
        """Give every node without incoming edges one from itself."""
        incoming = torch.bincount(self._ends[1], minlength=len(self._nodes))
        bare = torch.nonzero(incoming == 0).flatten()
        self._ends = torch.cat((self._ends, bare.expand(2, -1)), dim=1)
        self._edges = torch.cat((self._edges, torch.zeros_like(bare)))  # any edge: it has no id

    def graph(self, samples: int) -> Any:
        """Return as many copies as one graph; the last one made is remembered."""
        if self._made[0] != samples:
            self._made = (samples, self._make(samples))
        return self._made[1]

    def _make(self, samples: int) -> Any:
        dgl, nodes = _dgl(), len(self._nodes)
        offsets = nodes * torch.arange(samples, device=self._ends.device)
        source, target = (self._ends[:, None, :] + offsets[:, None]).flatten(1)
        graph = dgl.graph((source, target), num_nodes=nodes * samples)
        # As dgl.batch would, without making every copy a graph first.
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
        PGMExplainerError: it is not there, or does not load.
    """
    try:
        return import_module("dgl")
    except Exception as error:  # a DGL made for another torch fails in many ways
        raise PGMExplainerError(
            f"DGL does not load ({type(error).__name__}: {error}); with torch 2.13, "
            f"'pip install --no-deps dgl==1.1.3' works, together with networkx, requests, tqdm, "
            f"psutil and packaging, and DGLBACKEND=pytorch in the environment"
        ) from error
