"""Ways to call a module on samples that have different edges.

Trial calls find the first of these ways that gives the same scores as one sample at a time:

- ``shared``: samples that lack some edges of known layers, see :mod:`.torch_shared`;
- ``sparse``: one graph of disconnected copies, with a sparse matrix of edges;
- ``blocks``: the same with an ``edge_index``;
- ``single``: one sample at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ..arrays import IntArray
from ..graph import FLOWS, SampledEdges, Subgraph
from .torch_batches import one_by_one, rows_of
from .torch_call import ModuleCall, Request
from .torch_layers import shared_layers
from .torch_shared import SharedCall
from .torch_tools import (
    SubgraphCache,
    flow_of,
    gives,
    like_floats,
    takes_any_matrix,
)

__all__ = ["EdgeBatches"]


class EdgeBatches:
    """Calls a module on samples that have different edges.

    Args:
        module: the model.
        call: how it is called.
        task: what it predicts.
        inputs: its further inputs on the whole graph.
        batching: the way of batching, or ``auto``.
        shared: returns the call of a subgraph in which samples share edges.
    """

    def __init__(
        self,
        module: nn.Module,
        call: ModuleCall,
        task: str,
        inputs: Mapping[str, Any],
        batching: str,
        shared: Callable[[Subgraph, Request], SharedCall],
    ) -> None:
        self._module, self._call, self._task = module, call, task
        self._inputs, self._batching, self._shared = inputs, batching, shared
        self._known: SubgraphCache[dict[bool, str]] = SubgraphCache()

    def __call__(
        self,
        part: Subgraph,
        request: Request,
        pairs: IntArray | None,
        features: Tensor,
        edges: SampledEdges,
    ) -> Tensor:
        """Return the scores ``[B, rows, C]`` for features ``[B, n, F]``.

        Args:
            part: the subgraph.
            request: its inputs, if no edge is changed.
            pairs: the pairs of nodes to predict, if any.
            features: the features of each sample.
            edges: the edges of each sample.
        """
        way = "single"
        if len(features) > 1:
            way = self._choose(part, request, pairs, features, edges)
        return self._scores(way, part, request, pairs, features, edges)

    def known(self, part: Subgraph) -> tuple[str, ...]:
        """Return the ways of batching that were found for a subgraph."""
        return tuple((self._known.get(part) or {}).values())

    def one_by_one(
        self, part: Subgraph, pairs: IntArray | None, features: Tensor, edges: SampledEdges
    ) -> Tensor:
        """Return the scores from a call for each sample."""
        like = like_floats(features, self._module)
        scores = []
        for at in range(len(features)):
            sample = edges.of_sample(part, at)
            request = Request.on(sample, self._task, pairs, self._inputs, like)
            scores.append(one_by_one(self._call, request, features[at : at + 1]))
        return torch.cat(scores)

    def _scores(
        self,
        way: str,
        part: Subgraph,
        request: Request,
        pairs: IntArray | None,
        features: Tensor,
        edges: SampledEdges,
    ) -> Tensor:
        if way == "single":
            return self.one_by_one(part, pairs, features, edges)
        if way == "shared":
            return self._shared(part, request)(features, torch.from_numpy(edges.kept))
        batch = request.with_edges(part, edges, self._inputs, way == "sparse")
        return rows_of(self._call(features.flatten(0, 1), batch), len(features), request)

    def _choose(
        self,
        part: Subgraph,
        request: Request,
        pairs: IntArray | None,
        features: Tensor,
        edges: SampledEdges,
    ) -> str:
        """Return the way of batching; determined once, separately for samples that lack edges."""
        if self._batching != "auto":
            return "blocks" if self._batching in ("shared", "stacked") else self._batching
        known = self._known.find(part, dict)
        if edges.only_removed not in known:
            known[edges.only_removed] = self._find(part, request, pairs, features[:2], edges)
        return known[edges.only_removed]

    def _find(
        self,
        part: Subgraph,
        request: Request,
        pairs: IntArray | None,
        x: Tensor,
        edges: SampledEdges,
    ) -> str:
        some = edges.first(2)
        if edges.only_removed:
            some, x = some.with_more_removed(1), torch.cat((x, x[-1:]))
        expected = self.one_by_one(part, pairs, x.clone(), some)
        ways = ["blocks"]
        # With other layers, a sparse matrix may be right for some edges and wrong for others.
        if flow_of(self._module) == FLOWS[0] and takes_any_matrix(self._module):
            ways.insert(0, "sparse")
        if shared_layers(self._module):
            ways.insert(0, "shared")
        for way in ways if edges.only_removed else ["blocks"]:
            call = partial(self._scores, way, part, request, pairs, x.clone(), some)
            if gives(call, expected):
                return way
        return "single"
