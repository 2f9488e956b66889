"""Gradient methods: Captum's, called through PyTorch Geometric, and the paper's GRAD."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.explain import CaptumExplainer

from ..arrays import FloatArray
from .base import Queries
from .case import Case
from .pyg_explainer import explain, make_explainer

__all__ = ["Gradient", "IntegratedGradients", "LossGradient"]


@dataclass(frozen=True)
class Gradient:
    """Saliency: the absolute gradients of the predicted class's score, summed over features.

    This is called GRAD in the tables of the paper's experiments. The method that the paper
    describes is :class:`LossGradient`.
    """

    name: str = "GRAD"

    @property
    def queries(self) -> Queries:
        return Queries(forwards=2, backwards=1)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        for target, found in zip(targets, _captum(case, targets, "Saliency"), strict=True):
            yield case.among_candidates(target, found)


@dataclass(frozen=True)
class IntegratedGradients:
    """Integrated gradients with a baseline of zeros, summed over the features of a node.

    Args:
        steps: steps of the integral, each with one forward and one backward pass.
        log_probability: explain the log-probability of the predicted class, as Faber et al. do,
            instead of its score.
    """

    steps: int = 50
    log_probability: bool = False

    @property
    def name(self) -> str:
        return f"integrated gradients{' (log p)' if self.log_probability else ''}"

    @property
    def queries(self) -> Queries:
        return Queries(forwards=self.steps + 1, backwards=self.steps)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        for target, found in zip(targets, self.attributions(case, targets), strict=True):
            yield case.among_candidates(target, abs(found))

    def attributions(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        if self.log_probability:
            case = replace(case, model=_LogProbabilities(case.model))
        yield from _captum(case, targets, "IntegratedGradients", n_steps=self.steps)


class _LogProbabilities(nn.Module):
    """A model that returns log-probabilities."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, edge_index: Tensor, *inputs: Tensor, **named: Tensor) -> Tensor:
        return self.model(x, edge_index, *inputs, **named).log_softmax(dim=-1)


@dataclass(frozen=True)
class LossGradient:
    """GRAD as the paper describes it: the gradient of the loss, summed over a node's features.

    The sum keeps its sign, and the largest sums come first: the nodes for which larger features
    make the predicted class less likely.
    """

    name: str = "GRAD (paper)"

    @property
    def queries(self) -> Queries:
        return Queries(forwards=1, backwards=1)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        for target in targets:
            view = case.view(target)
            x = view.x.clone().requires_grad_()
            scores = case.frozen_model(x, view.edge_index, **view.inputs)
            row = scores[0 if view.index is None else view.index]
            loss = torch.nn.functional.cross_entropy(row, row.argmax())
            (gradient,) = torch.autograd.grad(loss, x)
            found = np.zeros(len(case.x))
            found[view.part.nodes] = gradient.numpy()[:, case.columns].sum(axis=1)
            yield case.among_candidates(target, found)


def _captum(
    case: Case, targets: Sequence[int | None], method: str, **options: Any
) -> Iterator[FloatArray]:
    """Yield the attributions of a Captum method for every node, summed over the case's features."""
    algorithm = CaptumExplainer(method, **options)
    explainer = make_explainer(case, algorithm, node_mask_type="attributes")
    for target in targets:
        view = case.view(target)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Input Tensor", UserWarning)  # it sets what it needs
            mask = explain(explainer, view).node_mask.detach().numpy()
        found = np.zeros(len(case.x))
        found[view.part.nodes] = mask[:, case.columns].sum(axis=1)
        yield found
