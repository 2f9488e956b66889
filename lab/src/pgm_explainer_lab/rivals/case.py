"""The input of every explainer: a model, and the graph that it predicts on."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from pgm_explainer import InputError
from pgm_explainer.graph import Graph, Subgraph
from pgm_explainer.predictors import Predictor, as_predictor
from pgm_explainer.sampling import check_columns

from ..arrays import FloatArray, IntArray

__all__ = ["Case", "View"]


@dataclass(frozen=True)
class View:
    """The part of a graph on which a model makes the same prediction as on the whole graph.

    Attributes:
        part: the part of the graph.
        x, edge_index: its features and edges.
        index: the target's row among the part's nodes; None for a prediction of the whole graph.
        inputs: further keyword arguments of the model.
    """

    part: Subgraph
    x: Tensor
    edge_index: Tensor
    index: int | None
    inputs: dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class Case:
    """A model and its graph, as arrays; the same for every rival.

    Attributes:
        model: called as ``model(x, edge_index)`` for nodes and as ``model(x, edge_index, batch)``
            for a graph; returns logits. Rivals work on a copy of it.
        x: features ``[N, F]``.
        edge_index: edges ``[2, E]``.
        task: ``"node"`` or ``"graph"``.
        hops: maximum distance of candidates from the target; None for the receptive field of the
            model. In the graph task every node is a candidate.
        features: the feature columns that an explainer may change; None for all.
    """

    model: nn.Module
    x: FloatArray
    edge_index: IntArray
    task: str = "node"
    hops: int | None = None
    features: Sequence[int] | None = None

    @cached_property
    def frozen_model(self) -> nn.Module:
        """A copy in evaluation mode whose parameters require no gradients."""
        return deepcopy(self.model).requires_grad_(False).eval()

    @cached_property
    def graph(self) -> Graph:
        return Graph(self.edge_index, len(self.x))

    @cached_property
    def predictor(self) -> Predictor:
        """The model, called on many perturbed copies of a part at once."""
        return as_predictor(self.frozen_model, self.task)

    @property
    def num_layers(self) -> int | None:
        """The receptive field of the model in hops; None if it is not known."""
        return getattr(self.predictor, "num_layers", None)

    @cached_property
    def columns(self) -> IntArray:
        """The feature columns that an explainer may change, ascending."""
        return check_columns(self.features, self.x.shape[1])

    def candidates(self, target: int | None) -> IntArray:
        """Return the nodes that may explain a target, ascending; the target is not one."""
        ends = self._ends(target)
        if self.task == "graph":
            return np.arange(len(self.x))
        return np.setdiff1d(self.graph.within_hops(ends, self._candidate_hops), ends)

    def visits(self, target: int | None) -> FloatArray:
        """Return how often a random walk from a target visits each candidate."""
        return self.graph.visits(self._ends(target), self.candidates(target), self._candidate_hops)

    def view(self, target: int | None) -> View:
        """Return the part of the graph that a prediction depends on; target None is the graph."""
        sees, ends = self.num_layers, self._ends(target)
        local = self.task == "node" and sees is not None
        # Candidates may be outside the receptive field.
        reach = max(sees or 0, self._candidate_hops)
        part = self.graph.cut(ends, reach) if local else self.graph.whole
        return View(
            part,
            torch.from_numpy(self.x[part.nodes]),
            torch.from_numpy(part.edge_index),
            int(part.positions(ends)[0]) if self.task == "node" else None,
            {"batch": torch.zeros(len(part.nodes), dtype=torch.long)} if target is None else {},
        )

    def among_candidates(self, target: int | None, importance: FloatArray) -> FloatArray:
        """Return ``importance [N]`` with minus infinity for nodes that are not candidates."""
        chosen = np.full(len(self.x), -np.inf)
        candidates = self.candidates(target)
        chosen[candidates] = importance[candidates]
        return chosen

    def _ends(self, target: int | None) -> IntArray:
        """Return the target node as an array, empty for a prediction of the whole graph."""
        if (target is None) != (self.task == "graph"):
            raise InputError(f"target={target!r} does not fit task={self.task!r}")
        return np.array([] if target is None else [target], dtype=np.int64)

    @cached_property
    def _candidate_hops(self) -> int:
        hops = self.num_layers if self.hops is None else self.hops
        if hops is None and self.task == "node":
            raise InputError("the receptive field of this model is not known; set hops=")
        return hops or 0
