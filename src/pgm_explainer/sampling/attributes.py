"""Samples in which single features of a few nodes are perturbed."""

from __future__ import annotations

import numpy as np

from ..arrays import IntArray
from ..execution import ExecutionConfig
from ..querying import Query
from ..scratch import Record, Scratch
from ..variables import Variable
from .config import SamplingConfig
from .generate import batch_size
from .perturbation import new_features
from .population import Population
from .randomness import Draws
from .samples import SampleTable

__all__ = ["draw_attribute_samples"]


def draw_attribute_samples(
    query: Query,
    population: Population,
    nodes: IntArray,
    config: SamplingConfig,
    execution: ExecutionConfig,
) -> SampleTable:
    """Record whether one prediction changes when single features of ``nodes`` are perturbed.

    Args:
        query: a query with one target.
        nodes: the nodes whose features are perturbed, each feature independently.

    Returns:
        A table with a variable ``(node, feature)`` for each feature of each node, followed by the
        prediction.
    """
    (target,), model = query.targets, query.model
    prediction = list(query.predictions).index(target)
    x, subgraph = population.x, model.subgraph
    columns = config.columns(population)
    variables = [Variable((int(v), int(f)), True, 1) for v in nodes for f in columns]
    scratch = Scratch(execution.memory // 4, "samples")
    table = SampleTable(
        [*variables, Variable(target, False, config.change.levels)], config.num_samples, scratch
    )
    original, at = x[subgraph.nodes], subgraph.positions(nodes)
    size = batch_size(model, x, config.num_samples, execution)
    one = slice(prediction, prediction + 1)
    classes, before = query.classes[one], model.before[one]
    flips = Record(config.num_samples, len(variables), np.bool_, scratch)
    severity = np.empty((config.num_samples, 1), dtype=np.float32)
    for start in range(0, config.num_samples, size):
        samples = np.arange(start, min(start + size, config.num_samples))
        draws = Draws.grid(config.seed, samples, nodes)
        flip = np.zeros((len(samples), len(nodes), x.shape[1]), dtype=bool)
        coins = draws.uniforms("attributes", len(columns)) < config.perturb_probability
        flip[:, :, columns] = coins
        batch = np.repeat(original[None], len(samples), axis=0)
        new = new_features(config.perturbation, population, draws)
        batch[:, at] = np.where(flip, new, original[at])
        after = model(batch)[:, one]
        severity[samples] = config.change.severity(before, after, classes)
        flips.write(start, coins.reshape(len(samples), -1))
    for block in flips.blocks():
        table.write(block.start, flips.read(block).astype(np.uint8))
    table.write(len(variables), config.change.grade(severity))
    return table
