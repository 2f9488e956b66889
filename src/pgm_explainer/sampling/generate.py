"""Step 1 of the paper: perturb, ask, record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..graph import Subgraph
from ..predictors import LocalModel
from ..progress import Progress
from .change import Change
from .perturbation import Perturbation, changed_share, new_features
from .population import Population
from .randomness import Draws
from .table import SampleTable
from .variables import Variable, VariableId

__all__ = ["Question", "Samples", "SamplingPlan", "draw_samples", "probe_features"]

_GRADED_AT_ONCE = 1024
_COMFORTABLE_FLOATS = 3_600_000
_COMFORTABLE_WIDTH = 16
"""Numbers per call: enough for the model to work in bulk, few enough to stay in the cache."""
_COPIES, _MESSAGES = 6, 3
_ASSUMED_WIDTH = 64
_PROBES = 4


@dataclass(frozen=True)
class SamplingPlan:
    """How samples are drawn.

    Attributes:
        columns: the features that a perturbation replaces; the others are left alone.
        samples_per_call: how many samples the model sees at once; None lets ``max_memory`` decide.
    """

    num_samples: int
    probability: float
    perturbation: Perturbation
    columns: IntArray
    change: Change
    seed: int
    max_memory: int
    samples_per_call: int | None = None

    def batch_size(
        self, part: Subgraph, features: int, itemsize: int, latency_bound: bool = False
    ) -> int:
        """Return how many samples to ask about at once; a model far away wants large batches."""
        if self.samples_per_call is not None:
            return min(self.samples_per_call, self.num_samples)
        nodes, edges = len(part.nodes), len(part.edges)
        # The model's own arrays are out of sight: a few of a hidden layer's width stand for them,
        # with a row per node, and with one per edge for the messages.
        rows = _COPIES * nodes + _MESSAGES * edges
        bytes_each = rows * max(features, _ASSUMED_WIDTH) * itemsize
        wanted = self.max_memory // bytes_each
        if not latency_bound:
            floats_each = (nodes + edges) * max(features, _COMFORTABLE_WIDTH)
            wanted = min(wanted, _COMFORTABLE_FLOATS // floats_each)
        # Whole bytes of the table, where there is room for them.
        wanted = wanted // 8 * 8 if wanted >= 8 else max(1, wanted)
        return min(wanted, self.num_samples)


@dataclass(frozen=True)
class Question:
    """What samples are drawn for.

    Attributes:
        recorded: nodes whose variables go into the table, ascending.
        predictions: names of the model's recorded predictions, in its order.
        classes: the class of each of them that is explained.
    """

    recorded: IntArray
    predictions: Sequence[VariableId]
    classes: IntArray


@dataclass(frozen=True)
class Samples:
    """The sampled data and what the model said before any perturbation.

    Attributes:
        table: one column per recorded node; where predictions do not belong to nodes (graphs,
            pairs), one more for each of them.
        before: probabilities (or values) ``[predictions, C]`` on the unperturbed features.
        classes: the class of each prediction that is explained.
        changed_share: for each recorded node, how often perturbing it changes its features at all.
    """

    table: SampleTable
    before: FloatArray
    classes: IntArray
    changed_share: NDArray[np.float64]

    def prediction(self, variable: VariableId) -> tuple[FloatArray, int]:
        """Return a prediction's probabilities (or values) before, and the class explained."""
        # Predictions are the last columns: all of them, or those after the nodes' own.
        at = self.table.column(variable) - (len(self.table.variables) - len(self.before))
        return self.before[at], int(self.classes[at])

    def predicted_classes(self, nodes: IntArray) -> IntArray:
        """Return the class predicted of each of some recorded nodes; -1 if it has none of its own.

        Only a node's variable that holds its own prediction has several levels of change.
        """
        columns = np.array([self.table.column(node) for node in nodes.tolist()], dtype=np.int64)
        own = self.table.levels[columns] > 1
        classes = np.full(len(nodes), -1, dtype=np.int64)
        classes[own] = self.before[columns[own]].argmax(axis=-1)
        return classes


