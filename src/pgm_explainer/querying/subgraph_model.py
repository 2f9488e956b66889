"""A model on one subgraph, with validated outputs that are converted to probabilities."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import FloatArray, as_array
from ..errors import InputError, ModelError, PGMExplainerError
from ..graph import SampledEdges, Subgraph
from ..predictors import Predictor, SharedRows
from .tasks import NodeOutputs, Outputs, RecordedNodes

__all__ = [
    "SCORE_KINDS",
    "ScoreReader",
    "SubgraphModel",
    "answers",
    "detect_score_kind",
    "differing",
    "kind_of_scores",
]

_SAME_WITHIN = 1e-3
"""Tolerance between two outputs for the same features (rounding, also of float16)."""
_FAR_OUT = 1000.0

SCORE_KINDS = ("auto", "logits", "probabilities", "log_probabilities", "values")
"""``values`` are the outputs of a regression, which are not converted."""
_TOLERANCE = 1e-3
_CHANCE = 1e-5
"""How closely scores must add up to be log-probabilities; two logits may do so by chance.

Log-probabilities that are read as logits do no harm, because their softmax is the same.
"""


@dataclass(frozen=True)
class SubgraphModel:
    """A model on a subgraph, and its recorded outputs.

    Attributes:
        outputs: the recorded outputs.
        reader: converts scores to probabilities.
        scores: raw scores ``[predictions, C]`` on the unperturbed features.
        before: probabilities (or values) ``[predictions, C]`` on the unperturbed features.
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
        """Call the model on the unperturbed features ``x [n, F]`` and validate its outputs.

        The first call has ``x`` alone. The second has a batch of ``x`` twice, other features and
        the probes.

        Args:
            probes: further features ``[probes, n, F]`` to call the model on.

        Raises:
            ModelError: wrong shape, NaN or infinity, different outputs for the same features, or
                outputs that depend on the rest of the batch.
        """
        answer = answers(predictor, subgraph, np.array(x[None]), outputs)
        once = _finite(outputs.take(answer))[0]
        scores = np.array(once)  # a copy, because a model may reuse the memory of its outputs
        if kind == "auto":
            kind = kind_of_scores(predictor, subgraph, x, outputs, output, np.array(answer))
        reader = ScoreReader(kind, output)
        # With other features too, because a model that mixes two equal samples gives equal scores.
        other = np.broadcast_to(x[:1], x.shape)
        batch = np.stack((x, x, other))
        if probes is not None:
            batch = np.concatenate((batch, probes))
        again = np.array(outputs.take(answers(predictor, subgraph, batch, outputs)))
        _check_repeatable(scores, _finite(again[:2]))
        before = np.array(reader(scores))
        probed = np.concatenate((again[:1], again[3:]))
        return cls(predictor, subgraph, outputs, reader, scores, before, probed)

    def __call__(self, x: FloatArray | SharedRows, edges: SampledEdges | None = None) -> FloatArray:
        """Return probabilities (or values) ``[B, predictions, C]`` for features ``x [B, n, F]``.

        Args:
            edges: the edges of each sample; None for those of the subgraph.
        """
        outputs = self._queried(x, edges)
        answer = answers(self.predictor, self.subgraph, x, outputs, edges)
        after = self.reader(_finite(outputs.take(answer)))
        if after.shape[-1] != self.before.shape[-1]:
            raise ModelError(
                f"the model returned {after.shape[-1]} classes, but {self.before.shape[-1]} in an "
                f"earlier call; the number of classes must not change"
            )
        return after

    def size(self, x: FloatArray, edges: SampledEdges | None = None) -> tuple[int, int]:
        """Return how many nodes and messages of a sample the model holds at once.

        Args:
            x: features ``[n, F]``.
            edges: the edges of two samples; None if all samples have those of the subgraph.
        """
        two = np.broadcast_to(x, (2, *x.shape))
        outputs = self._queried(two, edges)
        if edges is not None and not isinstance(outputs, RecordedNodes):
            answers(self.predictor, self.subgraph, two.copy(), outputs, edges)  # chooses a way
        rows = outputs.rows if isinstance(outputs, RecordedNodes) else None
        return self.predictor.size(self.subgraph, rows, edges is None)

    def _queried(self, x: FloatArray | SharedRows, edges: SampledEdges | None) -> Outputs:
        """Return the outputs to query: of all nodes, or of the recorded ones if that is faster."""
        outputs, nodes = self.outputs, len(self.subgraph.nodes)
        if not isinstance(outputs, NodeOutputs) or len(outputs.rows) == nodes:
            return outputs
        saves = self.predictor.saves_on_nodes(x, self.subgraph, outputs.rows, edges)
        return outputs.only() if saves else outputs


