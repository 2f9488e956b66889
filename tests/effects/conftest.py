"""Samples of perturbations, and small models whose effects are known exactly."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from pgm_explainer.effects import Effects
from pgm_explainer.effects.estimate import EffectProblem, estimate_effects
from pgm_explainer.sampling import SampleTable, Variable
from pgm_explainer.sampling.samples import Outcome
from pgm_explainer.significance import SignificanceConfig

P = 0.1


@dataclass(frozen=True)
class Lab:
    """Which nodes are perturbed in which samples, and what the model makes of it."""

    bits: np.ndarray

    @property
    def table(self) -> SampleTable:
        num_samples, num_nodes = self.bits.shape
        table = SampleTable([Variable(v, True, 1) for v in range(num_nodes)], num_samples)
        table.write(0, self.bits.astype(np.uint8))
        return table

    def effects(self, model: Callable[[np.ndarray], np.ndarray] | np.ndarray, **options) -> Effects:
        """Effects on a model of the bits, or on values that are given."""
        nobody = np.zeros((1, self.bits.shape[1]), dtype=bool)
        values = model(self.bits) if callable(model) else model
        original = float(model(nobody)[0]) if callable(model) else 1.0
        probability = options.pop("probability", P)
        stayed = 0.9 if options.pop("is_probability", False) else None
        outcome = Outcome(values, original, 1e-9, stayed)
        problem = EffectProblem(np.arange(self.bits.shape[1]), outcome)
        return estimate_effects(self.table, [problem], probability, SignificanceConfig(**options))[
            0
        ]


@pytest.fixture(scope="session")
def lab():
    """Return samples in which each node is perturbed with a probability of a tenth."""

    def make(seed, num_nodes, num_samples=1000, probability=P):
        rng = np.random.default_rng(seed)
        return Lab(rng.random((num_samples, num_nodes)) < probability)

    return make


@pytest.fixture(scope="session")
def exact_effects():
    """Return the average effect of each node, over all patterns of the others by their chances."""

    def effects(model, num_nodes, probability=P):
        patterns = np.array(list(product([False, True], repeat=num_nodes)))
        weights = np.where(patterns, probability, 1 - probability)
        values = model(patterns)
        found = []
        for node in range(num_nodes):
            others = np.delete(weights, node, axis=1).prod(axis=1) * values
            found.append(others[patterns[:, node]].sum() - others[~patterns[:, node]].sum())
        return np.array(found)

    return effects
