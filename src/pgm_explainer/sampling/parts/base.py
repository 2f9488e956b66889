"""Parts of a graph: the units that are perturbed, such as nodes or edges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...arrays import FloatArray, IntArray
from ...choices import Choice
from ...graph import Graph, SampledEdges, Subgraph
from ...predictors import SharedRows
from ...variables import VariableId
from ..population import Population

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["Batch", "PartKind", "Parts"]


@dataclass(frozen=True, eq=False)
class Batch:
    """The inputs of the model in some samples.

    Attributes:
        x: features ``[B, n, F]``; may be modified.
        edges: the edges of each sample; None if all samples have the edges of the subgraph.
    """

    x: FloatArray
    edges: SampledEdges | None = None


class Parts(ABC):
    """The parts of a graph, each with a number.

    The number of a node is its index in the graph. Parts of other kinds are numbered from ``first``
    on, which is at least the number of nodes.

    Attributes:
        first: the number of the first part.
        count: the number of parts.
        changes_features, changes_edges: what a perturbation changes.
        changes_edge_inputs: whether it changes further inputs of edges, such as weights.
        needs_whole_graph: whether the model must be called on the whole graph.
        members: for drawing, the nodes (or pairs of nodes, for edges) of each group, by number.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> type(explainer.parts).__name__  # the parts of this graph
        'NodeParts'
        >>> explainer.parts.count
        3
    """

    first: int
    count: int
    changes_features: bool = False
    changes_edges: bool = False
    changes_edge_inputs: bool = False
    needs_whole_graph: bool = False
    members: Mapping[int, tuple[Any, ...]] = MappingProxyType({})

    @property
    def stop(self) -> int:
        """One more than the largest number of a part."""
        return self.first + self.count

    @abstractmethod
    def labels(self, parts: IntArray) -> list[VariableId]:
        """Return the labels of parts: the number of a node, the pair of an edge, or a name."""

    @abstractmethod
    def reaching(self, nodes: IntArray) -> IntArray:
        """Return the parts that may influence a prediction, ascending.

        The prediction depends only on ``nodes``, its receptive field.
        """

    @abstractmethod
    def within(self, subgraph: Subgraph) -> IntArray:
        """Return the parts with any node or edge in a subgraph, ascending."""

    @abstractmethod
    def perturb(
        self,
        batch: Batch,
        subgraph: Subgraph,
        samples: IntArray,
        parts: IntArray,
        perturbed: NDArray[np.bool_],
    ) -> Batch:
        """Return a batch in which some parts are perturbed.

        Args:
            batch: the inputs of the samples on the subgraph.
            samples: the numbers of the samples, for random numbers.
            parts: some parts, ascending; these must include all parts :meth:`within` the subgraph.
            perturbed: ``[B, parts]``, whether each part is perturbed in each sample.
        """

    def rows(
        self,
        subgraph: Subgraph,
        samples: IntArray,
        parts: IntArray,
        perturbed: NDArray[np.bool_],
    ) -> SharedRows | None:
        """Return the features in some samples, stored without repeated rows.

        The result is None unless every perturbed row is also a row of the unperturbed features.

        Args:
            samples, parts, perturbed: as in :meth:`perturb`.
        """
        return None

    def nodes_in(self, parts: IntArray) -> IntArray:
        """Return the parts that are nodes; their own predictions are recorded too."""
        return np.empty(0, dtype=np.int64)

    def own(self, ends: IntArray) -> IntArray:
        """Return the parts that are the nodes of a target."""
        return np.empty(0, dtype=np.int64)

    def candidates(self, nodes: IntArray, ends: IntArray) -> IntArray:
        """Return the parts that may explain a target, ascending.

        Args:
            nodes: the nodes that may explain the target.
            ends: the nodes of the target.
        """
        return self.reaching(np.union1d(nodes, ends))

    def outermost(self, parts: IntArray, nodes: IntArray) -> IntArray:
        """Return those of ``parts`` that only change messages into other nodes than ``nodes``.

        Args:
            parts: some parts, ascending.
            nodes: the nodes whose incoming messages can reach a target.
        """
        return np.empty(0, dtype=np.int64)

    def changed_share(self, parts: IntArray) -> NDArray[np.float64]:
        """Return the share of perturbations of each part that change anything."""
        return np.ones(len(parts))

    def check(self) -> None:
        """Raise a PerturbationError if no perturbation changes anything."""
        return

    def notes(self, parts: IntArray) -> Sequence[str]:
        """Return warnings about some candidates, for the reader of an explanation."""
        return ()


class PartKind(Choice, Protocol):
    """A kind of parts, such as edges; :meth:`bind` finds the parts of a given graph."""

    @property
    def name(self) -> str: ...

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> Parts:
        """Return the parts of a graph.

        Args:
            graph: the graph.
            population: the features of all nodes.
            config: the options of sampling.
            first: the number of the first part, unless parts are nodes.

        Raises:
            InputError: the graph has no such parts.
        """
        ...
