"""True effects of edges: the model is called with and without an edge, in many random contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from pgm_explainer.graph import SampledEdges

from ..arrays import FloatArray
from ..rivals.case import Case

__all__ = ["TrueEffects", "true_edge_effects"]

_AT_ONCE = 400
_CONTEXTS = (6, 200)
"""Limits of the number of contexts, which is even, because two halves of them are compared."""


@dataclass(frozen=True)
class TrueEffects:
    """How much the probability of the predicted class falls if an edge is removed.

    Attributes:
        falls: ``[contexts, edges]``, negative where the probability rises.
        alone: ``[edges]``, the fall if all other edges are there.
    """

    falls: FloatArray
    alone: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """The mean absolute change of each edge."""
        return np.asarray(abs(self.falls).mean(axis=0))

    def scores(self) -> dict[str, FloatArray]:
        """Return the rankings of the edges; *first* and *second* have half of the contexts each."""
        first, second = (abs(half).mean(axis=0) for half in np.split(self.falls, 2))
        support = self.falls.mean(axis=0)
        alone = abs(self.alone)
        return {
            "truth": self.sizes,
            "support": support,
            "alone": alone,
            "first": first,
            "second": second,
        }


def true_edge_effects(
    case: Case,
    target: int | None,
    edges: Sequence[Any],
    seed: tuple[int, ...],
    probability: float,
    budget: int,
) -> TrueEffects:
    """Measure true effects; in each context, other edges are removed as in the samples.

    Args:
        probability: the probability that another edge is removed.
        budget: the number of pairs of model calls.
    """
    view = case.view(target)
    part, row, count = view.part, view.index, len(edges)
    number = {edge: at for at, edge in enumerate(edges)}
    ends = [tuple(sorted(pair)) for pair in case.edge_index[:, part.edges].T.tolist()]
    part_of = np.array([number.get(pair, count) for pair in ends])
    x = case.x[part.nodes]

    def chances(removed: Any) -> FloatArray:
        kept = ~np.append(removed, np.zeros((len(removed), 1), dtype=bool), axis=1)[:, part_of]
        return _probabilities(case, x, part, kept, row)

    only, none = np.eye(count, dtype=bool), np.zeros((1, count), dtype=bool)
    original = chances(none)[0]
    explained = int(original.argmax())
    # Not the seed of the samples, so that the contexts are new ones.
    rng = np.random.default_rng(seed)
    falls = []
    for _ in range(int(np.clip(budget // count // 2 * 2, *_CONTEXTS))):
        context = rng.random(count) < probability
        chance = chances(np.concatenate((context & ~only, context | only)))[:, explained]
        falls.append(chance[:count] - chance[count:])
    return TrueEffects(np.array(falls), original[explained] - chances(only)[:, explained])


def _probabilities(case: Case, x: FloatArray, part: Any, kept: Any, row: int | None) -> FloatArray:
    blocks = []
    for start in range(0, len(kept), _AT_ONCE):
        edges = SampledEdges(kept[start : start + _AT_ONCE])
        copies = np.repeat(x[None], len(edges), axis=0)
        scores = torch.as_tensor(case.predictor.on_edges(copies, part, edges))
        scores = scores if row is None else scores[:, row]
        blocks.append(torch.softmax(scores.double(), dim=-1).numpy())
    return np.concatenate(blocks)
