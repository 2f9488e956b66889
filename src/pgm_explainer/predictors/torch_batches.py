"""Ways to call a module on a batch of samples, and the shape of its output."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..errors import ModelError
from .torch_call import ModuleCall, Request

__all__ = ["CALLS", "one_by_one", "rows_of"]


def _stacked(call: ModuleCall, request: Request, x: Tensor) -> Tensor:
    answer = call(x, request)
    if answer.dim() == 2 and request.rows > 1:  # one score per prediction
        answer = answer.unsqueeze(-1)
    if answer.dim() == 2:
        answer = answer.unsqueeze(1)
    if answer.dim() != 3 or answer.shape[:2] != (len(x), request.rows):
        raise _misshapen(answer, request)
    return answer


def _blocks(call: ModuleCall, request: Request, x: Tensor) -> Tensor:
    return rows_of(call(x.flatten(0, 1), request.copies(len(x))), len(x), request)


def _sparse(call: ModuleCall, request: Request, x: Tensor) -> Tensor:
    return rows_of(call(x.flatten(0, 1), request.copies(len(x), sparse=True)), len(x), request)


def rows_of(answer: Tensor, samples: int, request: Request) -> Tensor:
    """Return the output for a graph of disconnected copies as ``[samples, rows, C]``."""
    if answer.dim() not in (1, 2) or len(answer) != samples * request.rows:
        raise _misshapen(answer, request)
    return answer.reshape(samples, request.rows, -1)


def one_by_one(call: ModuleCall, request: Request, x: Tensor) -> Tensor:
    """Return the scores ``[B, rows, C]`` of samples, from a call for each of them."""
    answers = []
    for each in x:
        answer = call.alone(each, request)
        if answer.dim() == 0:
            answer = answer[None]
        if answer.dim() == 1:  # one score per prediction, or the scores of the only prediction
            answer = answer.reshape(request.rows, -1) if request.rows > 1 else answer[None]
        if answer.dim() != 2 or len(answer) != request.rows:
            raise _misshapen(answer, request)
        answers.append(answer)
    return torch.stack(answers)


CALLS: dict[str, Callable[[ModuleCall, Request, Tensor], Tensor]] = {
    "sparse": _sparse,
    "stacked": _stacked,
    "blocks": _blocks,
    "single": one_by_one,
}


def _misshapen(answer: Tensor, request: Request) -> ModelError:
    one_row = answer.dim() == 2 and len(answer) == 1
    hint = ""
    if one_row:
        hint = "; for a model with one row of scores for a whole graph, set task='graph'"
    return ModelError(
        f"the model returned scores of shape {list(answer.shape)}; for {request.nodes} nodes this "
        f"task needs one row of scores for each of {request.rows} prediction(s){hint}"
    )
