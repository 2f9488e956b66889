"""A model on one subgraph: its outputs, validated before they are used."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, as_array
from ..errors import InputError, ModelError, PGMExplainerError
from ..graph import Subgraph
from ..predictors.base import Predictor
from .scores import ScoreReader
from .tasks import Outputs

__all__ = ["SubgraphModel", "answers", "differing", "kind_of_scores"]

_SAME_WITHIN = 1e-3
"""Two answers to the same query may differ by rounding (float16 on some devices), not more."""

_FAR_OUT = 1000.0


@dataclass(frozen=True)
class SubgraphModel:
    """A model bound to a subgraph and to the outputs that are recorded.

    Attributes:
        outputs: which of its outputs are recorded.
        reader: what its scores are.
        scores: its raw scores ``[predictions, C]`` on the unperturbed features.
        before: probabilities (or values) ``[predictions, C]`` made of them.
        probed: raw scores ``[1 + probes, predictions, C]`` on the unperturbed features and on the
            probes.
    """

    predictor: Predictor
    subgraph: Subgraph
    outputs: Outputs
    reader: ScoreReader
    scores: FloatArray
    before: FloatArray
    probed: FloatArray

    @classmethod
    def observe(
        cls,
        predictor: Predictor,
        subgraph: Subgraph,
        x: FloatArray,
        outputs: Outputs,
        kind: str = "auto",
        output: int | None = None,
        probes: FloatArray | None = None,
    ) -> SubgraphModel:
        """Query the model on the unperturbed features ``x [n, F]`` and validate its answers.

        The first query is about ``x`` alone. The second is a batch of ``x`` twice, of other
        features and of the probes.

        Args:
            probes: further features ``[probes, n, F]`` to query the model on.

        Raises:
            ModelError: wrong shape, NaN or infinity, another answer to the same features, or an
                answer that depends on the rest of the batch.
        """
        answer = answers(predictor, subgraph, np.array(x[None]), outputs)
        once = _finite(outputs.take(answer))[0]
        scores = np.array(once)  # a copy: a model may reuse the memory of its answers
        if kind == "auto":
            kind = kind_of_scores(predictor, subgraph, x, outputs, output, np.array(answer))
        reader = ScoreReader(kind, output)
        other = np.broadcast_to(x[:1], x.shape)  # mixing two equal samples would not show
        batch = np.stack((x, x, other))
        if probes is not None:
            batch = np.concatenate((batch, probes))
        again = np.array(outputs.take(answers(predictor, subgraph, batch, outputs)))
        _check_repeatable(scores, _finite(again[:2]))
        before = np.array(reader(scores))
        probed = np.concatenate((again[:1], again[3:]))
        return cls(predictor, subgraph, outputs, reader, scores, before, probed)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return probabilities (or values) ``[B, predictions, C]`` for features ``x [B, n, F]``."""
        answer = answers(self.predictor, self.subgraph, x, self.outputs)
        after = self.reader(_finite(self.outputs.take(answer)))
        if after.shape[-1] != self.before.shape[-1]:
            raise ModelError(
                f"the model answered with {after.shape[-1]} classes, after "
                f"{self.before.shape[-1]} the first time"
            )
        return after


def differing(narrow: FloatArray, wide: FloatArray) -> NDArray[np.bool_]:
    """Say of each prediction whether its raw scores on a wider subgraph are different.

    If so, the prediction depends on more than the narrow subgraph. Raw scores are compared, because
    the probabilities of a confident model would hide the difference.

    Args:
        narrow, wide: raw scores ``[B, predictions, C]`` on the two subgraphs.

    Raises:
        ModelError: the two have different numbers of scores.
    """
    if narrow.shape != wide.shape:
        raise ModelError(
            f"the model gives {narrow.shape[-1]} scores for each prediction when it is asked about "
            f"one part of the graph, and {wide.shape[-1]} about another; the number of classes "
            f"must not depend on the part (a model of the whole graph takes x alone)"
        )
    size = np.maximum(1.0, abs(wide).max(axis=-1))
    with np.errstate(invalid="ignore"):  # what is not finite is refused where it is recorded
        return np.asarray((abs(wide - narrow).max(axis=-1) > _SAME_WITHIN * size).any(axis=0))