def draw_samples(
    model: LocalModel,
    population: Population,
    question: Question,
    plan: SamplingPlan,
    show_progress: bool | None = False,
) -> Samples:
    """Record the variables in question in ``plan.num_samples`` perturbed graphs.

    Every node of the model's part is perturbed independently with ``plan.probability``.
    """
    recorded, classes = question.recorded, question.classes
    share = changed_share(plan.perturbation, population, recorded, plan.columns, plan.seed)
    recorder = _Recorder(model, question, plan)
    nodes, x = model.part.nodes, population.x
    latency_bound = getattr(model.predictor, "latency_bound", False)
    batch_size = plan.batch_size(model.part, x.shape[1], x.itemsize, latency_bound)
    with Progress("asking the model", plan.num_samples, show_progress) as progress:
        for start in range(0, plan.num_samples, batch_size):
            stop = min(start + batch_size, plan.num_samples)
            draws = Draws.grid(plan.seed, np.arange(start, stop), nodes)
            perturbed = draws.coins("perturbed", plan.probability)
            after = model(_perturb(population, draws, perturbed, plan))
            recorder.record(start, perturbed, plan.change.severity(model.before, after, classes))
            progress.advance(stop - start)
    return Samples(recorder.finish(), model.before, classes, share)


def probe_features(
    population: Population, nodes: IntArray, plan: SamplingPlan, always: NDArray[np.bool_]
) -> FloatArray:
    """Return features ``[5, n, F]`` of ``nodes`` to probe a model with: as they are, and perturbed.

    The latter are those of the first samples, except that the nodes for which ``always`` is True
    are perturbed in each of them.
    """
    draws = Draws.grid(plan.seed, np.arange(_PROBES), nodes)
    perturbed = draws.coins("perturbed", plan.probability) | always
    return np.concatenate((population.x[nodes][None], _perturb(population, draws, perturbed, plan)))


def _perturb(
    population: Population, draws: Draws, perturbed: NDArray[np.bool_], plan: SamplingPlan
) -> FloatArray:
    """Return features ``[B, n, F]``, replaced where ``perturbed``, in the chosen columns."""
    x = np.repeat(population.x[draws.nodes][None], len(perturbed), axis=0)
    new = new_features(plan.perturbation, population, draws.where(perturbed))
    if len(plan.columns) < x.shape[2]:
        rows, nodes = np.nonzero(perturbed)
        x[rows[:, None], nodes[:, None], plan.columns] = new[:, plan.columns]
    else:
        x[perturbed] = new
    return x


class _Recorder:
    """Turns batches into states of the table; severities wait if they are graded together."""

    def __init__(self, model: LocalModel, question: Question, plan: SamplingPlan) -> None:
        self._change = plan.change
        self._joined = model.outcomes.belong_to_nodes
        self._positions = model.part.positions(question.recorded)
        self._levels = np.full(len(question.recorded), plan.change.levels if self._joined else 1)
        if hasattr(model.predictor, "has_prediction"):  # not every kind of node may have one
            self._levels[~model.predictor.has_prediction(question.recorded)] = 1
        variables = [
            Variable(int(node), True, int(levels))
            for node, levels in zip(question.recorded, self._levels, strict=True)
        ]
        if not self._joined:
            variables += [
                Variable(name, False, plan.change.levels) for name in question.predictions
            ]
        self._table = SampleTable(variables, plan.num_samples)
        self._waiting: list[tuple[int, NDArray[np.bool_], FloatArray]] = []

    def record(self, start: int, perturbed: NDArray[np.bool_], severity: FloatArray) -> None:
        perturbed = perturbed[:, self._positions]
        if self._change.needs_all_samples:
            self._waiting.append((start, perturbed, severity.astype(np.float32)))
        else:
            self._write(start, perturbed, self._change.grade(severity))

    def finish(self) -> SampleTable:
        if self._waiting:
            severity = np.concatenate([batch[2] for batch in self._waiting])
            grades = np.empty(severity.shape, dtype=np.uint8)
            for at in range(0, severity.shape[1], _GRADED_AT_ONCE):  # each column is its own matter
                block = np.s_[:, at : at + _GRADED_AT_ONCE]
                grades[block] = self._change.grade(severity[block])
            for start, perturbed, _ in self._waiting:
                self._write(start, perturbed, grades[start : start + len(perturbed)])
        return self._table

    def _write(self, start: int, perturbed: NDArray[np.bool_], grades: NDArray[np.uint8]) -> None:
        if self._joined:
            levels = self._levels.astype(np.uint8)
            codes = perturbed * levels + np.where(levels > 1, grades, np.uint8(0))
        else:
            codes = np.concatenate((perturbed.astype(np.uint8), grades), axis=1)
        self._table.write(start, codes)
