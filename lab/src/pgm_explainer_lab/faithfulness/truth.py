"""The true effect of every node, measured with many model calls.

In each of many random contexts, in which the other nodes are perturbed as the explainer perturbs
them, the model is called twice: with the node perturbed and with the node unchanged. The effects of
an explainer estimate the mean of the differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgm_explainer.sampling import Draws, Population, as_perturbation, new_features

from ..arrays import FloatArray, IntArray
from ..defaults import DEFAULTS
from ..rivals.case import Case
from ..rivals.output import Output

__all__ = ["Truth", "TruthPlan", "checked_effects", "true_effects"]

_SEED = 1_000_003
"""Added to a seed, so that the contexts differ from the samples of every explainer."""
_FLOATS_AT_ONCE = 10_000_000
_CHECKED, _CHECKED_IN = 200, 30
"""If there are many candidates, 200 of them are measured in 30 contexts to check intervals."""


@dataclass(frozen=True)
class TruthPlan:
    """How the true effects are measured.

    Every node is perturbed in as many contexts as ``budget`` allows, within limits. The strongest
    nodes are then measured again in more and new contexts, in two steps, because few contexts show
    which nodes may be strong, but not how strong they are.

    Attributes:
        budget: approximate number of samples of the first pass.
        fewest, most: limits of the number of contexts of the first pass.
        again: for each further step, the number of nodes and of contexts.
        perturbation, probability: those of the explainer.
        seed: the explainer's seed, from which another one is derived for the contexts.
    """

    budget: int = 6000
    fewest: int = 3
    most: int = 500
    again: tuple[tuple[int, int], ...] = ((200, 20), (20, 500))
    perturbation: str = DEFAULTS["perturbation"]
    probability: float = DEFAULTS["perturb_probability"]
    seed: int = 0

    def contexts(self, num_nodes: int) -> int:
        """Return the number of contexts of the first pass."""
        return min(max(self.budget // max(num_nodes, 1), self.fewest), self.most)


@dataclass(frozen=True)
class Truth:
    """The effect of perturbing each node on the probability of the explained class.

    Attributes:
        nodes: the candidates and, in a node task, the target, ascending.
        effect: the mean change, with its sign.
        size: the mean absolute change; exactly 0 if there never was a change.
        error: the standard error of ``effect``.
    """

    nodes: IntArray
    effect: FloatArray
    size: FloatArray
    error: FloatArray

    def strongest(self, count: int, target: int | None) -> Truth:
        """Return the nodes with the largest changes, the largest first; the target is not one."""
        order = np.argsort(-self.size, kind="stable")
        order = order[self.nodes[order] != target][:count]
        return Truth(self.nodes[order], self.effect[order], self.size[order], self.error[order])


def true_effects(case: Case, target: int | None, plan: TruthPlan) -> Truth:
    """Return the true effects on one prediction; see :class:`TruthPlan` for how."""
    pairs = _Pairs(case, target, plan)
    candidates = case.candidates(target)
    nodes = candidates if target is None else np.union1d(candidates, [target])
    contexts = plan.contexts(len(nodes))
    effect, size, error = pairs.measure(nodes, 0, contexts)
    used = contexts
    for count, more in plan.again:
        if more <= contexts:
            continue
        strongest = np.sort(np.argsort(-size, kind="stable")[:count])
        again = pairs.measure(nodes[strongest], used, more)
        effect[strongest], size[strongest], error[strongest] = again
        used += more
    return Truth(nodes, effect, size, error)


def checked_effects(
    case: Case, target: int | None, plan: TruthPlan, truth: Truth
) -> tuple[Truth, int]:
    """Return true effects that are precise enough to check intervals.

    These are all effects of ``truth``. If there are many nodes, so that each was measured in only a
    few contexts, a random choice of nodes is measured again in more contexts.

    Returns:
        The true effects, and the minimum number of contexts in which each was measured.
    """
    contexts = plan.contexts(len(truth.nodes))
    if contexts >= min(_CHECKED_IN, plan.most):
        return truth, contexts
    nodes = np.sort(np.random.default_rng(plan.seed).permutation(truth.nodes)[:_CHECKED])
    used = contexts + sum(more for _, more in plan.again)
    return Truth(nodes, *_Pairs(case, target, plan).measure(nodes, used, _CHECKED_IN)), _CHECKED_IN


class _Pairs:
    """Calls the model on pairs of graphs that differ in the perturbation of one node."""

    def __init__(self, case: Case, target: int | None, plan: TruthPlan) -> None:
        self._output = Output(case, target)
        self._plan = plan
        self._columns = case.columns
        self._population = Population(case.x)
        self._perturbation = as_perturbation(
            plan.perturbation, self._population, case.columns, case.task
        )

    def measure(self, nodes: IntArray, first: int, count: int) -> FloatArray:
        """Return mean change, mean size of change and standard error ``[3, nodes]``.

        Args:
            nodes: the nodes that are perturbed.
            first, count: the contexts.
        """
        total, size, squares = np.zeros((3, len(nodes)))
        at_once = max(1, _FLOATS_AT_ONCE // ((len(nodes) + 1) * self._output.x.size))
        for start in range(first, first + count, at_once):
            contexts = np.arange(start, min(start + at_once, first + count))
            changes = self._changes(nodes, contexts)
            total += changes.sum(axis=0)
            size += abs(changes).sum(axis=0)
            squares += (changes**2).sum(axis=0)
        mean = total / count
        variance = np.maximum(squares - count * mean**2, 0) / max(count - 1, 1)
        return np.stack((mean, size / count, np.sqrt(variance / count)))

    def _changes(self, nodes: IntArray, contexts: IntArray) -> FloatArray:
        """Return ``[contexts, nodes]``: the change of the probability by perturbing the node."""
        draws = Draws.grid(self._plan.seed + _SEED, contexts, self._output.part.nodes)
        perturbed = draws.coins("perturbed", self._plan.probability)
        original = np.repeat(self._output.x[None], len(contexts), axis=0)
        new = original.copy()
        drawn = new_features(self._perturbation, self._population, draws)
        new[..., self._columns] = drawn[..., self._columns]
        context = np.where(perturbed[..., None], new, original)
        # In each context one graph per node, in which that node's perturbation is toggled.
        rows = self._output.positions(nodes)
        turned = np.repeat(context[:, None], len(nodes), axis=1)
        over = np.where(perturbed[..., None], original, new)
        turned[:, np.arange(len(nodes)), rows] = over[:, rows]
        answers = self._output(turned.reshape(-1, *self._output.x.shape))
        sign = np.where(perturbed[:, rows], -1.0, 1.0)
        return sign * (answers.reshape(len(contexts), -1) - self._output(context)[:, None])
