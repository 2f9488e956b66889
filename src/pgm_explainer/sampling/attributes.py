"""Samples in which single features of a few nodes are perturbed, to tell which of them matter."""

from __future__ import annotations

import numpy as np

from ..arrays import IntArray
from ..querying.subgraph_model import LocalModel
from ..variables import Variable, VariableId
from .generate import SamplingPlan
from .perturbation import new_features
from .population import Population
from .randomness import Draws
from .record import Record
from .table import SampleTable

__all__ = ["draw_attribute_samples"]


def draw_attribute_samples(
    model: LocalModel,
    population: Population,
    nodes: IntArray,
    target: VariableId,
    prediction: int,
    explained: int,
    plan: SamplingPlan,
) -> SampleTable:
    """Record whether one prediction changes when features of ``nodes`` are perturbed one by one.

    Args:
        nodes: the nodes whose features are perturbed, each feature independently.
        target: what to call the prediction's variable.
        prediction: its place among the model's recorded predictions.
        explained: the class of it that is explained.

    Returns:
        A table with a variable ``(node, feature)`` for each of them, node by node, and the
        prediction last.
    """
    x, part, columns = population.x, model.part, plan.columns
    variables = [Variable((int(v), int(f)), True, 1) for v in nodes for f in columns]
    scratch = plan.scratch()
    table = SampleTable(
        [*variables, Variable(target, False, plan.change.levels)], plan.num_samples, scratch
    )
    original, at = x[part.nodes], part.positions(nodes)
    batch_size = plan.batch_size(model, x)
    classes, before = np.array([explained]), model.before[prediction : prediction + 1]
    flips = Record(plan.num_samples, len(variables), np.bool_, scratch)
    severity = np.empty((plan.num_samples, 1), dtype=np.float32)
    for start in range(0, plan.num_samples, batch_size):
        samples = np.arange(start, min(start + batch_size, plan.num_samples))
        draws = Draws.grid(plan.seed, samples, nodes)
        flip = np.zeros((len(samples), len(nodes), x.shape[1]), dtype=bool)
        coins = draws.uniforms("attributes", len(columns)) < plan.probability
        flip[:, :, columns] = coins
        batch = np.repeat(original[None], len(samples), axis=0)
        new = new_features(plan.perturbation, population, draws)
        batch[:, at] = np.where(flip, new, original[at])
        after = model(batch)[:, prediction : prediction + 1]
        severity[samples] = plan.change.severity(before, after, classes)
        flips.write(start, coins.reshape(len(samples), -1))
    for block in flips.blocks():
        table.write(block.start, flips.read(block).astype(np.uint8))
    table.write(len(variables), plan.change.grade(severity))
    return table
