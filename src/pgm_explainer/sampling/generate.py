"""Step 1 of the paper: perturb, query the model, record."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..execution import ExecutionConfig
from ..memory import readable
from ..progress import Progress
from ..querying import Query, SubgraphModel
from ..scratch import Scratch
from ..variables import Variable, VariableId
from .config import SamplingConfig
from .perturbation import CustomPerturbation, changed_share, new_features
from .population import Population
from .randomness import Draws
from .record import Record
from .table import SampleTable
from .values import Outcome, TargetValues

__all__ = ["Samples", "batch_size", "draw_samples", "probe_features"]

_logger = logging.getLogger(__name__)

_COMFORTABLE_FLOATS = 3_600_000
_COMFORTABLE_WIDTH = 16
"""Numbers per call: enough for the model to work in bulk, few enough to stay in the cache."""
_COPIES, _MESSAGES, _ANSWERS = 6, 3, 4
"""Arrays of a batch: with a row a node, with a row an edge, and of the model's scores."""
_ASSUMED_WIDTH = 64
_FLOATS_AT_ONCE = 1 << 19
_PROBES = 4
_ROUNDING = 1e-6
"""Changes of a prediction up to this, relative to its size, are the model's rounding errors."""


@dataclass(frozen=True)
class Samples:
    """The sampled data and what the model said before any perturbation.

    Attributes:
        table: one column per recorded node; where predictions do not belong to nodes (graphs,
            pairs), one more for each of them.
        before: probabilities (or values) ``[predictions, C]`` on the unperturbed features.
        classes: the class of each prediction that is explained.
        changed_share: for each recorded node, how often perturbing it changes its features at all.
        values: what the explained class's probability (or the value) of each target was in every
            sample.
    """

    table: SampleTable
    before: FloatArray
    classes: IntArray
    changed_share: NDArray[np.float64]
    values: TargetValues

    def prediction(self, variable: VariableId) -> tuple[FloatArray, int]:
        """Return a prediction's probabilities (or values) before, and the class explained."""
        # Predictions are the last columns: all of them, or those after the nodes' own.
        at = self.table.column(variable) - (len(self.table.variables) - len(self.before))
        return self.before[at], int(self.classes[at])

    def outcome(self, target: VariableId) -> Outcome:
        """Return what the prediction of a target was in every sample."""
        values, original = self.values.of(target)
        size = 1.0 if self.values.are_probabilities else abs(values).max(initial=abs(original))
        return Outcome(values, original, _ROUNDING * float(size))

    def predicted_classes(self, nodes: IntArray) -> IntArray:
        """Return the class predicted of each of some recorded nodes; -1 if it has none of its own.

        Only a node's variable that holds its own prediction has several levels of change.
        """
        columns = self.table.columns(nodes)
        own = self.table.levels[columns] > 1
        classes = np.full(len(nodes), -1, dtype=np.int64)
        classes[own] = self.before[columns[own]].argmax(axis=-1)
        return classes