def differing(narrow: FloatArray, wide: FloatArray) -> NDArray[np.bool_]:
    """Return for each prediction whether its raw scores on a wider subgraph are different.

    If so, the prediction depends on more than the narrow subgraph. Raw scores are compared, because
    the probabilities of a confident model are too close to 0 or 1 to show the difference.

    Args:
        narrow, wide: raw scores ``[B, predictions, C]`` on the two subgraphs.

    Raises:
        ModelError: the two have different numbers of scores.
    """
    if narrow.shape != wide.shape:
        raise ModelError(
            f"the model returns {narrow.shape[-1]} scores for each prediction on one subgraph, but "
            f"{wide.shape[-1]} on another; the number of classes must not depend on the subgraph; "
            f"if the model needs the whole graph, pass a function of x alone"
        )
    size = np.maximum(1.0, abs(wide).max(axis=-1))
    with np.errstate(invalid="ignore"):  # scores that are not finite are rejected when recorded
        return np.asarray((abs(wide - narrow).max(axis=-1) > _SAME_WITHIN * size).any(axis=0))


def kind_of_scores(
    predictor: Predictor,
    subgraph: Subgraph,
    x: FloatArray,
    outputs: Outputs,
    output: int | None,
    answer: FloatArray,
) -> str:
    """Detect the kind of scores of a model from all its outputs on a subgraph.

    A single score between 0 and 1 may be a probability or a logit. In this case the model is also
    called on features far outside the usual range.

    Args:
        answer: the model's output for the unperturbed features ``x``.
    """
    # Not for integers: they may be indices of an embedding, where others are out of range.
    if x.dtype.kind == "f" and (output is not None or answer.shape[-1] == 1):
        stretched = _stretched(predictor, subgraph, x, outputs, answer)
        answer = np.concatenate((answer, stretched))
    rows = answer.reshape(-1, answer.shape[-1])
    rows = rows[np.isfinite(rows).all(axis=-1)]
    return ScoreReader.of("auto", output, rows).kind if len(rows) else "logits"


def answers(
    predictor: Predictor,
    subgraph: Subgraph,
    x: FloatArray | SharedRows,
    outputs: Outputs,
    edges: SampledEdges | None = None,
) -> FloatArray:
    """Return the model's output for features ``x [B, n, F]``, with its shape validated.

    The model may modify ``x``.

    Raises:
        ModelError: the model failed, or its output has a wrong shape.
    """
    samples, nodes = x.shape[:2]
    shape = list(x.shape if isinstance(x, SharedRows) else predictor.shaped(x).shape)
    try:
        scores = as_array(outputs.query(predictor, x, subgraph, edges), "the model's output")
    except InputError as error:
        raise ModelError(str(error)) from error
    except PGMExplainerError:
        raise
    except Exception as error:  # a model may raise anything
        raise ModelError(
            f"the model failed on features of shape {shape}: "
            f"{type(error).__name__}: {error}{_hint(error, subgraph)}"
        ) from error
    wanted = outputs.leading_shape(samples, nodes)
    if scores.ndim != len(wanted) + 1 or scores.shape[:-1] != wanted or scores.shape[-1] == 0:
        expected = ", ".join(map(str, (*wanted, "classes")))
        raise ModelError(
            f"the model returned scores of shape {list(scores.shape)} for features of shape "
            f"{shape}; this task needs [{expected}]; {_guess(scores.shape, wanted)}"
        )
    return scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float32)