def kind_of_scores(
    predictor: Predictor,
    subgraph: Subgraph,
    x: FloatArray,
    outputs: Outputs,
    output: int | None,
    answer: FloatArray,
) -> str:
    """Say what kind of scores a model gives, from all its outputs on a subgraph.

    A single score between 0 and 1 may be a probability or a logit, so the model is then also
    queried on features far outside the usual range.

    Args:
        answer: the model's answer to the unperturbed features ``x``.
    """
    if output is not None or answer.shape[-1] == 1:
        stretched = _stretched(predictor, subgraph, x, outputs, answer)
        answer = np.concatenate((answer, stretched))
    rows = answer.reshape(-1, answer.shape[-1])
    rows = rows[np.isfinite(rows).all(axis=-1)]
    return ScoreReader.of("auto", output, rows).kind if len(rows) else "logits"


def answers(
    predictor: Predictor, subgraph: Subgraph, x: FloatArray, outputs: Outputs
) -> FloatArray:
    """Return the model's whole answer to features ``x [B, n, F]``, as an array of the right shape.

    ``x`` may be written to by the model.

    Raises:
        ModelError: the model failed, or the shape is wrong.
    """
    samples, nodes = x.shape[:2]
    shape = list(x.shape)
    try:
        scores = as_array(outputs.query(predictor, x, subgraph), "the model's answer")
    except InputError as error:
        raise ModelError(str(error)) from error
    except PGMExplainerError:
        raise
    except Exception as error:  # whatever a model raises, its user should hear where
        raise ModelError(
            f"the model failed when asked about features of shape {shape}: "
            f"{type(error).__name__}: {error}{_hint(error, subgraph)}"
        ) from error
    wanted = outputs.leading_shape(samples, nodes)
    if scores.ndim != len(wanted) + 1 or scores.shape[:-1] != wanted or scores.shape[-1] == 0:
        expected = ", ".join(map(str, (*wanted, "classes")))
        raise ModelError(
            f"the model answered with shape {list(scores.shape)} to features of shape {shape}; "
            f"this task needs [{expected}]; {_guess(scores.shape, wanted)}"
        )
    return scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float32)


def _guess(answered: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """What a wrong shape may come from."""
    one_row = len(wanted) == 2 and len(answered) == 2 and answered[0] == wanted[0]
    if one_row and answered[1] != wanted[1]:  # else it may be one score for each prediction
        return "one row for a whole graph is for task='graph'"
    return "is it a model of the right task, and of one graph?"


def _hint(error: Exception, subgraph: Subgraph) -> str:
    """What a failure may come from, and the way out."""
    if isinstance(error, TypeError) and "Tensor" in str(error):
        return "; a function is given NumPy arrays: pass the module itself, or convert them"
    all_nodes = re.search(rf"(?<!\d){subgraph.whole_nodes}(?!\d)", str(error))
    if (
        not subgraph.is_whole
        and all_nodes
        and isinstance(error, (RuntimeError, ValueError, IndexError))
    ):
        return (
            f"; the model seems to hold data for each of the {subgraph.whole_nodes} nodes of the "
            f"whole graph, but was asked about a part of it: pass a function of x alone, which is "
            f"always asked about the whole graph, or a function of x, edge_index and nodes that "
            f"cuts its data to these nodes; a module may take the data by inputs=, which are cut "
            f"for it"
        )
    return ""


def _stretched(
    predictor: Predictor, subgraph: Subgraph, x: FloatArray, outputs: Outputs, near: FloatArray
) -> FloatArray:
    """Answers to features far out; none if the model refuses such features, as it well may."""
    try:
        return answers(predictor, subgraph, np.stack((_FAR_OUT * x, -_FAR_OUT * x)), outputs)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return near[:0]


def _finite(scores: FloatArray) -> FloatArray:
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
            "random (dropout still on? call model.eval()), or its answer depends on what else is "
            "in the batch (batch norm in training mode?)"
        )
