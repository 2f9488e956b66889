"""Single features of single nodes as parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...arrays import IntArray
from ...graph import Subgraph
from ...variables import VariableId
from ..perturbation import changed_shares
from ..population import Population
from ..randomness import Draws
from .base import Batch, Parts
from .cells import replace_features

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["FeatureCells", "feature_blocks"]

_PROBES = 200
_RARELY = 0.05
"""A feature that a perturbation changes less often than this cannot be tested: with 1,000 samples
and a probability of 0.1, its value would change in fewer than five of them."""


def feature_blocks(population: Population, config: SamplingConfig) -> tuple[IntArray, IntArray]:
    """Return the perturbed features, and for each column the position of its feature among them.

    The position is -1 for a column that is not perturbed. A feature with several time steps has
    several columns.
    """
    columns = np.full(population.x.shape[1], -1, dtype=np.int64)
    chosen = config.columns(population)
    features, columns[chosen] = np.unique(chosen % population.width, return_inverse=True)
    return features, columns


class FeatureCells(Parts):
    """Each feature of each of some nodes is a part, at all time steps if there are several.

    Only features that the perturbation can change are parts; the others are left as they are. The
    number of a part depends on its node and feature only. So its random numbers, and the effects on
    a prediction, do not depend on which other nodes have parts.

    Args:
        first: the number of the first feature of node 0.
        nodes: the nodes, ascending.

    Attributes:
        numbers: the numbers of all parts, ascending.
    """

    changes_features = True

    def __init__(
        self, population: Population, config: SamplingConfig, first: int, nodes: IntArray
    ) -> None:
        self._population, self._config = population, config
        self._width = population.width
        self.first, self.count = first, len(population.x) * self._width
        features, columns = feature_blocks(population, config)
        shares = changed_shares(
            config.perturbation, population, nodes, columns, config.seed, _PROBES
        )
        # Node types can have different numbers of features.
        exists = features < population.widths_of(nodes)[:, None]
        self._nodes, self._num_features = nodes, exists.sum(axis=1)
        at, feature = np.nonzero(exists & (shares >= _RARELY))
        self.numbers: IntArray = first + nodes[at] * self._width + features[feature]

    def count_features(self, nodes: IntArray) -> int:
        """Return how many features some of the nodes have, whether they can change or not."""
        return int(self._num_features[np.isin(self._nodes, nodes)].sum())

    def split(self, parts: IntArray) -> tuple[IntArray, IntArray]:
        """Return the node and the feature of each part."""
        node, feature = np.divmod(parts - self.first, self._width)
        return node, feature

    def labels(self, parts: IntArray) -> list[VariableId]:
        pairs = zip(*(each.tolist() for each in self.split(parts)), strict=True)
        return [(node, f"feature {feature}") for node, feature in pairs]

    def reaching(self, nodes: IntArray) -> IntArray:
        return self.numbers[np.isin(self.split(self.numbers)[0], nodes)]

    def within(self, subgraph: Subgraph) -> IntArray:
        return self.reaching(subgraph.nodes)

    def perturb(
        self,
        batch: Batch,
        subgraph: Subgraph,
        samples: IntArray,
        parts: IntArray,
        perturbed: NDArray[np.bool_],
    ) -> Batch:
        sample, at = np.nonzero(perturbed)
        node, feature = self.split(parts[at])
        place = subgraph.positions(node)
        touched = np.zeros((len(samples), len(subgraph.nodes)), dtype=bool)
        touched[sample, place] = True
        # The rows of ``columns`` are the touched nodes, in the order of samples.
        row = np.cumsum(touched).reshape(touched.shape)[sample, place] - 1
        steps = self._population.steps or 1
        columns = np.zeros((int(touched.sum()), steps, self._width), dtype=bool)
        columns[row, :, feature] = True
        draws = Draws.grid(self._config.seed, samples, subgraph.nodes)
        by_row = columns.reshape(len(columns), steps * self._width)
        replace_features(batch.x, self._population, draws, touched, self._config, by_row)
        return batch
