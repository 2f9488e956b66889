"""The drawn neighbourhood of a prediction, shared by plots and page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from .colours import class_colours
from .layout import Positions, edges_among, place_nodes, visible_nodes

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["Surroundings"]


@dataclass(frozen=True)
class Surroundings:
    """The nodes to draw, their positions, and their marks and colours.

    Attributes:
        explanation: the explanation whose neighbourhood is drawn.
        most: how many nodes to draw, unless more are needed to connect target and network.
    """

    explanation: Explanation
    most: int

    @cached_property
    def nodes(self) -> IntArray:
        """The numbers of the nodes that are drawn, ascending."""
        return visible_nodes(self.explanation, self.most)

    @property
    def hidden(self) -> int:
        """How many nodes around the prediction are not drawn."""
        return len(self.explanation.around) - len(self.nodes)

    @cached_property
    def edges(self) -> IntArray:
        """Edges ``[2, e]`` among the nodes drawn, by their positions, each once."""
        return edges_among(self.nodes, self.explanation)

    @cached_property
    def at(self) -> Positions:
        """The position of each node, ``[n, 2]``, with more space around marked nodes."""
        return place_nodes(len(self.nodes), self.edges, np.flatnonzero(self.is_marked).tolist())

    @cached_property
    def is_target(self) -> NDArray[np.bool_]:
        """Which nodes the prediction is about."""
        return np.isin(self.nodes, self.explanation.ends)

    @cached_property
    def is_explaining(self) -> NDArray[np.bool_]:
        """Which nodes explain it."""
        ranking = self.explanation.ranking
        return np.isin(self.nodes, ranking.nodes[ranking.selected])

    @property
    def is_marked(self) -> NDArray[np.bool_]:
        """Which nodes are drawn large and with a name."""
        return np.asarray(self.is_target | self.is_explaining)

    @cached_property
    def classes(self) -> dict[int, int]:
        """The predicted class of each node drawn that has one."""
        around, classes = self.explanation.around.tolist(), self.explanation.node_classes.tolist()
        known = dict(zip(around, classes, strict=False))  # empty if no classes are known
        return {node: known[node] for node in self.nodes.tolist() if known.get(node, -1) >= 0}

    @cached_property
    def palette(self) -> dict[int, str]:
        """A colour for each class that has one."""
        return class_colours(self.classes.values(), self.explanation.predicted_class)

    @property
    def has_grey(self) -> bool:
        """Whether nodes are coloured by class, but some have no class or no colour."""
        coloured = sum(number in self.palette for number in self.classes.values())
        return 0 < coloured < len(self.nodes)

    def colour(self, at: int) -> str | None:
        """Return the colour of a node's predicted class, if it has one."""
        return self.palette.get(self.classes.get(int(self.nodes[at]), -1))
