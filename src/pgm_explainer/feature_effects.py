"""The effects of single features of chosen nodes, from samples of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import IntArray
from .effects import EFFECT_COLUMNS, EffectProblem, estimate_effects
from .execution import ExecutionConfig
from .explanation import FeatureEffects
from .querying import GraphModel
from .sampling import FeatureCells, Population, Samples, VariableId, draw_samples
from .settings import Settings

__all__ = ["explain_features"]

_NO_NODES = np.empty(0, dtype=np.int64)
_MOST_TARGETS = 256
_OPEN_GROUPS = 8
"""How many of the last groups of targets may still get another target."""


def explain_features(
    model: GraphModel,
    population: Population,
    settings: Settings,
    execution: ExecutionConfig,
    chosen: Mapping[VariableId, IntArray],
) -> Iterator[tuple[VariableId, FeatureEffects]]:
    """Yield the effects of the features of chosen nodes on each target, in any order.

    The parts are the features of these nodes, each perturbed independently. All other nodes are
    left as they are. Targets share samples if no prediction depends on the chosen nodes of another
    target, so the result for a target does not depend on the other targets.

    Args:
        chosen: the nodes of each target, ascending.
    """
    sampling, first = settings.sampling, model.graph.num_nodes
    for group in _groups(model, chosen):
        nodes = np.unique(np.concatenate([chosen[target] for target in group]))
        parts = FeatureCells(population, sampling, first, nodes)
        some = [target for target in group if len(parts.reaching(chosen[target]))]
        query = model.query(some, _NO_NODES) if some else None
        if query is not None and query.exceeding and len(some) > 1:
            # These depend on more nodes than the groups assume.
            for target in group:
                alone = {target: chosen[target]}
                yield from explain_features(model, population, settings, execution, alone)
            continue
        samples = None
        if query is not None:
            samples = draw_samples(query, population, sampling, execution, parts, parts.numbers)
        for target in group:
            yield target, _effects(target, chosen[target], model, parts, samples, settings)


def _effects(
    target: VariableId,
    nodes: IntArray,
    model: GraphModel,
    parts: FeatureCells,
    samples: Samples | None,
    settings: Settings,
) -> FeatureEffects:
    """Return the effects of the features of some nodes on one target."""
    tested, ends = parts.reaching(nodes), model.task.ends(target)
    untested = parts.count_features(nodes) - len(tested)
    if samples is None or not len(tested):
        return FeatureEffects.empty(ends=ends, untested=untested)
    problem = EffectProblem(tested, samples.outcome(target))
    probability = settings.sampling.perturb_probability
    (found,) = estimate_effects(samples.table, [problem], probability, settings.significance)
    numbers: dict[str, Any] = {name: getattr(found, name) for name in EFFECT_COLUMNS[1:]}
    return FeatureEffects(*parts.split(found.nodes), **numbers, ends=ends, untested=untested)


@dataclass
class _Group:
    """Targets that can share samples: no chosen node is in the receptive field of another one."""

    targets: list[VariableId]
    fields: set[int]
    chosen: set[int]

    def add(self, target: VariableId, field: set[int], nodes: set[int]) -> bool:
        """Add a target if it can share samples; return whether it was added."""
        full = len(self.targets) == _MOST_TARGETS
        if full or not self.fields.isdisjoint(nodes) or not self.chosen.isdisjoint(field):
            return False
        self.targets.append(target)
        self.fields |= field
        self.chosen |= nodes
        return True


def _groups(
    model: GraphModel, chosen: Mapping[VariableId, IntArray]
) -> Iterator[Sequence[VariableId]]:
    """Yield groups of targets that share samples."""
    groups: list[_Group] = []
    for target, nodes in chosen.items():
        reached = model.receptive_field(target)
        if reached is None:
            yield [target]
            continue
        field, own = set(reached.tolist()), set(nodes.tolist())
        if not any(group.add(target, field, own) for group in groups):
            groups.append(_Group([target], field, own))
        if len(groups) > _OPEN_GROUPS:
            yield groups.pop(0).targets
    yield from (group.targets for group in groups)
