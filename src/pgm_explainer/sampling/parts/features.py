"""Parts made of feature columns, of all nodes or of chosen ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import as_array, as_list
from ...choices import Described
from ...errors import InputError
from ...feature_names import feature_title
from ...graph import Graph
from ...limits import brief
from ...variables import VariableId
from ..population import Population
from .base import Parts
from .cells import CellParts, NodeTitles, feature_blocks

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["Features"]


@dataclass(frozen=True)
class Features(Described):
    """Every feature column is a part, of all nodes together or of each chosen node.

    The option ``features`` of the explainer restricts the columns. If the features have time steps,
    ``[N, T, F]``, a part has one of the F features at all steps. Columns of different node types
    are different parts.

    Attributes:
        nodes: if given, each feature column of each of these nodes, by index or name, is a part,
            with the label ``(node, column name)``. None makes each column of all nodes together a
            part.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import Features, PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [1, 1]])
        >>> model = lambda x: path @ x * [1, 0]  # the second column is ignored
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(model, x, edges, num_layers=1, parts=Features())
        >>> explainer.explain(1).effects[0].node
        'feature 0'
    """

    nodes: tuple[VariableId, ...] | None = None
    name: str = field(default="features", init=False)

    def __post_init__(self) -> None:
        if self.nodes is None:
            return
        named = as_list(self.nodes) if isinstance(self.nodes, (list, tuple)) else None
        if any(isinstance(each, (str, list, tuple)) for each in named or ()):
            names = [tuple(each) if isinstance(each, list) else each for each in named or ()]
            object.__setattr__(self, "nodes", tuple(names))
            return
        chosen = np.unique(as_array(self.nodes, "the nodes of Features"))
        if chosen.size == 0 or chosen.dtype.kind not in "iu" or chosen[0] < 0:
            raise InputError(f"the nodes of Features must be node indices, not {brief(self.nodes)}")
        object.__setattr__(self, "nodes", tuple(chosen.tolist()))

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> Parts:
        features, columns = feature_blocks(population, config)
        known = population.feature_names
        titles = [feature_title(known, feature) for feature in features.tolist()]
        names: Sequence[VariableId] = titles
        rows = np.zeros(graph.num_nodes, dtype=np.int64)
        exists = None
        if self.nodes is None and population.kinds is not None and population.widths:
            rows = population.kinds
            names = [
                f"{kind} {feature_title(known, feature, kind)}"
                for kind, _ in population.widths
                for feature in features.tolist()
            ]
            exists = np.array([features < width for _, width in population.widths]).ravel()
        if self.nodes is not None:
            if graph.num_graphs > 1:
                raise InputError(
                    f"the nodes of Features are those of one graph, but there are "
                    f"{graph.num_graphs} graphs; leave out nodes"
                )
            nodes = sorted({population.node_number(node) for node in self.nodes})
            if nodes[-1] >= graph.num_nodes:
                raise InputError(
                    f"Features has the node {nodes[-1]}, but the graph has nodes 0 to "
                    f"{graph.num_nodes - 1}"
                )
            rows[:] = -1
            rows[nodes] = np.arange(len(nodes))
            names = NodeTitles(nodes, titles)
            if population.kinds is not None and population.widths:
                types = [population.widths[kind][0] for kind in population.kinds[nodes].tolist()]
                names = [
                    (node, feature_title(known, feature, kind))
                    for node, kind in zip(nodes, types, strict=True)
                    for feature in features.tolist()
                ]
        return CellParts(population, config, first, rows, columns, names, exists)
