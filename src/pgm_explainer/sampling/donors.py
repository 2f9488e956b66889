"""Perturbations that give a node the features of another node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from ..choices import Described
from .population import Population
from .randomness import Draws

__all__ = ["Permute", "Substitute"]


@dataclass(frozen=True)
class Permute(Described):
    """The features of another node, drawn at random, as in permutation importance.

    The new features occur in the data, and rare values stay rare. The other node may have the same
    features; then nothing changes.
    """

    name: str = "permute"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        return np.asarray(population.x[self.donors(population, draws)])

    def donors(self, population: Population, draws: Draws) -> IntArray:
        """Return the nodes whose features are taken."""
        return population.another(draws.nodes, draws.uniforms("donor", 1)[..., 0])


@dataclass(frozen=True)
class Substitute(Permute):
    """The features of a random node; common features are drawn less often than they occur.

    With ``permute``, most perturbations of the most common category change nothing: for example,
    70% of the atoms of a molecule may be carbons. But if all categories were equally likely, most
    new atoms would be of types that hardly occur in molecules. So features that ``c`` nodes have
    are drawn with a probability proportional to ``c**0.25``. They may be the node's own; then
    nothing changes. docs/parts.md has the comparison.

    A row is taken as a whole, so it occurs in the data even if it consists of several one-hot
    blocks. The edges are kept, so an atom may have more bonds than its valence permits.
    """

    name: str = "substitute"

    def donors(self, population: Population, draws: Draws) -> IntArray:
        return population.tempered(draws.nodes, draws.uniforms("substitute", 1)[..., 0])