def _guess(answered: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Return a possible cause of a wrong shape."""
    one_row = len(wanted) == 2 and len(answered) == 2 and answered[0] == wanted[0]
    if one_row and answered[1] != wanted[1]:  # else it may be one score for each prediction
        return "for a model with one row of scores for a whole graph, set task='graph'"
    return "check that the model fits the task and predicts a single graph"


def _hint(error: Exception, subgraph: Subgraph) -> str:
    """Return a possible cause of a failure, and a solution."""
    if isinstance(error, TypeError) and "Tensor" in str(error):
        return "; functions are called with NumPy arrays: pass the module itself, or convert them"
    all_nodes = re.search(rf"(?<!\d){subgraph.whole_nodes}(?!\d)", str(error))
    if (
        not subgraph.is_whole
        and all_nodes
        and isinstance(error, (RuntimeError, ValueError, IndexError))
    ):
        return (
            f"; the model seems to hold data for each of the {subgraph.whole_nodes} nodes of the "
            f"whole graph, but was called on a subgraph: pass a function of x alone, which is "
            f"always called on the whole graph, or a function of x, edge_index and nodes that "
            f"selects the data of these nodes; for a module, pass the data as inputs=, which are "
            f"cut to the subgraph"
        )
    return ""


def _stretched(
    predictor: Predictor, subgraph: Subgraph, x: FloatArray, outputs: Outputs, near: FloatArray
) -> FloatArray:
    """Return outputs for features of extreme size; empty if the model rejects such features."""
    try:
        return answers(predictor, subgraph, np.stack((_FAR_OUT * x, -_FAR_OUT * x)), outputs)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return near[:0]


def _finite(scores: FloatArray) -> FloatArray:
    if not np.isfinite(scores).all():
        bad = scores[~np.isfinite(scores)].flat[0]
        raise ModelError(f"the model returned {bad}; its scores must be finite numbers")
    return scores


def _check_repeatable(once: FloatArray, again: FloatArray) -> None:
    scale = _SAME_WITHIN * max(1.0, float(abs(once).max()))
    if abs(again[0] - again[1]).max() > scale:
        raise ModelError(
            "the model returned two different outputs for the same features in one batch: either "
            "it is random (dropout still on? call model.eval()) or it mixes samples"
        )
    if abs(again[0] - once).max() > scale:
        raise ModelError(
            "the model returned different outputs for the same features in two calls: either it is "
            "random (dropout still on? call model.eval()), or its output depends on the rest of "
            "the batch (batch norm in training mode?)"
        )


def detect_score_kind(scores: FloatArray) -> str:
    """Return the most plausible kind of scores ``[..., C]``; never ``values``.

    Examples:
        >>> detect_score_kind(np.array([[0.25, 0.75]]))
        'probabilities'
        >>> detect_score_kind(np.array([[-1.0, 3.0]]))
        'logits'
    """
    single = scores.shape[-1] == 1
    if _within_unit(scores) and (single or _adds_up(scores)):
        return "probabilities"
    if not single and scores.max() <= _TOLERANCE and _adds_up(np.exp(scores), _CHANCE):
        return "log_probabilities"
    return "logits"


@dataclass(frozen=True)
class ScoreReader:
    """Converts scores to probabilities.

    Attributes:
        kind: the kind of scores; never ``auto``.
        output: the explained column, if only one of several independent outputs is explained. It is
            treated as a binary output.
    """

    kind: str
    output: int | None = None

    @classmethod
    def of(cls, kind: str, output: int | None, scores: FloatArray) -> ScoreReader:
        """Return a reader, with ``auto`` detected from scores ``[..., C]``."""
        if kind == "auto":
            kind = detect_score_kind(cls(kind, output)._explained(scores))
        return cls(kind, output)

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return probabilities ``[..., C]``, or unchanged values.

        A single score is taken as the score of the second of two classes.

        Raises:
            ModelError: the scores are not of the stated kind.
        """
        scores = self._explained(scores)
        if self.kind == "values":
            return scores
        if self.kind == "log_probabilities":
            scores = np.exp(scores)
        if scores.shape[-1] == 1:
            if self.kind == "logits":
                return np.concatenate(scipy.special.expit((-scores, scores)), axis=-1)
            scores = np.concatenate((1 - scores, scores), axis=-1)
        elif self.kind == "logits":
            return _softmax(scores)
        self._check(scores)
        return scores

    def _explained(self, scores: FloatArray) -> FloatArray:
        """Return the explained columns."""
        if self.output is None:
            return scores
        if self.output >= scores.shape[-1]:
            raise InputError(
                f"output={self.output} is out of range: the model returns {scores.shape[-1]} "
                f"scores, 0 to {scores.shape[-1] - 1}"
            )
        return scores[..., self.output : self.output + 1]

    def _check(self, probabilities: FloatArray) -> None:
        if not (_within_unit(probabilities) and _adds_up(probabilities)):
            stated = self.kind.replace("_", "-")
            raise ModelError(
                f"the model's scores are not {stated} (values from {probabilities.min():.4g} to "
                f"{probabilities.max():.4g}, adding up to "
                f"{probabilities.sum(axis=-1).flat[0]:.4g}); set the kind of scores, for example "
                f"scores='logits'"
            )


def _softmax(scores: FloatArray) -> FloatArray:
    """Return the softmax over the last axis, computed with that axis first, which is faster."""
    powers = np.array(np.moveaxis(scores, -1, 0), order="C")
    powers -= powers.max(axis=0)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=0)
    return np.moveaxis(powers, 0, -1)


def _within_unit(scores: FloatArray) -> bool:
    return bool(scores.min() >= -_TOLERANCE and scores.max() <= 1 + _TOLERANCE)


def _adds_up(probabilities: FloatArray, within: float = _TOLERANCE) -> bool:
    return np.allclose(probabilities.sum(axis=-1), 1, rtol=0, atol=within)
