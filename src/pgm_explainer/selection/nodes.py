"""Step 2 of the paper for many targets: effects, rankings and the nodes of each network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import tee

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..effects import EffectProblem, Effects, are_precise, estimate_effects
from ..memory import in_blocks
from ..sampling import Outcome, Samples
from ..significance import SignificanceConfig
from .config import SelectionConfig
from .ranking import Ranking
from .select import Dependents, Neighbourhood, select_variables

__all__ = ["STRONG", "SelectionResult", "causes", "choose_nodes", "select_nodes"]

_EFFECT_CANDIDATES = 1 << 14
_EFFECT_TARGETS = 128
_EFFECT_VALUES = 1 << 18
"""The maximum number of predictions (targets times samples) that are processed at once."""

STRONG = 0.01
"""A cause is strong if it has at least this fraction of the strength of the strongest node."""


@dataclass(frozen=True)
class SelectionResult:
    """The results for a target before its network is learned.

    Attributes:
        neighbourhood: the target and its candidates.
        ranking: the candidates by dependence with the target.
        effects: the effects of perturbing each node.
        chosen: the nodes of the network, most important first.
        levels: how much the prediction changed in each sample, as a level ``[n]``; 0 means kept.
        outcome: the explained probability or value in each sample.
        is_precise: whether there are enough samples for the strongest effects.
    """

    neighbourhood: Neighbourhood
    ranking: Ranking
    effects: Effects
    chosen: IntArray
    levels: NDArray[np.uint8]
    outcome: Outcome
    is_precise: bool

    @property
    def changed(self) -> bool:
        """Whether the prediction changed in any sample."""
        return bool(self.levels.any())

    @property
    def causes(self) -> frozenset[int]:
        """The nodes with a significant effect."""
        return frozenset(causes(self.effects).tolist())

    def __len__(self) -> int:
        return len(self.neighbourhood.candidates)


def select_nodes(
    samples: Samples,
    neighbourhoods: Iterable[Neighbourhood],
    config: SelectionConfig,
    significance: SignificanceConfig,
    perturb_probability: float,
    cells: int,
) -> Iterator[SelectionResult]:
    """Rank the candidates of each target, estimate their effects and choose the nodes.

    Args:
        samples: the samples of step 1.
        neighbourhoods: the targets and their candidates.
        config: the options of the selection.
        significance: significance level and correction.
        perturb_probability: the probability that a node is perturbed in a sample.
        cells: see :func:`select_variables`.
    """
    for_tests, for_effects = tee(neighbourhoods)
    dependents = select_variables(samples.table, for_tests, config, significance, cells)
    found = zip(for_effects, dependents, strict=True)
    sized = ((each, len(each[0].candidates)) for each in found)
    at_once = max(1, min(_EFFECT_TARGETS, _EFFECT_VALUES // samples.table.num_samples))
    for block in in_blocks(sized, at_once, _EFFECT_CANDIDATES):
        problems = [EffectProblem(each.around, samples.outcome(each.target)) for each, _ in block]
        effects = estimate_effects(samples.table, problems, perturb_probability, significance)
        for (each, its), problem, own in zip(block, problems, effects, strict=True):
            yield _select(each, samples, its, own, problem.outcome, config)


def _select(
    neighbourhood: Neighbourhood,
    samples: Samples,
    dependents: Dependents,
    effects: Effects,
    outcome: Outcome,
    config: SelectionConfig,
) -> SelectionResult:
    levels = samples.levels(neighbourhood.target)
    ranking, chosen = dependents.ranking, np.empty(0, dtype=np.int64)
    if levels.any():
        chosen = choose_nodes(effects, dependents, config)
    else:  # the prediction never changed, so nothing can depend on it
        ranking = ranking.with_none_significant()
    precise = are_precise(effects, samples.values.are_probabilities)
    selected = ranking.with_selected(chosen)
    return SelectionResult(neighbourhood, selected, effects, chosen, levels, outcome, precise)


def choose_nodes(effects: Effects, dependents: Dependents, config: SelectionConfig) -> IntArray:
    """Return the nodes of the network, most important first.

    A cause is a node with a significant effect. It is strong if it has at least a hundredth of the
    strength of the strongest node. Strong causes come first, then nodes that depend on the target
    (in the order of the ranking), then weak causes.
    """
    ranked = dependents.ranking.nodes
    candidates = frozenset(ranked.tolist())
    found = [node for node in causes(effects).tolist() if node in candidates]
    strong = frozenset(causes(effects, STRONG).tolist())
    ordered = [node for node in found if node in strong]
    ordered += [*dependents.related.tolist(), *found]
    if not config.only_significant:
        ordered += ranked.tolist()
    return np.array(list(dict.fromkeys(ordered))[: config.max_nodes], dtype=np.int64)


def causes(effects: Effects, at_least: float = 0.0) -> IntArray:
    """Return the nodes with a significant effect of at least this strength, strongest first."""
    chosen: NDArray[np.bool_] = effects.significant & (effects.strength >= at_least)
    return effects.nodes[chosen]
