"""Ways to replace a node's features: the paper's mean, and others for where the mean says nothing.

A perturbation is any object with a ``name`` and a call ``(population, draws) -> new features``;
the built-in ones are in :data:`PERTURBATIONS`. It never decides *which* nodes are perturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray, as_array, resolve
from ..errors import InputError, PerturbationError
from .randomness import Draws

__all__ = [
    "PERTURBATIONS",
    "CustomPerturbation",
    "Perturbation",
    "Population",
    "as_perturbation",
    "changed_share",
    "check_columns",
]

_PROBES = 16
_RELATIVE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Population:
    """All nodes' features, and what is known of each feature; computed once and shared."""

    x: FloatArray

    @cached_property
    def mean(self) -> FloatArray:
        return self.x.mean(axis=0, dtype=np.float64).astype(self.x.dtype)

    @cached_property
    def low(self) -> FloatArray:
        return np.asarray(self.x.min(axis=0))

    @cached_property
    def high(self) -> FloatArray:
        return np.asarray(self.x.max(axis=0))


class Perturbation(Protocol):
    """New features for some nodes in some samples."""

    @property
    def name(self) -> str: ...

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        """Return new features for ``draws.nodes``, of a shape that fits ``[samples, nodes, F]``."""
        ...


@dataclass(frozen=True)
class _Mean:
    name: str = "mean"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        return population.mean


@dataclass(frozen=True)
class _Zero:
    name: str = "zero"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        return np.zeros(population.x.shape[1], population.x.dtype)


@dataclass(frozen=True)
class _Max:
    name: str = "max"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        return population.high


@dataclass(frozen=True)
class _Random:
    """Each feature becomes 0 or 1 by a fair coin: what the published synthetic results used."""

    name: str = "random"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        return draws.bits("feature bits", population.x.shape[1]).astype(population.x.dtype)


@dataclass(frozen=True)
class _Uniform:
    """Noise of up to half of the feature's range either way, kept within that range."""

    name: str = "uniform"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        noise = draws.uniforms("feature noise", population.x.shape[1]) - 0.5
        spread = population.high - population.low
        moved = population.x[draws.nodes] + noise.astype(population.x.dtype) * spread
        return np.clip(moved, population.low, population.high)


@dataclass(frozen=True)
class _Permute:
    """The features of another node, each other node being as likely."""

    name: str = "permute"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        total = len(population.x)
        steps = 1 + (draws.uniforms("donor")[..., 0] * (total - 1)).astype(np.int64)
        return np.asarray(population.x[(draws.nodes + steps) % total])


@dataclass(frozen=True)
class CustomPerturbation:
    """A user's own ``function(x, rng) -> new x``, called once a sample.

    ``x`` is a fresh copy ``[nodes, F]`` of the features of the nodes in play, and ``rng`` a NumPy
    generator of that sample's own, so the answer does not depend on how samples are batched.
    """

    function: Callable[[FloatArray, np.random.Generator], Any]
    name: str = field(default="custom")

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        original = population.x[draws.nodes]
        rows = [self._one(original, rng) for rng in draws.generators("custom")]
        return np.stack(rows) if rows else np.empty((0, *original.shape), original.dtype)

    def _one(self, original: FloatArray, rng: np.random.Generator) -> FloatArray:
        new = as_array(self.function(original.copy(), rng), "the perturbation's answer")
        if new.shape != original.shape:
            raise PerturbationError(
                f"the perturbation {self.name!r} answered with shape {new.shape} "
                f"for features of shape {original.shape}; it must keep the shape"
            )
        if not np.isfinite(new).all():
            raise PerturbationError(f"the perturbation {self.name!r} answered with NaN or infinity")
        return new.astype(original.dtype)


PERTURBATIONS: dict[str, Perturbation] = {
    scheme.name: scheme for scheme in (_Mean(), _Zero(), _Max(), _Random(), _Uniform(), _Permute())
}


def as_perturbation(
    choice: str | Perturbation | Callable[..., Any], population: Population, columns: IntArray
) -> Perturbation:
    """Return the perturbation meant by a name, an instance or a user's own function.

    ``auto`` is the paper's mean where that changes anything; where every node has the same
    features, and the mean is what they already are, it is ``random``.
    """
    if isinstance(choice, str) and choice == "auto":
        return PERTURBATIONS["mean" if _mean_changes(population, columns) else "random"]
    if not isinstance(choice, str) and hasattr(choice, "name") and callable(choice):
        return choice
    named = resolve(choice, "perturbation", {"auto": PERTURBATIONS["mean"], **PERTURBATIONS})
    if named is not None:
        return named
    if not callable(choice):
        raise InputError(
            f"perturbation must be a name or a function (x, rng) -> x, not {choice!r}; "
            f"names: auto, {', '.join(PERTURBATIONS)}"
        )
    return CustomPerturbation(choice, getattr(choice, "__name__", "custom"))


def _mean_changes(population: Population, columns: IntArray) -> bool:
    mean, low, high = population.mean[columns], population.low[columns], population.high[columns]
    scale = _RELATIVE_TOLERANCE * np.maximum(1.0, np.maximum(abs(low), abs(high)))
    return bool(((high - mean > scale) | (mean - low > scale)).any())


def changed_share(
    perturbation: Perturbation,
    population: Population,
    nodes: IntArray,
    columns: IntArray,
    seed: int,
) -> NDArray[np.float64]:
    """Return for each node how often perturbing it would change any of its features at all."""
    draws = Draws(seed, np.arange(_PROBES), nodes)
    original = population.x[nodes][:, columns]
    new = np.broadcast_to(
        perturbation(population, draws), (_PROBES, len(nodes), population.x.shape[1])
    )
    return np.asarray((new[..., columns] != original).any(axis=-1).mean(axis=0))


def check_columns(features: Sequence[int] | None, num_features: int) -> IntArray:
    """Return the feature columns to perturb: all of them, or the chosen ones, ascending."""
    if features is None:
        return np.arange(num_features)
    chosen = np.unique(as_array(features, "features"))
    if chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise InputError(f"features must list at least one feature column, not {features!r}")
    if chosen[0] < 0 or chosen[-1] >= num_features:
        raise InputError(f"features names a column outside 0 to {num_features - 1}: {features!r}")
    return chosen.astype(np.int64)
