"""Parts made of features: rows (nodes), columns, or blocks of the feature matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...arrays import FloatArray, IntArray
from ...graph import Subgraph
from ...predictors import SharedRows
from ...variables import VariableId
from ..donors import Permute
from ..perturbation import (
    CustomPerturbation,
    changed_share,
    changed_shares,
    check_changes,
    new_features,
)
from ..population import Population
from ..randomness import Draws
from .base import Batch, Parts

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["CellParts", "NodeParts", "NodeTitles", "replace_features"]

_FLOATS_AT_ONCE = 1 << 19


def replace_features(
    x: FloatArray,
    population: Population,
    draws: Draws,
    perturbed: NDArray[np.bool_],
    config: SamplingConfig,
    columns: NDArray[np.bool_] | None = None,
) -> None:
    """Replace features of ``x [B, n, F]`` by perturbed ones, in place.

    Args:
        draws: the random numbers of the samples and nodes of ``x``.
        perturbed: ``[B, n]``, the nodes whose features are replaced.
        columns: ``[k, F]``, which columns are replaced, for each of the k true entries of
            ``perturbed``; None for the columns of the configuration.
    """
    features = population.x.shape[1]
    chosen, (rows, nodes) = draws.where(perturbed), np.nonzero(perturbed)
    some_columns = config.columns(population)
    # Computing new features takes several times their memory, so it is done in blocks. A custom
    # function computes the features of a whole sample, so it is called once for each sample.
    whole = isinstance(config.perturbation, CustomPerturbation)
    at_once = len(rows) if whole else _FLOATS_AT_ONCE // features
    for start in range(0, len(rows), max(1, at_once)):
        some = slice(start, start + max(1, at_once))
        new = new_features(config.perturbation, population, chosen.at(some))
        if columns is not None:
            old = x[rows[some], nodes[some]]
            x[rows[some], nodes[some]] = np.where(columns[some], new, old)
        elif len(some_columns) < features:
            x[rows[some, None], nodes[some, None], some_columns] = new[:, some_columns]
        else:
            x[rows[some], nodes[some]] = new


class NodeParts(Parts):
    """Every node is a part: all its features, or those of the configuration, are replaced."""

    changes_features = True

    def __init__(self, population: Population, config: SamplingConfig) -> None:
        self.first, self.count = 0, len(population.x)
        self._population, self._config = population, config

    def labels(self, parts: IntArray) -> list[VariableId]:
        return parts.tolist()

    def reaching(self, nodes: IntArray) -> IntArray:
        return nodes

    def within(self, subgraph: Subgraph) -> IntArray:
        return subgraph.nodes

    def nodes_in(self, parts: IntArray) -> IntArray:
        return parts[parts < self.count]

    def own(self, ends: IntArray) -> IntArray:
        return ends

    def candidates(self, nodes: IntArray, ends: IntArray) -> IntArray:
        return nodes

    def perturb(
        self,
        batch: Batch,
        subgraph: Subgraph,
        samples: IntArray,
        parts: IntArray,
        perturbed: NDArray[np.bool_],
    ) -> Batch:
        perturbed = _of_nodes(subgraph, parts, perturbed)
        draws = Draws.grid(self._config.seed, samples, subgraph.nodes)
        replace_features(batch.x, self._population, draws, perturbed, self._config)
        return batch

    def rows(
        self,
        subgraph: Subgraph,
        samples: IntArray,
        parts: IntArray,
        perturbed: NDArray[np.bool_],
    ) -> SharedRows | None:
        population, perturbation = self._population, self._config.perturbation
        some_columns = len(self._config.columns(population)) < population.x.shape[1]
        if not isinstance(perturbation, Permute) or some_columns or population.steps is not None:
            return None
        perturbed = _of_nodes(subgraph, parts, perturbed)
        index = np.tile(subgraph.nodes, (len(samples), 1))
        draws = Draws.grid(self._config.seed, samples, subgraph.nodes)
        index[perturbed] = perturbation.donors(population, draws.where(perturbed))
        return SharedRows(population.x, index)

    def changed_share(self, parts: IntArray) -> NDArray[np.float64]:
        population, config = self._population, self._config
        columns = config.columns(population)
        return changed_share(config.perturbation, population, parts, columns, config.seed)

    def check(self) -> None:
        columns = self._config.columns(self._population)
        check_changes(self._config.perturbation, self._population, columns, self._config.seed)


def _of_nodes(
    subgraph: Subgraph, parts: IntArray, perturbed: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which nodes of a subgraph are perturbed, given this for more parts."""
    if len(parts) > len(subgraph.nodes):
        return perturbed[:, np.searchsorted(parts, subgraph.nodes)]
    return perturbed


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


_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_PROBED_NODES = 64
"""The maximum number of nodes of a part that are used to estimate how often it really changes."""


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
