"""The effects of single features of chosen nodes, from separate samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from .arrays import IntArray
from .effects.estimate import EffectProblem, estimate_effects
from .effects.table import EFFECT_COLUMNS
from .execution import ExecutionConfig
from .explanation import FeatureEffects
from .querying import GraphModel, Query
from .sampling import Population, VariableId
from .sampling.generate import draw_samples, perturbed_batch
from .sampling.parts import FeatureCells
from .settings import Settings

__all__ = ["explain_features"]

_NO_NODES = np.empty(0, dtype=np.int64)
_SAME_WITHIN = 1e-4
"""Relative changes of a prediction up to this are rounding errors of the model."""
_MOST_TARGETS = 256
_OPEN_GROUPS = 8
"""The number of most recent groups of targets to which another target may be added."""


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
    for group in _groups(model, chosen):
        experiment = _Experiment.of(model, population, settings, group, chosen)
        query = experiment.query
        if len(group) > 1 and (query.exceeding or not experiment.targets_are_independent):
            for target in group:
                alone = {target: chosen[target]}
                yield from explain_features(model, population, settings, execution, alone)
        else:
            yield from experiment.effects(execution)


@dataclass(frozen=True)
class _Experiment:
    """The features of the chosen nodes of some targets, perturbed in one set of samples.

    Attributes:
        query: the predictions of the targets.
        nodes: the chosen nodes of each target, without those that the model is not called on.
    """

    query: Query
    parts: FeatureCells
    population: Population
    settings: Settings
    nodes: Mapping[VariableId, IntArray]
    ends: Mapping[VariableId, IntArray]

    @classmethod
    def of(
        cls,
        model: GraphModel,
        population: Population,
        settings: Settings,
        targets: Sequence[VariableId],
        chosen: Mapping[VariableId, IntArray],
    ) -> _Experiment:
        query = model.query(targets, _NO_NODES)
        called = query.model.subgraph.nodes
        nodes = {target: np.intersect1d(chosen[target], called) for target in targets}
        every = np.unique(np.concatenate([*nodes.values()]))
        parts = FeatureCells(population, settings.sampling, model.graph.num_nodes, every)
        ends = {target: model.task.ends(target) for target in targets}
        return cls(query, parts, population, settings, nodes, ends)

    @property
    def targets_are_independent(self) -> bool:
        """Whether no prediction reacts to the features of the nodes of another target.

        For each binary digit of the positions of the targets, the features of all targets with a 0
        are perturbed at once, then those with a 1. Each time, the predictions of the others must
        stay the same. Any two targets differ in some digit.
        """
        model, targets, parts = self.query.model, self.query.targets, self.parts
        number = {name: at for at, name in enumerate(self.query.predictions)}
        before = model.before[[number[target] for target in targets]]
        largest = 1.0 if model.reader.kind != "values" else abs(before).max(axis=-1)
        for digit in range((len(targets) - 1).bit_length()):
            ones = (np.arange(len(targets)) >> digit) % 2 == 1
            for half in (ones, ~ones):
                nodes = [self.nodes[target] for target in compress(targets, half.tolist())]
                cells = np.isin(parts.split(parts.numbers)[0], np.concatenate(nodes))[None]
                how = (parts, np.array([digit]), parts.numbers, cells)
                batch = perturbed_batch(model.subgraph, self.population, *how)
                after = model(batch.x)[0, [number[target] for target in targets]]
                moved = abs(after - before).max(axis=-1) > _SAME_WITHIN * largest
                if moved[~half].any():
                    return False
        return True

    def effects(self, execution: ExecutionConfig) -> Iterator[tuple[VariableId, FeatureEffects]]:
        """Draw the samples, and yield the effects on each target."""
        sampling, samples = self.settings.sampling, None
        if len(self.parts.numbers):
            how = (self.population, sampling, execution, self.parts, self.parts.numbers)
            samples = draw_samples(self.query, *how)
        for target, nodes in self.nodes.items():
            tested = self.parts.reaching(nodes)
            options: dict[str, Any] = {
                "ends": self.ends[target],
                "untested": self.parts.count_features(nodes) - len(tested),
            }
            if samples is None or not len(tested):
                yield target, FeatureEffects.empty(**options)
                continue
            problem = EffectProblem(tested, samples.outcome(target))
            chance, significance = sampling.perturb_probability, self.settings.significance
            (found,) = estimate_effects(samples.table, [problem], chance, significance)
            options |= {name: getattr(found, name) for name in EFFECT_COLUMNS[1:]}
            cells = self.parts.split(found.nodes)
            options |= self.population.levels(*cells)
            yield target, FeatureEffects(*cells, **options)


@dataclass
class _Group:
    """Targets that can share samples: no chosen node affects the prediction of another target."""

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
