"""GRAD: how steeply the predicted class's score depends on each node's features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.explain import ExplainerAlgorithm, Explanation
from torch_geometric.explain.config import MaskType

from ...arrays import FloatArray
from .base import Queries
from .case import Case
from .pyg_explainer import explain, make_explainer

__all__ = ["Gradient", "Saliency"]


class Saliency(ExplainerAlgorithm):
    """The size of the gradient of the explained class's score with respect to every feature.

    What ``CaptumExplainer("Saliency")`` gives, which is PyTorch Geometric's only gradient method,
    without captum.
    """

    def supports(self) -> bool:
        """Say whether this way of explaining is supported; PyTorch Geometric asks."""
        masks = self.explainer_config
        return masks.node_mask_type is MaskType.attributes and masks.edge_mask_type is None

    def forward(
        self,
        model: torch.nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **inputs: Any,
    ) -> Explanation:
        """Explain; called by ``torch_geometric.explain.Explainer``."""
        x = x.detach().requires_grad_()
        scores = model(x, edge_index, **inputs).gather(1, target[:, None])
        explained = scores if index is None else scores[index]
        (gradient,) = torch.autograd.grad(explained.sum(), x)
        return Explanation(node_mask=gradient.abs())


@dataclass(frozen=True)
class Gradient:
    """A node's importance is the sum of :class:`Saliency` over its features."""

    name: str = "GRAD"

    @property
    def queries(self) -> Queries:
        return Queries(forwards=2, backwards=1)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        explainer = make_explainer(case, Saliency(), node_mask_type="attributes")
        for target in targets:
            view = case.view(target)
            importance = np.zeros(len(case.x))
            mask = explain(explainer, view).node_mask.numpy()
            importance[view.part.nodes] = mask[:, case.columns].sum(axis=1)
            yield case.among_candidates(target, importance)
