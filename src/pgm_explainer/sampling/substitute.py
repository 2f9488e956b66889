"""The perturbation of categories, such as the atoms of molecules, in graph tasks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..choices import Described
from .population import Population
from .randomness import Draws

__all__ = ["Substitute"]

_UNLIKE = 0.75


@dataclass(frozen=True)
class Substitute(Described):
    """The features of another node: three times in four, of one whose features are different.

    With ``permute``, most perturbations of the most common category change nothing: 70 % of the
    atoms of a molecule may be carbons. If all of them changed it, the common atoms next to a group
    would seem as important as the rarer ones in it. docs/parts.md compares these.

    A row is taken as a whole, so it occurs in the data even if it consists of several one-hot
    blocks. The edges are kept, so an atom may have more bonds than its valence permits.
    """

    name: str = "substitute"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        which, unlike = np.moveaxis(draws.uniforms("substitute", 2), -1, 0)
        donors = np.where(
            unlike < _UNLIKE,
            population.unlike(draws.nodes, which),
            population.another(draws.nodes, which),
        )
        return np.asarray(population.x[donors])
