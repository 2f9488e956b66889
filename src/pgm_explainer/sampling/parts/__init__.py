"""What is perturbed as a unit: nodes, edges, features, groups, time steps, or several of these."""

from __future__ import annotations

from .base import Batch, PartKind, Parts
from .cells import FeatureCells
from .edges import Edges
from .features import Features
from .groups import Groups
from .mixed import Mixed
from .named import PART_KINDS, as_parts
from .nodes import Nodes
from .time import Time

__all__ = [
    "PART_KINDS",
    "Batch",
    "Edges",
    "FeatureCells",
    "Features",
    "Groups",
    "Mixed",
    "Nodes",
    "PartKind",
    "Parts",
    "Time",
    "as_parts",
]
