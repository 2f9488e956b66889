"""PGExplainer of PyTorch Geometric: a small network that is trained to mask edges."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.explain import Explainer, PGExplainer

from ..arrays import FloatArray
from .base import Queries
from .case import Case, View

__all__ = ["TrainedMask"]


@dataclass(frozen=True)
class TrainedMask:
    """PGExplainer: the importance of a node is the largest mask of its outgoing edges.

    It is trained on the predictions that it explains, with PyTorch Geometric's learning rate. The
    result for a target therefore depends on the other targets, by design.

    Args:
        epochs: epochs of training, each with two forward and one backward pass per target.
        seed: seed of the initial weights and of the noise during training.
    """

    epochs: int = 30
    seed: int = 0
    name: str = "PGExplainer"

    @property
    def queries(self) -> Queries:
        return Queries(forwards=2 * self.epochs + 2, backwards=self.epochs)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        views = [case.view(target) for target in targets]
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Converting a tensor", UserWarning)  # its own
            torch.manual_seed(self.seed)
            explainer = self._trained(case, views)
        for target, view in zip(targets, views, strict=True):
            with torch.no_grad():
                mask = explainer(view.x, view.edge_index, **_options(case, view)).edge_mask
            importance = np.zeros(len(case.x))
            senders = view.part.nodes[view.part.edge_index[0]]
            np.maximum.at(importance, senders, mask.numpy())
            yield case.among_candidates(target, importance)

    def _trained(self, case: Case, views: Sequence[View]) -> Explainer:
        config = {
            "mode": "multiclass_classification",
            "task_level": case.task,
            "return_type": "raw",
        }
        explainer = Explainer(
            case.frozen_model,
            PGExplainer(self.epochs),
            explanation_type="phenomenon",
            edge_mask_type="object",
            model_config=config,
        )
        options = [_options(case, view) for view in views]
        for epoch in range(self.epochs):
            for view, each in zip(views, options, strict=True):
                explainer.algorithm.train(epoch, case.frozen_model, view.x, view.edge_index, **each)
        return explainer


def _options(case: Case, view: View) -> dict[str, object]:
    """Return the arguments of PyTorch Geometric: the predicted classes and the target's index."""
    with torch.no_grad():
        predicted = case.frozen_model(view.x, view.edge_index, **view.inputs).argmax(dim=-1)
    index = {} if view.index is None else {"index": view.index}
    return {"target": predicted, **index, **view.inputs}
