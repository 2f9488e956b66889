"""Necessity and sufficiency of the explaining nodes, by the metrics of PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.explain import ExplainerAlgorithm, Explanation
from torch_geometric.explain.metric import characterization_score, fidelity, unfaithfulness

from ..arrays import IntArray
from ..rivals.case import Case, View
from ..rivals.pyg_explainer import explain, make_explainer

__all__ = ["Faithfulness", "faithfulness"]


@dataclass(frozen=True)
class Faithfulness:
    """PyTorch Geometric's metrics of hard node masks, averaged over targets.

    The features of masked nodes are set to zero.

    Attributes:
        fidelity_plus: how often the prediction flips when the explaining nodes are masked; higher
            is better.
        fidelity_minus: how often it flips when all other nodes are masked; lower is better.
        characterization: the harmonic mean of ``fidelity_plus`` and ``1 - fidelity_minus``.
        unfaithfulness: how much the class probabilities change when all other nodes are masked,
            ``1 - exp(-KL)``; lower is better. PyTorch Geometric documents KL(before || after), but
            computes KL(after || before).
    """

    fidelity_plus: float
    fidelity_minus: float
    characterization: float
    unfaithfulness: float


def faithfulness(
    case: Case, targets: Sequence[int | None], nodes: Sequence[Collection[int]]
) -> Faithfulness:
    """Measure explanations that are sets of nodes, one for each target.

    The caller decides whether a target is among its own explaining nodes: if not, its features are
    masked with those of the other nodes.
    """
    rows = [
        _one(case, case.view(target), np.array(sorted(found), dtype=np.int64))
        for target, found in zip(targets, nodes, strict=True)
    ]
    plus, minus, unfaithful = np.mean(rows, axis=0)
    # Tensors, because PyTorch Geometric divides by them, and they may be 0.
    both = characterization_score(torch.tensor(plus), torch.tensor(minus))
    return Faithfulness(float(plus), float(minus), float(both), float(unfaithful))


def _one(case: Case, view: View, nodes: IntArray) -> tuple[float, float, float]:
    mask = np.isin(view.part.nodes, nodes).astype(case.x.dtype)
    explainer = make_explainer(
        case, _Given(torch.from_numpy(mask)[:, None]), node_mask_type="object"
    )
    explanation = explain(explainer, view)
    plus, minus = fidelity(explainer, explanation)
    # Rounding may make a divergence of 0 slightly negative.
    return plus, minus, max(0.0, unfaithfulness(explainer, explanation))


class _Given(ExplainerAlgorithm):
    """Wraps a given explanation as an algorithm, so that it can be measured."""

    def __init__(self, node_mask: Tensor) -> None:
        super().__init__()
        self.node_mask = node_mask

    def supports(self) -> bool:
        return True

    def forward(self, *args: Any, **inputs: Any) -> Explanation:
        return Explanation(node_mask=self.node_mask)
