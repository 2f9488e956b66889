"""GNNExplainer, PyTorch Geometric's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.explain import GNNExplainer

from ..arrays import FloatArray
from .base import Queries
from .case import Case
from .pyg_explainer import explain, make_explainer

__all__ = ["LearntMask"]

_LEARNING_RATE = 0.1


@dataclass(frozen=True)
class LearntMask:
    """GNNExplainer: a node's importance is its value in the node mask that is learnt.

    It is learnt at the rate of GNNExplainer's authors, 0.1: at PyTorch Geometric's default of 0.01
    a hundred steps hardly move the mask from its random beginning.

    The mask is one for all features of a node, also where a case names some.

    Args:
        epochs: steps of learning, each of them one forward and one backward.
        seed: the mask's first values depend on it.
    """

    epochs: int = 100
    seed: int = 0
    name: str = "GNNExplainer"

    @property
    def queries(self) -> Queries:
        return Queries(forwards=self.epochs + 1, backwards=self.epochs)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        algorithm = GNNExplainer(self.epochs, lr=_LEARNING_RATE)
        explainer = make_explainer(case, algorithm, node_mask_type="object")
        for target in targets:
            view = case.view(target)
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(self.seed)
                mask = explain(explainer, view).node_mask
            importance = np.zeros(len(case.x))
            importance[view.part.nodes] = mask[:, 0].numpy()
            yield case.among_candidates(target, importance)
