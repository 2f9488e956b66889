"""Step 1 of the paper: perturb, query the model, record."""

from __future__ import annotations

import logging
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..execution import ExecutionConfig
from ..memory import readable, release_free_memory
from ..progress import Progress
from ..querying import Query, SubgraphModel
from ..scratch import Scratch
from ..variables import Variable
from .config import SamplingConfig
from .perturbation import CustomPerturbation, changed_share, new_features
from .population import Population
from .randomness import Draws
from .record import Record
from .samples import Samples
from .table import SampleTable
from .values import TargetValues

__all__ = ["batch_size", "draw_samples", "probe_features"]

_logger = logging.getLogger(__name__)

_COMFORTABLE_FLOATS = 3_600_000
_COMFORTABLE_WIDTH = 16
"""Numbers per call: enough for efficient batches, few enough to stay in the cache."""
_COPIES, _MESSAGES, _ANSWERS = 6, 3, 4
"""Arrays of a batch: with a row per node, with a row per edge, and of the model's scores."""
_ASSUMED_WIDTH = 64
_FLOATS_AT_ONCE = 1 << 19
_LARGE_SCORES = 1 << 20
_RELEASED_AFTER = 8
"""After so many calls with large outputs, freed memory is returned to the system."""
_PROBES = 4


def batch_size(
    model: SubgraphModel, x: FloatArray, num_samples: int, execution: ExecutionConfig
) -> int:
    """Return the number of samples per call of the model; larger for a remote model."""
    if execution.samples_per_call is not None:
        return min(execution.samples_per_call, num_samples)
    nodes, edges = len(model.subgraph.nodes), len(model.subgraph.edges)
    classes = model.scores.shape[-1]
    # The model's internal arrays are unknown. They are estimated as a few arrays of the width of a
    # hidden layer, with a row per node, and with a row per edge for the messages.
    rows = _COPIES * nodes + _MESSAGES * edges
    answers = _ANSWERS * prod(model.outputs.leading_shape(1, nodes)) * classes
    floats = rows * max(x.shape[1], classes, _ASSUMED_WIDTH) + answers
    wanted = execution.memory // 2 // (floats * x.itemsize)
    if wanted == 0:
        _logger.info(
            "a single sample (%d nodes, %d edges, %d features, %d classes) takes about %s, more "
            "than the memory limit for a batch",
            *(nodes, edges, x.shape[1], classes, readable(floats * x.itemsize)),
        )
    if not model.predictor.latency_bound:
        width = max(x.shape[1], classes, _COMFORTABLE_WIDTH)
        wanted = min(wanted, _COMFORTABLE_FLOATS // ((nodes + edges) * width))
    # A multiple of 8 if possible, because the table packs 8 samples into a byte.
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
    large = size * model.scores.size >= _LARGE_SCORES
    with Progress("calling the model", config.num_samples, execution.progress) as progress:
        for start in range(0, config.num_samples, size):
            if large and start // size % _RELEASED_AFTER == 0:
                release_free_memory()
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
    """Return perturbed features ``[4, n, F]`` of ``nodes`` to check a model with.

    They are those of the first samples, except that nodes for which ``always`` is True are
    perturbed in all of them.
    """
    draws = Draws.grid(config.seed, np.arange(_PROBES), nodes)
    perturbed = draws.coins("perturbed", config.perturb_probability) | always
    return _perturb(population, draws, perturbed, config)


def _perturb(
    population: Population, draws: Draws, perturbed: NDArray[np.bool_], config: SamplingConfig
) -> FloatArray:
    """Return features ``[B, n, F]``, with the chosen columns replaced where ``perturbed``."""
    features = population.x.shape[1]
    columns = config.columns(features)
    x = np.empty((*perturbed.shape, features), population.x.dtype)
    x[:] = population.x[draws.nodes]
    chosen, (rows, nodes) = draws.where(perturbed), np.nonzero(perturbed)
    # Computing new features takes several times their memory, so it is done in blocks. A custom
    # function computes the features of a whole sample, so it is called once for each sample.
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
    """Records batches of samples and converts them to a table at the end.

    The conversion waits for the last sample, because some changes are graded from all samples of a
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
        """Record which nodes were perturbed in a batch, and how much predictions changed."""
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
