"""The drawn neighbourhood of a prediction, shared by plots and page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from .colours import class_colours
from .effects import ShownEffect, shown_effects
from .layout import Positions, edges_among, place_nodes, visible_nodes

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["NUM_SHAPES", "DrawnEdge", "DrawnGroup", "Surroundings"]

NUM_SHAPES = 6
"""How many shapes there are for node types; if there are more types, the last ones share one."""


@dataclass(frozen=True)
class DrawnEdge:
    """An edge that is a part, or a member of one.

    Attributes:
        number: the number of the part.
        ends: the positions of its two ends among the nodes drawn.
        effect: its effect, if significant.
        is_explaining: whether the part is in the network.
    """

    number: int
    ends: tuple[int, int]
    effect: ShownEffect | None
    is_explaining: bool


@dataclass(frozen=True)
class DrawnGroup:
    """A group of nodes.

    Attributes:
        number: the number of the part.
        nodes: the positions of its members among the nodes drawn.
        effect: its effect, if significant.
        is_explaining: whether the part is in the network.
    """

    number: int
    nodes: tuple[int, ...]
    effect: ShownEffect | None
    is_explaining: bool


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
    def heads(self) -> NDArray[np.bool_] | None:
        """Whether each edge points to its first and to its second end, ``[2, e]``.

        None if the neighbourhood has the opposite of every edge: it is drawn without arrowheads.
        """
        part = self.explanation.neighbourhood
        if part is None:
            return None
        proper = part.nodes[part.edge_index[:, part.edge_index[0] != part.edge_index[1]]]
        every = set(map(tuple, proper.T.tolist()))
        if all((v, u) in every for u, v in every):
            return None
        drawn = self.nodes[self.edges].T.tolist()
        pointed = [((v, u) in every, (u, v) in every) for u, v in drawn]
        return np.array(pointed, dtype=bool).reshape(-1, 2).T

    @cached_property
    def types(self) -> dict[int, str]:
        """The type of each node drawn, if nodes of several types are drawn."""
        names: Any = self.explanation.names
        found = {node: str(names[node][0]) for node in self.nodes.tolist()} if names.typed else {}
        return found if len(set(found.values())) > 1 else {}

    @cached_property
    def shapes(self) -> dict[str, int]:
        """The number of the shape of each node type, the target's type first, then by name."""
        ends = {self.types[end] for end in self.explanation.ends.tolist() if end in self.types}
        names = sorted(set(self.types.values()), key=lambda name: (name not in ends, name))
        return {name: min(at, NUM_SHAPES - 1) for at, name in enumerate(names)}

    @cached_property
    def at(self) -> Positions:
        """The position of each node, ``[n, 2]``, with more space around marked nodes."""
        spaced = np.flatnonzero(self.is_marked | self.is_touched).tolist()
        return place_nodes(len(self.nodes), self.edges, spaced)

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
    def is_touched(self) -> NDArray[np.bool_]:
        """Which nodes are ends of an edge that has an effect or is in the network."""
        touched = np.zeros(len(self.nodes), dtype=bool)
        for edge in self.part_edges:
            if edge.effect is not None or edge.is_explaining:
                touched[list(edge.ends)] = True
        return touched

    @cached_property
    def effects(self) -> dict[int, ShownEffect]:
        """The significant effects by the numbers of the parts."""
        return {each.number: each for each in shown_effects(self.explanation)}

    @cached_property
    def part_edges(self) -> list[DrawnEdge]:
        """The edges drawn that are parts or members of groups, weakest effects first."""
        explanation = self.explanation
        found: dict[tuple[int, int], DrawnEdge] = {}
        for number, label in explanation.part_labels.items():
            members = explanation.part_members.get(number, (label,))
            for ends in self._positions([each for each in members if isinstance(each, tuple)]):
                if not explanation.has_directed_edges:
                    ends = (min(ends), max(ends))
                found[ends] = DrawnEdge(number, ends, *self._about(number))
        return sorted(found.values(), key=lambda edge: (edge.is_explaining, _strength(edge.effect)))

    @cached_property
    def groups(self) -> list[DrawnGroup]:
        """The groups of nodes of which any is drawn."""
        found = []
        for number, members in self.explanation.part_members.items():
            single = [(node,) for node in members if isinstance(node, int)]
            nodes = tuple(at for (at,) in self._positions(single))
            if nodes:
                found.append(DrawnGroup(number, nodes, *self._about(number)))
        return found

    @property
    def part_marks(self) -> list[DrawnEdge | DrawnGroup]:
        """All edges and groups drawn that are parts."""
        return [*self.part_edges, *self.groups]

    @property
    def undrawn(self) -> int:
        """How many parts with effects have no place in the picture, such as features."""
        drawn = {each.number for each in self.part_marks}
        drawn.update(self.nodes.tolist())
        return sum(number not in drawn for number in self.effects)

    def _positions(self, members: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Yield the positions of tuples of nodes that are all drawn."""
        at = {node: place for place, node in enumerate(self.nodes.tolist())}
        for member in members:
            if all(node in at for node in member):
                yield tuple(at[node] for node in member)

    def _about(self, number: int) -> tuple[ShownEffect | None, bool]:
        return self.effects.get(number), number in self._selected

    @cached_property
    def _selected(self) -> set[int]:
        return set(self.explanation.ranking.selected_nodes.tolist())

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
        ends = set(self.explanation.ends.tolist())
        if self.explanation.part_labels and ends.issuperset(self.classes):
            return False  # only the target was predicted
        coloured = sum(number in self.palette for number in self.classes.values())
        return 0 < coloured < len(self.nodes)

    def shape(self, at: int) -> int:
        """Return the number of the shape of a node: 0, a circle, unless there are node types."""
        return self.shapes.get(self.types.get(int(self.nodes[at]), ""), 0)

    def colour(self, at: int) -> str | None:
        """Return the colour of a node's predicted class, if it has one."""
        return self.palette.get(self.classes.get(int(self.nodes[at]), -1))


def _strength(effect: ShownEffect | None) -> float:
    return -1.0 if effect is None else effect.effect.strength