def batch_size(
    model: SubgraphModel, x: FloatArray, num_samples: int, execution: ExecutionConfig
) -> int:
    """Return how many samples to call the model on at once; a remote model gets large batches."""
    if execution.samples_per_call is not None:
        return min(execution.samples_per_call, num_samples)
    nodes, edges = len(model.subgraph.nodes), len(model.subgraph.edges)
    classes = model.scores.shape[-1]
    # The model's own arrays are out of sight: a few of a hidden layer's width stand for them,
    # with a row per node, and with one per edge for the messages.
    rows = _COPIES * nodes + _MESSAGES * edges
    answers = _ANSWERS * prod(model.outputs.leading_shape(1, nodes)) * classes
    floats = rows * max(x.shape[1], classes, _ASSUMED_WIDTH) + answers
    wanted = execution.memory // 2 // (floats * x.itemsize)
    if wanted == 0:
        _logger.info(
            "one sample (%d nodes, %d edges, %d features, %d classes) takes about %s by itself",
            *(nodes, edges, x.shape[1], classes, readable(floats * x.itemsize)),
        )
    if not model.predictor.latency_bound:
        width = max(x.shape[1], classes, _COMFORTABLE_WIDTH)
        wanted = min(wanted, _COMFORTABLE_FLOATS // ((nodes + edges) * width))
    # Whole bytes of the table, where there is room for them.
    wanted = wanted // 8 * 8 if wanted >= 8 else max(1, wanted)
    return min(wanted, num_samples)


def draw_samples(
    query: Query,
    population: Population,
    config: SamplingConfig,
    execution: ExecutionConfig,
) -> Samples:
    """Record the variables of a query in ``config.num_samples`` perturbed graphs.

    Every node of the model's subgraph is perturbed independently with
    ``config.perturb_probability``.
    """
    recorded, classes, seed = query.recorded, query.classes, config.seed
    columns = config.columns(population.x.shape[1])
    share = changed_share(config.perturbation, population, recorded, columns, seed)
    scratch = Scratch(execution.memory // 4, "samples")
    recorder = _Recorder(query, config, scratch)
    values = TargetValues(query, config.num_samples, Scratch(execution.memory // 4, "samples"))
    model = query.model
    size = batch_size(model, population.x, config.num_samples, execution)
    with Progress("asking the model", config.num_samples, execution.progress) as progress:
        for start in range(0, config.num_samples, size):
            stop = min(start + size, config.num_samples)
            draws = Draws.grid(seed, np.arange(start, stop), model.subgraph.nodes)
            perturbed = draws.coins("perturbed", config.perturb_probability)
            after = model(_perturb(population, draws, perturbed, config))
            values.record(start, after)
            recorder.record(start, perturbed, config.change.severity(model.before, after, classes))
            progress.advance(stop - start)
    return Samples(recorder.finish(), model.before, classes, share, values)


def probe_features(
    population: Population, config: SamplingConfig, nodes: IntArray, always: NDArray[np.bool_]
) -> FloatArray:
    """Return perturbed features ``[4, n, F]`` of ``nodes`` to probe a model with.

    They are those of the first samples, except that the nodes for which ``always`` is True are
    perturbed in each of them.
    """
    draws = Draws.grid(config.seed, np.arange(_PROBES), nodes)
    perturbed = draws.coins("perturbed", config.perturb_probability) | always
    return _perturb(population, draws, perturbed, config)


def _perturb(
    population: Population, draws: Draws, perturbed: NDArray[np.bool_], config: SamplingConfig
) -> FloatArray:
    """Return features ``[B, n, F]``, replaced where ``perturbed``, in the chosen columns."""
    features = population.x.shape[1]
    columns = config.columns(features)
    x = np.empty((*perturbed.shape, features), population.x.dtype)
    x[:] = population.x[draws.nodes]
    chosen, (rows, nodes) = draws.where(perturbed), np.nonzero(perturbed)
    # New features take several times their own memory while they are made, so only some at once;
    # but a user's own function, which makes those of a whole sample, is called once for each.
    whole = isinstance(config.perturbation, CustomPerturbation)
    at_once = len(rows) if whole else _FLOATS_AT_ONCE // features
    for start in range(0, len(rows), max(1, at_once)):
        some = slice(start, start + max(1, at_once))
        new = new_features(config.perturbation, population, chosen.at(some))
        if len(columns) < features:
            x[rows[some, None], nodes[some, None], columns] = new[:, columns]
        else:
            x[rows[some], nodes[some]] = new
    return x


class _Recorder:
    """Turns batches into the table: notes what happened, then grades it column by column.

    What is noted waits for the last sample, because some changes are graded by all samples of a
    prediction, and because the table is packed by columns.
    """

    def __init__(self, query: Query, config: SamplingConfig, scratch: Scratch) -> None:
        model = query.model
        self._change = config.change
        self._joined = model.outputs.belong_to_nodes
        self._positions = model.subgraph.positions(query.recorded)
        levels = np.full(len(query.recorded), config.change.levels if self._joined else 1)
        levels[~model.predictor.has_prediction(query.recorded)] = 1
        variables = [
            Variable(node, True, its_levels)
            for node, its_levels in zip(query.recorded.tolist(), levels.tolist(), strict=True)
        ]
        if not self._joined:
            variables += [Variable(name, False, config.change.levels) for name in query.predictions]
        samples = config.num_samples
        self._levels = levels.astype(np.uint8)
        self._table = SampleTable(variables, samples, scratch)
        self._perturbed = Record(samples, len(levels), np.bool_, scratch)
        noted = np.float32 if self._change.needs_all_samples else np.uint8
        self._changed = Record(samples, len(query.predictions), noted, scratch)

    def record(self, start: int, perturbed: NDArray[np.bool_], severity: FloatArray) -> None:
        """Note which nodes were perturbed in a batch, and how much predictions changed."""
        self._perturbed.write(start, perturbed[:, self._positions])
        graded = not self._change.needs_all_samples
        self._changed.write(start, self._change.grade(severity) if graded else severity)

    def finish(self) -> SampleTable:
        for block in self._perturbed.blocks():
            codes = self._perturbed.read(block).astype(np.uint8)
            if self._joined:
                levels = self._levels[block]
                codes *= levels
                codes += np.where(levels > 1, self._grades(block), np.uint8(0))
            self._table.write(block.start, codes)
        if not self._joined:
            for block in self._changed.blocks():
                self._table.write(self._perturbed.num_columns + block.start, self._grades(block))
        return self._table

    def _grades(self, block: slice) -> NDArray[np.uint8]:
        noted = self._changed.read(block)
        return self._change.grade(noted) if self._change.needs_all_samples else noted
