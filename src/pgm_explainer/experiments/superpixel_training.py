"""Training the network for superpixels: in an hour or two of one core, not in days."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ..arrays import IntArray
from .superpixel_gnn import SuperpixelGCN
from .superpixels import SuperpixelGraph

__all__ = ["right_share", "train_superpixel_gcn"]

_EPOCHS, _BATCH, _WARM_UP = 70, 64, 0.15
_log = logging.getLogger(__name__)


def train_superpixel_gcn(
    graphs: Sequence[SuperpixelGraph],
    held_out: Sequence[SuperpixelGraph],
    seed: int = 0,
    epochs: int = _EPOCHS,
) -> SuperpixelGCN:
    """Train with rates that rise and fall once; keep the epoch that is best on ``held_out``.

    The matrices in between learn by :class:`OrthogonalSteps`, the rest by Adam: in a trial of three
    epochs 80.5 % of the test digits were then right, and 76.6 % with Adam alone. Of twenty epochs
    of 10,000 digits, these rates led to 82.5 % of the held-out ones, and twice as high ones to
    81.8 %; digits slanted and stretched at random on the way to 79.6 %.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = SuperpixelGCN()
    linear = [each for each in model.modules() if isinstance(each, nn.Linear)]
    matrices = [each.weight for each in linear[1:-1]]  # not what reads features or tells classes
    others = [each for each in model.parameters() if all(each is not one for one in matrices)]
    optimizers = [OrthogonalSteps(matrices, lr=0.01), torch.optim.Adam(others, lr=1.5e-3)]
    steps = -(-len(graphs) // _BATCH) * epochs
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(each, _rise_and_fall(steps)) for each in optimizers
    ]
    best, kept = -1.0, model.state_dict()
    for epoch in range(epochs):
        model.train()
        for x, edges, batch, labels in _batches(graphs, _BATCH, rng.permutation(len(graphs))):
            model.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(model(x, edges, batch), labels))
            for optimizer, schedule in zip(optimizers, schedules, strict=True):
                optimizer.step()
                schedule.step()
        share = right_share(model, held_out)
        _log.info("epoch %d: %.2f %% of the held-out graphs are right", epoch + 1, 100 * share)
        if share > best:
            best, kept = share, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(kept)
    return model.eval()


def _rise_and_fall(steps: int) -> Callable[[int], float]:
    """Return what a rate is multiplied by: up in a straight line, then down along a cosine."""
    top = _WARM_UP * steps

    def factor(step: int) -> float:
        if step < top:
            return step / top
        return (1 + math.cos(math.pi * (step - top) / (steps - top))) / 2

    return factor


class OrthogonalSteps(torch.optim.Optimizer):
    """Momentum whose steps have all singular values near one (Jordan's Muon, 2024).

    PyTorch has it too, as ``torch.optim.Muon``, but in half precision, which a CPU emulates: with
    it these matrices would take three times as long as the forwards and backwards themselves.
    """

    def __init__(self, matrices: Sequence[Tensor], lr: float, momentum: float = 0.95) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move every matrix."""
        for group in self.param_groups:
            for matrix in group["params"]:
                speed = self.state[matrix].setdefault("speed", torch.zeros_like(matrix))
                speed.mul_(group["momentum"]).add_(matrix.grad)
                wanted = matrix.grad + group["momentum"] * speed
                matrix.sub_(group["lr"] * _near_orthogonal(wanted))


def _near_orthogonal(matrix: Tensor) -> Tensor:
    """Return roughly ``U V'`` of ``U S V'``: a polynomial, five times, pulls S towards one."""
    if matrix.shape[0] > matrix.shape[1]:
        return _near_orthogonal(matrix.T).T
    found = matrix / matrix.norm().clamp(min=1e-7)
    for _ in range(5):
        gram = found @ found.T
        found = 3.4445 * found + (-4.7750 * gram + 2.0315 * gram @ gram) @ found
    return found


@torch.no_grad()
def right_share(model: nn.Module, graphs: Sequence[SuperpixelGraph]) -> float:
    """Return the share of graphs whose class the model predicts rightly."""
    model.eval()
    right = 0
    for x, edges, batch, labels in _batches(graphs, 256, np.arange(len(graphs))):
        right += int((model(x, edges, batch).argmax(dim=1) == labels).sum())
    return right / len(graphs)


def _batches(
    graphs: Sequence[SuperpixelGraph], size: int, order: IntArray
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield features, edges, graph numbers and labels of several graphs put side by side."""
    for start in range(0, len(order), size):
        chosen = [graphs[at] for at in order[start : start + size]]
        sizes = np.array([len(graph.x) for graph in chosen])
        shifts = np.cumsum(sizes) - sizes
        edges = [graph.edge_index + shift for graph, shift in zip(chosen, shifts, strict=True)]
        yield (
            torch.from_numpy(np.concatenate([graph.x for graph in chosen])),
            torch.from_numpy(np.concatenate(edges, axis=1)),
            torch.from_numpy(np.repeat(np.arange(len(chosen)), sizes)),
            torch.tensor([graph.label for graph in chosen]),
        )
