"""Occlusion: the change of the prediction when one node at a time is perturbed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pgm_explainer.sampling import Draws, Population, as_perturbation, new_features

from ..arrays import FloatArray, IntArray
from ..defaults import DEFAULT_SAMPLES
from .base import Queries
from .case import Case
from .output import Output

__all__ = ["Occlusion"]


@dataclass(frozen=True)
class Occlusion:
    """The importance of a node is the change of the probability when only that node is perturbed.

    Args:
        perturbation: ``zero`` sets the features to zero; the explainer's other perturbations draw
            new features at random, and the changes are averaged.
        num_queries: maximum number of model calls for one target, divided equally among its
            candidates and the target itself. Each is perturbed at least once, and only once if the
            perturbation is not random.
        seed: seed of random perturbations.
    """

    perturbation: str = "zero"
    num_queries: int = DEFAULT_SAMPLES
    seed: int = 0

    @property
    def name(self) -> str:
        kind = "zero" if self.perturbation == "zero" else "perturbed"
        return f"occlusion ({kind})"

    @property
    def queries(self) -> Queries:
        return Queries(self.num_queries)

    def forwards(self, case: Case, target: int | None) -> int:
        """Return the number of model calls for a target."""
        nodes = len(_occluded(case, target))
        return 1 + nodes * self._tries(nodes)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        for target, found in zip(targets, self.attributions(case, targets), strict=True):
            yield case.among_candidates(target, abs(found))

    def attributions(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        population = Population(case.x)
        scheme = as_perturbation(self.perturbation, population, case.columns, case.task)
        for target in targets:
            output, nodes = Output(case, target), _occluded(case, target)
            draws = Draws.grid(self.seed, np.arange(self._tries(len(nodes))), nodes)
            new = new_features(scheme, population, draws)[..., case.columns]
            before = output(output.x[None])[0]
            after = [_without(output, nodes, case.columns, each) for each in new]
            found = np.zeros(len(case.x))
            found[nodes] = before - np.mean(after, axis=0)
            yield found

    def _tries(self, nodes: int) -> int:
        if self.perturbation == "zero":
            return 1
        return max(1, (self.num_queries - 1) // max(nodes, 1))


def _occluded(case: Case, target: int | None) -> IntArray:
    """Return the candidates and the target, ascending."""
    candidates = case.candidates(target)
    return candidates if target is None else np.union1d(candidates, [target])


def _without(output: Output, nodes: IntArray, columns: IntArray, new: FloatArray) -> FloatArray:
    """Return the probability with each of some nodes, alone, given its new features."""
    x = np.repeat(output.x[None], len(nodes), axis=0)
    each = np.arange(len(nodes))
    x[each[:, None], output.positions(nodes)[:, None], columns] = new
    return output(x)
