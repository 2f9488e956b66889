"""Custom perturbations, and the validation of their outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, as_array, as_label, call_own, check_string
from ..choices import UserDefined
from ..errors import PerturbationError
from ..limits import brief
from .population import Population
from .randomness import Draws

__all__ = ["CheckedPerturbation", "CustomPerturbation"]


@dataclass(frozen=True)
class CheckedPerturbation(UserDefined):
    """A custom object with the attributes and methods of a :class:`Perturbation`."""

    perturbation: Any

    @property
    def name(self) -> str:
        return as_label(self.perturbation.name)

    def __call__(self, population: Population, draws: Draws) -> NDArray[Any]:
        new: NDArray[Any] = self.perturbation(population, draws)
        return new


@dataclass(frozen=True)
class CustomPerturbation(UserDefined):
    """A custom ``function(x, rng) -> new x``, called once per sample.

    ``x`` is a copy of the features ``[N, F]`` or ``[N, T, F]`` of *all* nodes. ``rng`` is a NumPy
    generator of the sample's own, so that the result does not depend on batches or other targets.
    The cost grows with the size of the graph. A :class:`Perturbation` is faster: it computes only
    the features of perturbed nodes.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.sampling import CustomPerturbation
        >>> halved = CustomPerturbation(lambda x, rng: x / 2, name="halved")
        >>> halved.function(np.array([[4.0]]), np.random.default_rng(0)).tolist()
        [[2.0]]
    """

    function: Callable[[FloatArray, np.random.Generator], Any]
    name: str = field(default="custom")

    def __post_init__(self) -> None:
        check_string(self.name, "the name of a perturbation")

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        samples, nodes = np.broadcast_arrays(draws.samples, draws.nodes)
        floats = population.x.dtype.kind == "f"
        dtype = population.x.dtype if floats else np.float64
        new = np.empty((*draws.shape, population.x.shape[1]), dtype=dtype)
        for sample, rng in draws.generators("custom").items():
            here = samples == sample
            new[here] = self._one(population, rng)[nodes[here]]
        return new

    def _one(self, population: Population, rng: np.random.Generator) -> FloatArray:
        original = population.x.reshape(population.shape)
        answer = call_own(
            self.function,
            original.copy(),
            rng,
            what=f"the perturbation {self.name!r}",
            usage="(x [N, F], rng) -> x [N, F]",
            error=PerturbationError,
        )
        new = as_array(answer, f"the output of the perturbation {self.name!r}")
        if new.shape != original.shape:
            raise PerturbationError(
                f"the perturbation {brief(self.name)} returned an array of shape {new.shape} "
                f"for features of shape {original.shape}; it must keep the shape"
            )
        floats = original.dtype if original.dtype.kind == "f" else new.dtype
        return new.reshape(population.x.shape).astype(floats)
