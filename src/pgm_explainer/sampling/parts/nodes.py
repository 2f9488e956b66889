"""Nodes as parts, the default."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...choices import Described
from ...graph import Graph
from ..population import Population
from .base import Parts
from .cells import NodeParts

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["Nodes"]


@dataclass(frozen=True)
class Nodes(Described):
    """Every node is a part, as in the paper: its features are replaced."""

    name: str = field(default="nodes", init=False)

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> Parts:
        return NodeParts(population, config)
