"""The explained output: the probability of the predicted class."""

from __future__ import annotations

import numpy as np
import torch

from pgm_explainer.graph import Subgraph

from ..arrays import FloatArray, IntArray
from .case import Case

__all__ = ["Output"]

_FLOATS_AT_ONCE = 4_000_000
_ASSUMED_WIDTH = 16
_TRIALS = 4
_SAME_WITHIN = 1e-5


class Output:
    """The probability of the predicted class, as a function of the features around a target.

    Args:
        case: the model and its graph.
        target: the node whose prediction is explained; None for the whole graph.

    Attributes:
        part: the smallest subgraph on which the prediction is the same as on the whole graph.
        x: its original features ``[n, F]``.
        explained: the class that the model predicts on them.
        num_calls: the number of samples that the model was called on.
    """

    def __init__(self, case: Case, target: int | None) -> None:
        self._case = case
        self._target = target
        self.num_calls = 0
        seen = case.view(target).part
        before = self._probabilities(case.x[seen.nodes][None], seen)
        self.explained = int(before[0].argmax())
        self.part = self._narrowed(seen)
        self.x = case.x[self.part.nodes]

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the explained class's probability ``[B]`` for features ``x [B, n, F]``."""
        self.num_calls += len(x)
        size = (len(self.part.nodes) + len(self.part.edges)) * max(x.shape[2], _ASSUMED_WIDTH)
        at_once = max(1, _FLOATS_AT_ONCE // max(size, 1))
        blocks = [
            self._probabilities(x[start : start + at_once], self.part)[:, self.explained]
            for start in range(0, len(x), at_once)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def positions(self, nodes: IntArray) -> IntArray:
        """Return the rows of ``x`` that hold some nodes of the part."""
        return self.part.positions(nodes)

    def _probabilities(self, x: FloatArray, part: Subgraph) -> FloatArray:
        scores = self._case.predictor(x, part)
        if self._target is not None:
            scores = scores[:, int(part.positions(np.array([self._target]))[0])]
        return torch.softmax(scores.double(), dim=-1).numpy()

    def _narrowed(self, seen: Subgraph) -> Subgraph:
        """Drop the edges whose messages cannot reach the target, if that changes no output.

        A message to a node at the largest distance the model uses never reaches the target.
        Dropping its edge changes degrees, though, and some layers divide by them, so the outputs
        are compared first.
        """
        layers = self._case.num_layers
        if self._target is None or layers is None:
            return seen
        graph, end = self._case.graph, np.array([self._target])
        nodes = np.union1d(graph.within_hops(end, layers), self._case.candidates(self._target))
        heard = np.isin(seen.nodes[seen.edge_index[1]], graph.within_hops(end, layers - 1))
        edges = seen.edges[heard]
        narrow = Subgraph(
            nodes,
            np.searchsorted(nodes, graph.edge_index[:, edges]),
            edges,
            seen.whole_nodes,
            seen.whole_edges,
        )
        rng = np.random.default_rng(0)
        donors = rng.integers(len(self._case.x), size=(_TRIALS, len(seen.nodes)))
        trials = self._case.x[donors]
        wide = self._probabilities(trials, seen)
        inside = trials[:, seen.positions(nodes)]
        same = abs(self._probabilities(inside, narrow) - wide).max() < _SAME_WITHIN
        return narrow if same else seen
