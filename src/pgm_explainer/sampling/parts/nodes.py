"""Nodes as parts, the default."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...arrays import FloatArray, IntArray
from ...choices import Described
from ...graph import Graph, Subgraph
from ...predictors import SharedRows
from ...variables import VariableId
from ..custom_perturbation import CustomPerturbation
from ..donors import Permute
from ..perturbation import changed_share, check_changes, new_features
from ..population import Population
from ..randomness import Draws
from .base import Batch, Parts

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["NodeParts", "Nodes", "replace_features"]

_FLOATS_AT_ONCE = 1 << 19


@dataclass(frozen=True)
class Nodes(Described):
    """Every node is a part, as in the paper: its features are replaced.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explainer.settings.sampling.parts
        Nodes(name='nodes')
        >>> explainer.explain(1).effects.parts
        [0, 2, 1]
    """

    name: str = field(default="nodes", init=False)

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> Parts:
        return NodeParts(population, config)


class NodeParts(Parts):
    """Every node is a part: all its features, or those of the configuration, are replaced."""

    changes_features = True

    def __init__(self, population: Population, config: SamplingConfig) -> None:
        self.first, self.count = 0, len(population.x)
        self._population, self._config = population, config
        self._columns = config.columns(population)

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
        some_columns = len(self._columns) < population.x.shape[1]
        if not isinstance(perturbation, Permute) or some_columns or population.steps is not None:
            return None
        perturbed = _of_nodes(subgraph, parts, perturbed)
        index = np.tile(subgraph.nodes, (len(samples), 1))
        draws = Draws.grid(self._config.seed, samples, subgraph.nodes)
        index[perturbed] = perturbation.donors(population, draws.where(perturbed))
        return SharedRows(population.x, index)

    def changed_share(self, parts: IntArray) -> NDArray[np.float64]:
        population, config = self._population, self._config
        return changed_share(config.perturbation, population, parts, self._columns, config.seed)

    def check(self) -> None:
        population, config = self._population, self._config
        check_changes(config.perturbation, population, self._columns, config.seed)


def _of_nodes(
    subgraph: Subgraph, parts: IntArray, perturbed: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the columns of ``perturbed`` that belong to the nodes of a subgraph."""
    if len(parts) > len(subgraph.nodes):
        return perturbed[:, np.searchsorted(parts, subgraph.nodes)]
    return perturbed


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
    some_columns = None if config.features is None else config.columns(population)
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
        elif some_columns is not None:
            x[rows[some, None], nodes[some, None], some_columns] = new[:, some_columns]
        else:
            x[rows[some], nodes[some]] = new
