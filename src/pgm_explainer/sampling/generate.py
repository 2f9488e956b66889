"""Step 1 of the paper: perturb, query the model, record."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..execution import (
    ExecutionConfig,
    one_ahead,
    readable,
    release_free_memory,
)
from ..graph import SampledEdges, Subgraph
from ..predictors import SharedRows
from ..progress import Progress
from ..querying import Query, SubgraphModel
from ..scratch import Record, Scratch
from ..variables import Variable
from .config import SamplingConfig
from .distinct import predict_graphs, samples_together
from .parts import Batch, Parts
from .parts.nodes import NodeParts, replace_features
from .population import Population
from .randomness import Draws
from .samples import Samples, SampleTable, TargetValues

__all__ = ["batch_size", "draw_samples", "perturbed_batch", "probe_features", "still_valid"]

_Inputs = Batch | SharedRows | Callable[[slice], Batch]
"""The inputs of the model in some samples, or a function that returns those of some of them."""

_logger = logging.getLogger(__name__)

_COMFORTABLE_FLOATS = 3_600_000
_COMFORTABLE_WIDTH = 16
"""Numbers in the arrays of a call: enough for efficient batches, few enough for the cache."""
_COMFORTABLE_FLOATS_OF_GRAPHS = 900_000
"""The same for predictions of graphs. With larger batches, allocating memory takes much time."""
_COMFORTABLE_FLOATS_OF_NODES = 700_000
"""The same for a model that holds no messages, but only features of nodes."""
_COPIES, _MESSAGES, _ANSWERS = 6, 3, 4
"""Estimated numbers of arrays per batch: with a row per node, with a row per edge, of scores."""
_ASSUMED_WIDTH = 64
_LARGE_SCORES = 1 << 20
_RELEASED_AFTER = 8
"""After this many calls with large outputs, freed memory is returned to the system."""
_PROBES = 4
_REPEATED = 16
"""The number of samples that are drawn again to see whether the model has changed."""
_WIDE = 256
"""With at least this many features, multiplying equal rows by weights only once saves time."""


def batch_size(
    model: SubgraphModel,
    x: FloatArray,
    num_samples: int,
    execution: ExecutionConfig,
    shares_rows: bool = False,
    edges: SampledEdges | None = None,
) -> int:
    """Return the number of samples per call of the model; larger for a remote model.

    Args:
        shares_rows: whether equal rows of features are stored only once.
        edges: the edges of two samples, if they differ between samples.
    """
    if execution.samples_per_call is not None:
        return min(execution.samples_per_call, num_samples)
    nodes, messages = model.size(x[model.subgraph.nodes], edges)
    classes = model.scores.shape[-1]
    # The model's internal arrays are unknown. They are estimated as a few arrays of the width of a
    # hidden layer, with a row per node, and with a row per edge for the messages.
    rows = _COPIES * nodes + _MESSAGES * messages
    answers = _ANSWERS * prod(model.outputs.leading_shape(1, len(model.subgraph.nodes))) * classes
    width = classes if shares_rows else max(x.shape[1], classes)
    floats = rows * max(width, _ASSUMED_WIDTH) + answers
    floats += nodes * x.shape[1] if shares_rows else 0  # if no two rows are equal
    wanted = execution.memory // 2 // (floats * x.itemsize)
    if wanted == 0:
        _logger.info(
            "a single sample (%d nodes, %d messages, %d features, %d classes) takes about %s, more "
            "than the memory limit for a batch",
            *(nodes, messages, x.shape[1], classes, readable(floats * x.itemsize)),
        )
    if not model.predictor.latency_bound:
        comfortable = _ASSUMED_WIDTH if shares_rows else _COMFORTABLE_WIDTH
        of_graphs = model.outputs.graphs(nodes) is not None
        most = _COMFORTABLE_FLOATS_OF_GRAPHS if of_graphs else _COMFORTABLE_FLOATS
        if messages < len(model.subgraph.edges):
            most = _COMFORTABLE_FLOATS_OF_NODES
        wanted = min(wanted, most // ((nodes + messages) * max(width, comfortable)))
    # A multiple of 8 if possible, because the table packs 8 samples into a byte.
    wanted = wanted // 8 * 8 if wanted >= 8 else max(1, wanted)
    return min(wanted, num_samples)


def draw_samples(
    query: Query,
    population: Population,
    config: SamplingConfig,
    execution: ExecutionConfig,
    parts: Parts | None = None,
    recorded: IntArray | None = None,
) -> Samples:
    """Record the variables of a query in ``config.num_samples`` perturbed graphs.

    Every part of the model's subgraph is perturbed independently with
    ``config.perturb_probability``.

    Args:
        parts: what is perturbed; None for the nodes.
        recorded: the parts whose variables are recorded, ascending; None for those of the query.
    """
    parts = parts or NodeParts(population, config)
    recorded = query.recorded if recorded is None else recorded
    classes = query.classes
    scratch = Scratch(execution.memory // 4, "samples")
    # If hops > num_layers, candidates may be outside the subgraph.
    every = np.union1d(parts.within(query.model.subgraph), recorded)
    recorder = _Recorder(query, parts, every, recorded, config, scratch)
    values = TargetValues(query, config.num_samples, Scratch(execution.memory // 4, "samples"))
    model = query.model
    shares = _shares_rows(model, parts, every, config)
    edges = _first_edges(model.subgraph, population, parts, every, config)
    size = batch_size(model, population.x, config.num_samples, execution, shares, edges)
    original = population.x[model.subgraph.nodes]
    graphs = None if shares else model.outputs.graphs(len(original))
    together = size if graphs is None else samples_together(original, size, execution.memory)
    by_node = graphs is None and model.predictor.takes_by_node(model.subgraph)
    large = size * model.scores.size >= _LARGE_SCORES

    def draw(start: int) -> tuple[NDArray[np.bool_], _Inputs]:
        samples = np.arange(start, min(start + together, config.num_samples))
        perturbed = Draws.grid(config.seed, samples, every).coins(
            "perturbed", config.perturb_probability
        )
        given = (model.subgraph, population, parts, samples, every, perturbed)
        if graphs is not None:
            return perturbed, partial(_batch_of, *given, by_node)
        rows = parts.rows(model.subgraph, samples, every, perturbed) if shares else None
        return perturbed, _batch_of(*given, by_node, slice(None)) if rows is None else rows

    starts = range(0, config.num_samples, together)
    overlaps = graphs is None and model.predictor.works_elsewhere
    with Progress("calling the model", config.num_samples, execution.progress) as progress:
        for start, (perturbed, inputs) in zip(
            starts, one_ahead(map(draw, starts), overlaps), strict=True
        ):
            if large and start // size % _RELEASED_AFTER == 0:
                release_free_memory()
            if isinstance(inputs, Batch):
                after = model(inputs.x, inputs.edges)
            elif isinstance(inputs, SharedRows):
                after = model(inputs)
            elif graphs is not None:
                count, advance = len(perturbed), progress.advance
                after = predict_graphs(model, original, graphs, inputs, count, size, advance)
            if graphs is None:
                progress.advance(len(perturbed))
            values.record(start, after)
            recorder.record(start, perturbed, config.change.severity(model.before, after, classes))
    share = parts.changed_share(recorded)
    thresholds = recorder.thresholds(values.positions, model.before)
    table = recorder.finish()
    return Samples(table, model.before, classes, share, values, thresholds, recorder.separate)


def still_valid(
    samples: Samples,
    query: Query,
    population: Population,
    config: SamplingConfig,
    execution: ExecutionConfig,
    parts: Parts,
) -> bool:
    """Return whether the model still returns the recorded predictions for the first samples.

    Args:
        samples: the result of :func:`draw_samples`.
        query, population, config, execution, parts: the arguments with which they were drawn.
    """
    model = query.model
    every = parts.within(model.subgraph)
    edges = _first_edges(model.subgraph, population, parts, every, config)
    at_most = min(_REPEATED, config.num_samples)
    few = np.arange(batch_size(model, population.x, at_most, execution, edges=edges))
    perturbed = Draws.grid(config.seed, few, every).coins("perturbed", config.perturb_probability)
    batch = perturbed_batch(model.subgraph, population, parts, few, every, perturbed)
    return samples.values.agrees(model(batch.x, batch.edges))


def _first_edges(
    subgraph: Subgraph,
    population: Population,
    parts: Parts,
    every: IntArray,
    config: SamplingConfig,
) -> SampledEdges | None:
    """Return the edges of the first two samples; None if no sample has other edges."""
    if not parts.changes_edges:
        return None
    samples = np.arange(2)
    perturbed = Draws.grid(config.seed, samples, every).coins(
        "perturbed", config.perturb_probability
    )
    return perturbed_batch(subgraph, population, parts, samples, every, perturbed).edges


def _shares_rows(
    model: SubgraphModel, parts: Parts, every: IntArray, config: SamplingConfig
) -> bool:
    """Return whether features are wide, and the model needs each distinct row only once."""
    samples = np.arange(min(2, config.num_samples))
    rows = parts.rows(
        model.subgraph, samples, every, np.ones((len(samples), len(every)), dtype=bool)
    )
    if rows is None or rows.shape[-1] < _WIDE:
        return False
    return model.predictor.saves_on_rows(rows, model.subgraph, *model.outputs.arguments)


def _batch_of(
    subgraph: Subgraph,
    population: Population,
    parts: Parts,
    samples: IntArray,
    every: IntArray,
    perturbed: NDArray[np.bool_],
    by_node: bool,
    some: slice,
) -> Batch:
    batch = Batch(_repeated(population, subgraph.nodes, len(samples[some]), by_node))
    return parts.perturb(batch, subgraph, samples[some], every, perturbed[some])


def perturbed_batch(
    subgraph: Subgraph,
    population: Population,
    parts: Parts,
    samples: IntArray,
    every: IntArray,
    perturbed: NDArray[np.bool_],
) -> Batch:
    """Return the inputs of the model in some samples, given which parts are perturbed.

    Args:
        samples: the numbers of the samples, for random numbers.
        every: parts, ascending; they include all parts of the subgraph.
        perturbed: ``[samples, every]``, whether each part is perturbed.
    """
    batch = Batch(_repeated(population, subgraph.nodes, len(samples)))
    return parts.perturb(batch, subgraph, samples, every, perturbed)


def probe_features(
    population: Population, config: SamplingConfig, nodes: IntArray, always: NDArray[np.bool_]
) -> FloatArray:
    """Return perturbed features ``[4, n, F]`` of ``nodes`` to check a model with.

    They are those of the first samples, except that nodes for which ``always`` is True are
    perturbed in all of them.

    Args:
        population: the features of all nodes.
        config: the options of sampling.
        nodes: the nodes, ascending.
        always: a mask ``[n]`` of these nodes.
    """
    draws = Draws.grid(config.seed, np.arange(_PROBES), nodes)
    perturbed = draws.coins("perturbed", config.perturb_probability) | always
    x = _repeated(population, nodes, _PROBES)
    replace_features(x, population, draws, perturbed, config)
    return x


def _repeated(
    population: Population, nodes: IntArray, samples: int, by_node: bool = False
) -> FloatArray:
    """Return a copy ``[samples, n, F]`` of the features of ``nodes`` for each sample.

    Args:
        by_node: whether the copies of a node are next to each other in memory.
    """
    x = population.x[nodes]
    if by_node:
        return np.repeat(x[:, None], samples, axis=1).transpose(1, 0, 2)
    return np.repeat(x[None], samples, axis=0)


class _Recorder:
    """Records batches of samples and converts them to a table at the end.

    The conversion waits for the last sample, because some changes are graded from all samples of a
    prediction, and because the table is packed by columns.
    """

    def __init__(
        self,
        query: Query,
        parts: Parts,
        every: IntArray,
        recorded: IntArray,
        config: SamplingConfig,
        scratch: Scratch,
    ) -> None:
        self._change = config.change
        # The variable of a node includes its own prediction, if that is recorded.
        joined = parts.nodes_in(recorded) if query.model.outputs.belong_to_nodes else recorded[:0]
        others = recorded[len(joined) :]
        levels = np.full(len(joined), config.change.levels)
        levels[~query.model.predictor.has_prediction(joined)] = 1
        variables = [
            Variable(node, True, its_levels)
            for node, its_levels in zip(joined.tolist(), levels.tolist(), strict=True)
        ]
        variables += [Variable(part, True, 1) for part in others.tolist()]
        self.separate = 0 if len(joined) else len(variables)
        if not len(joined):
            variables += [Variable(name, False, config.change.levels) for name in query.predictions]
        samples = config.num_samples
        self._levels = levels.astype(np.uint8)
        self._at = [np.searchsorted(every, some) for some in (joined, others)]
        self._table = SampleTable(variables, samples, scratch)
        self._perturbed = [Record(samples, len(at), np.bool_, scratch) for at in self._at]
        noted = np.float32 if self._change.needs_all_samples else np.uint8
        self._changed = Record(samples, len(query.predictions), noted, scratch)

    def record(self, start: int, perturbed: NDArray[np.bool_], severity: FloatArray) -> None:
        """Record which parts were perturbed in a batch, and how much predictions changed."""
        for record, at in zip(self._perturbed, self._at, strict=True):
            record.write(start, perturbed[:, at])
        graded = not self._change.needs_all_samples
        self._changed.write(start, self._change.grade(severity) if graded else severity)

    def thresholds(self, positions: IntArray, before: FloatArray) -> FloatArray:
        """Return the thresholds of change of some predictions, ``[positions, levels - 1]``."""
        found = np.empty((len(positions), 0))
        for block in self._changed.blocks():
            inside = np.flatnonzero((block.start <= positions) & (positions < block.stop))
            if not len(inside):
                continue
            chosen = positions[inside]
            severity = np.empty((0, len(chosen)), np.float32)
            if self._change.needs_all_samples:
                severity = self._changed.read(block)[:, chosen - block.start]
            thresholds = self._change.thresholds_of(severity, before[chosen])
            if not found.size:
                found = np.empty((len(positions), thresholds.shape[1]))
            found[inside] = thresholds
        return found

    def finish(self) -> SampleTable:
        joined, others = self._perturbed
        for block in joined.blocks():
            codes = joined.read(block).astype(np.uint8)
            levels = self._levels[block]
            codes *= levels
            codes += np.where(levels > 1, self._grades(block), np.uint8(0))
            self._table.write(block.start, codes)
        for block in others.blocks():
            first = joined.num_columns + block.start
            self._table.write(first, others.read(block).astype(np.uint8))
        if self.separate:
            for block in self._changed.blocks():
                self._table.write(self.separate + block.start, self._grades(block))
        return self._table

    def _grades(self, block: slice) -> NDArray[np.uint8]:
        noted = self._changed.read(block)
        return self._change.grade(noted) if self._change.needs_all_samples else noted
