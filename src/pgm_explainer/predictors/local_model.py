"""The model at one place: what it says of the nodes in question, checked before it is believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray, as_array
from ..errors import InputError, ModelError
from ..graph import Subgraph
from .base import Predictor
from .scores import detect_score_kind, to_probabilities

__all__ = ["LocalModel"]

_SAME_WITHIN = 1e-3
"""Two answers to the same question may differ by rounding (float16 on some devices), not more."""


@dataclass(frozen=True)
class LocalModel:
    """A black box bound to a part of the graph and to the predictions that matter.

    Attributes:
        rows: positions of the recorded nodes within the part; None for a graph task, where the one
            prediction of the graph counts as a single row.
        kind: what the scores are; never ``auto``.
        before: probabilities ``[rows, C]`` on the unperturbed features.
    """

    predictor: Predictor
    part: Subgraph
    rows: IntArray | None
    kind: str
    before: FloatArray

    @classmethod
    def observe(
        cls,
        predictor: Predictor,
        part: Subgraph,
        x: FloatArray,
        rows: IntArray | None,
        kind: str = "auto",
    ) -> LocalModel:
        """Ask about the unperturbed features ``x [n, F]`` and check that the answer can be trusted.

        Raises:
            ModelError: wrong shape, NaN or infinity, another answer when asked again, or another
                answer for the same features in a batch.
        """
        scores = _ask(predictor, part, np.array(x[None]), rows)
        again = _ask(predictor, part, np.stack((x, x)), rows)
        _check_repeatable(scores[0], again)
        kind = detect_score_kind(scores) if kind == "auto" else kind
        return cls(predictor, part, rows, kind, to_probabilities(scores[0], kind))

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return probabilities ``[B, rows, C]`` for features ``x [B, n, F]``."""
        return to_probabilities(_ask(self.predictor, self.part, x, self.rows), self.kind)


def _ask(predictor: Predictor, part: Subgraph, x: FloatArray, rows: IntArray | None) -> FloatArray:
    batch, nodes = x.shape[:2]
    try:
        scores = as_array(predictor(x, part), "the model's answer")
    except InputError as error:
        raise ModelError(str(error)) from error
    wanted = (batch, nodes) if rows is not None else (batch,)
    if scores.ndim != len(wanted) + 1 or scores.shape[:-1] != wanted or scores.shape[-1] == 0:
        expected = ", ".join(map(str, (*wanted, "classes")))
        raise ModelError(
            f"the model answered with shape {list(scores.shape)} to features of shape "
            f"{list(x.shape)}; a {'node' if rows is not None else 'graph'} task needs [{expected}]"
        )
    scores = scores[:, rows] if rows is not None else scores[:, None]
    if scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float32)
    if not np.isfinite(scores).all():
        bad = scores[~np.isfinite(scores)].flat[0]
        raise ModelError(f"the model answered with {bad}; its scores must be finite numbers")
    return scores


def _check_repeatable(once: FloatArray, again: FloatArray) -> None:
    scale = _SAME_WITHIN * max(1.0, float(abs(once).max()))
    if abs(again[0] - again[1]).max() > scale:
        raise ModelError(
            "the model gave two different answers to the same features in one batch: it is random "
            "(dropout still on? call model.eval()) or mixes the samples of a batch"
        )
    if abs(again[0] - once).max() > scale:
        raise ModelError(
            "the model answered differently when asked twice about the same features: it is "
            "random (dropout still on? call model.eval()) or its answer depends on the batch size"
        )
