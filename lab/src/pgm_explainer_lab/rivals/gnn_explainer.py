"""GNNExplainer of PyTorch Geometric."""

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
    """GNNExplainer: the importance of a node is its value in the learned node mask.

    The learning rate is that of GNNExplainer's authors, 0.1: with PyTorch Geometric's default of
    0.01, a hundred steps hardly change the random initial mask.

    All features of a node share one mask, even if a case names only some features.

    Args:
        epochs: training steps, each with one forward and one backward pass.
        seed: seed of the initial mask.
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
