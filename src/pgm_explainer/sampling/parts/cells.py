"""Parts made of features: columns of the feature matrix, blocks of it, or single entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...arrays import IntArray
from ...graph import Subgraph
from ...variables import VariableId
from ..perturbation import changed_shares, check_changes
from ..population import Population
from ..randomness import Draws
from .base import Batch, Parts
from .nodes import replace_features

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["CellParts", "FeatureCells", "NodeTitles", "feature_blocks"]

_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_PROBED_NODES = 64
"""The maximum number of nodes of a part that are perturbed to estimate how often it changes."""
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


@dataclass(frozen=True)
class NodeTitles(Sequence[VariableId]):
    """The labels ``(node, title)`` of all pairs of a node and a title, created on access."""

    nodes: Sequence[int]
    titles: Sequence[str]

    def __len__(self) -> int:
        return len(self.nodes) * len(self.titles)

    def __getitem__(self, at: Any) -> Any:
        node, title = divmod(at, len(self.titles))
        return (self.nodes[node], self.titles[title])


class CellParts(Parts):
    """Blocks of the feature matrix: a part has some rows (nodes) and some columns (features).

    Args:
        rows: the row block of each node, as a number; -1 for nodes that are never perturbed.
        columns: the column block of each feature, as a number; -1 for features that never are.
        names: the label of each part. The part of row block i and column block j is at
            ``i * (number of column blocks) + j``.
        exists: which parts have any feature; None for all. Some may have none, because node types
            can have different numbers of features.
    """

    changes_features = True

    def __init__(
        self,
        population: Population,
        config: SamplingConfig,
        first: int,
        rows: IntArray,
        columns: IntArray,
        names: Sequence[VariableId],
        exists: NDArray[np.bool_] | None = None,
    ) -> None:
        self.first, self.count = first, len(names)
        # A part has its own columns, so the option ``features`` is not applied a second time.
        self._population, self._config = population, replace(config, features=None)
        self._rows, self._columns, self._names = rows, columns, names
        self._exists = np.ones(len(names), dtype=bool) if exists is None else exists
        self._width = int(columns.max(initial=-1)) + 1

    def labels(self, parts: IntArray) -> list[VariableId]:
        return [self._names[part] for part in (parts - self.first).tolist()]

    def reaching(self, nodes: IntArray) -> IntArray:
        blocks = np.unique(self._rows[nodes])
        blocks = blocks[blocks >= 0]
        return (self.first + blocks[:, None] * self._width + np.arange(self._width)).ravel()

    def candidates(self, nodes: IntArray, ends: IntArray) -> IntArray:
        parts = super().candidates(nodes, ends)
        return parts[self._exists[parts - self.first]]

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
        rows = self._rows[subgraph.nodes]
        present = np.flatnonzero(rows >= 0)
        first = np.searchsorted(parts, self.first + rows[present] * self._width)
        at = first[:, None] + np.arange(self._width)
        blocks = perturbed[:, at]  # [B, nodes, column blocks]
        any_block = np.zeros((len(samples), len(rows)), dtype=bool)
        any_block[:, present] = blocks.any(axis=2)
        which, nodes = np.nonzero(any_block)
        position = np.searchsorted(present, nodes)
        cells = blocks[which, position][:, self._columns] & (self._columns >= 0)
        draws = Draws.grid(self._config.seed, samples, subgraph.nodes)
        replace_features(batch.x, self._population, draws, any_block, self._config, cells)
        return batch

    def changed_share(self, parts: IntArray) -> NDArray[np.float64]:
        if not len(parts):
            return np.empty(0)
        blocks, columns = np.divmod(parts - self.first, self._width)
        some, of_part = np.unique(blocks, return_inverse=True)
        order = np.argsort(self._rows, kind="stable")
        first, stop = (np.searchsorted(self._rows[order], some, side) for side in _SIDES)
        counts = np.minimum(stop - first, _PROBED_NODES)
        starts = np.cumsum(counts) - counts
        nodes = order[np.arange(counts.sum()) + np.repeat(first - starts, counts)]
        population, config = self._population, self._config
        share = changed_shares(config.perturbation, population, nodes, self._columns, config.seed)
        # The nodes of a part are perturbed together, so a change of any node counts.
        kept = np.multiply.reduceat(1 - share, starts, axis=0)
        return np.asarray(1 - kept[of_part, columns])

    def check(self) -> None:
        nodes, columns = np.flatnonzero(self._rows >= 0), np.flatnonzero(self._columns >= 0)
        config = self._config
        check_changes(config.perturbation, self._population, columns, config.seed, nodes)


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
